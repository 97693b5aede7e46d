//! `convict sets`: the published wheels and which of them are in the cache. Fetches on request; opens no library.

use comfy_table::{Table, presets};
use serde_json::json;
use wheels::{Cache, Name, Part, Wheel};

use crate::args::Sets;
use crate::failure::{CLEAN, Failure};
use crate::screen::{errln, outln};
use crate::sets::{WHEEL, store};

/// Lists the wheels, or fetches one.
pub(crate) fn run(arguments: &Sets) -> Result<u8, Failure> {
    let cache = store::cache()?;
    let Some(name) = &arguments.fetch else {
        let is_set = |wheel: &&Wheel| match wheel.part {
            Part::Full | Part::Jit => true,
            Part::CublasLt | Part::Nvrtc => cache.holds(wheel),
        };
        let shown = wheels::published().iter().filter(is_set);
        let mut shown = shown.filter(|wheel| !arguments.cached || cache.holds(wheel)).peekable();
        if shown.peek().is_none() {
            errln!("convict: no wheel is cached yet; convict sets --fetch NAME fetches one");
        }
        list(&cache, shown, arguments.json);
        return Ok(CLEAN);
    };
    let name = Name::parse(name.strip_prefix(WHEEL).unwrap_or(name)).map_err(store::failure)?;
    let wheel = wheels::find(&name, store::usual_cuda()).map_err(store::failure)?;
    let mut all = vec![wheel];
    all.extend(wheels::companions(wheel, arguments.plans_only));
    for wheel in &all {
        store::fetch(&cache, wheel)?;
    }
    list(&cache, all.into_iter(), arguments.json);
    Ok(CLEAN)
}

fn list<'a>(cache: &Cache, wheels: impl Iterator<Item = &'a Wheel>, as_json: bool) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["version", "CUDA", "what", "MB", "cached", "name"]);
    for wheel in wheels {
        let cached = cache.holds(wheel);
        if as_json {
            let line = json!({
                "name": wheel.name(), "package": wheel.package, "version": wheel.version.to_string(),
                "cuda": wheel.cuda, "what": wheel.part.name(), "file": wheel.file, "bytes": wheel.bytes,
                "sha256": wheel.sha256, "cached": cached,
                "libraries": cached.then(|| cache.libraries(wheel)),
            });
            outln!("{line}");
            continue;
        }
        table.add_row([
            wheel.version.to_string(),
            wheel.cuda.to_string(),
            wheel.part.name().to_owned(),
            wheel.bytes.div_ceil(1_000_000).to_string(),
            if cached { "yes" } else { "no" }.to_owned(),
            wheel.name(),
        ]);
    }
    if !as_json {
        outln!("{table}\ncache: {}", cache.root().display());
    }
}
