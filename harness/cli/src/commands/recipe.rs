//! `convict recipe`: from a version, a folder or a bundle to the wheels that hold its libraries. The forms are
//! `reports`' matter; which wheels there are is that of `wheels`.

use std::path::Path;

use case::{Environment, LibraryConfiguration};
use reports::Bundle;
use reports::recipe::{Form, Pinned, Recipe as Text, RecipeError};
use wheels::{Name, Part, Wheel, WheelError};

use crate::args::{Recipe, RecipeKind};
use crate::failure::{CLEAN, Failure};
use crate::screen::outln;
use crate::sets::{WHEEL, library_in, store};
use crate::side::Side;

/// Files that only a bundle's folder holds.
const OF_BUNDLE: [&str; 2] = [reports::VERDICT, reports::SUMS];

/// Writes the recipe.
pub(crate) fn run(arguments: &Recipe) -> Result<u8, Failure> {
    let out = arguments.out.as_deref().map(|path| Side::claim("--out", path, [])).transpose()?;
    let target = &arguments.target;
    let folder = Path::new(target);
    let bundle = if OF_BUNDLE.iter().any(|name| folder.join(name).exists()) {
        Some(
            reports::read(folder)
                .map_err(|error| Failure::Usage(format!("{}: {error}", folder.display())))?,
        )
    } else {
        None
    };
    let recipe = match &bundle {
        Some(bundle) => of_bundle(bundle),
        None if folder.is_dir() => of_folder(folder)?,
        None => of_name(target)?,
    };
    let form = form(arguments.kind);
    if form != Form::Text && bundle.as_ref().is_some_and(Bundle::is_simulated) {
        return Err(Failure::Unjudged(format!(
            "{}: was made on the simulator, whose libraries nobody can install; --kind text tells what is known",
            folder.display()
        )));
    }
    let text = recipe.render(form).map_err(|error| match error {
        RecipeError::NoWheel(_) => Failure::Unjudged(error.to_string()),
        RecipeError::Value(_) => Failure::Ours(error.to_string()),
    })?;
    match &out {
        None => outln!("{}", text.trim_end()),
        Some(out) => out.put(&text)?,
    }
    Ok(CLEAN)
}

fn form(kind: RecipeKind) -> Form {
    match kind {
        RecipeKind::Docker => Form::Docker,
        RecipeKind::Conda => Form::Conda,
        RecipeKind::Pip => Form::Pip,
        RecipeKind::Text => Form::Text,
    }
}

/// A version as it is published.
fn of_name(text: &str) -> Result<Text<'static>, Failure> {
    let name = text.strip_prefix(WHEEL).unwrap_or(text);
    let name = Name::parse(name).map_err(|_| {
        Failure::Usage(format!(
            "{}: is neither a published version, such as 9.19.0 or 9.27-jit, nor a folder of libraries, nor a bundle",
            case::one_line(text)
        ))
    })?;
    let wheel = wheels::find(&name, store::usual_cuda()).map_err(store::failure)?;
    Ok(of_wheel(wheel, Vec::new()))
}

/// What is installed somewhere.
fn of_folder(folder: &Path) -> Result<Text<'static>, Failure> {
    let folder = library_in(folder)?;
    let installed = wheels::installed(&folder, store::usual_cuda()).map_err(store::failure)?;
    let mut notes = Vec::new();
    if !installed.is_of_wheel {
        notes.push(
            "the folder is no wheel's; the wheel is the newest of the same release, and its files may be other ones"
                .to_owned(),
        );
    }
    if !installed.altered.is_empty() {
        notes.push(format!(
            "the folder does not hold what its wheel holds, which is what is listed; {} differ or are missing",
            installed.altered.join(", ")
        ));
    }
    Ok(of_wheel(installed.wheel, notes))
}

fn of_wheel(wheel: &'static Wheel, notes: Vec<String>) -> Text<'static> {
    let configuration = if wheel.part == Part::Jit { "jit" } else { "full" };
    Text {
        set: format!("{}-{configuration}", wheel.version.release()),
        cuda: wheel.cuda,
        oldest_driver: wheels::oldest_driver(wheel.cuda),
        wheels: pinned(wheel),
        notes,
        bundle: None,
        tool_version: env!("CARGO_PKG_VERSION"),
    }
}

/// The wheel, and what it needs or asks for.
fn pinned(wheel: &'static Wheel) -> Vec<Pinned> {
    let needed = wheels::companions(wheel, false);
    let pin = |one: &Wheel, is_needed: bool| Pinned {
        package: one.package.clone(),
        version: one.version.to_string(),
        file: one.file.clone(),
        bytes: one.bytes,
        sha256: one.sha256.clone(),
        libraries: one.libraries().to_owned(),
        is_needed,
    };
    let others = wheels::dependencies(wheel).into_iter().map(|other| pin(other, needed.contains(&other)));
    [pin(wheel, true)].into_iter().chain(others).collect()
}

/// What a bundle was seen with. Where no such wheel is known, what is known of the libraries can still be told.
fn of_bundle(bundle: &Bundle) -> Text<'_> {
    let environment = &bundle.environment;
    let mut notes = Vec::new();
    let told = u32::try_from(environment.cudart / 1000).ok().filter(|major| *major > 0);
    let cuda = told.unwrap_or_else(store::usual_cuda);
    if told.is_none() {
        notes.push(format!("the bundle does not tell its CUDA; {cuda} is what this machine would take"));
    }
    let found = if bundle.is_simulated() { None } else { Some(wheel_of(bundle, cuda)) };
    let wheel = match found {
        None => None,
        Some(Ok(wheel)) => Some(wheel),
        Some(Err(error)) => {
            notes.push(error.to_string());
            None
        }
    };
    if let Some(wheel) = wheel {
        differences(&mut notes, bundle, wheel);
    }
    Text {
        set: environment.set(),
        cuda,
        oldest_driver: wheels::oldest_driver(cuda),
        wheels: wheel.map(pinned).unwrap_or_default(),
        notes,
        bundle: Some(bundle),
        tool_version: env!("CARGO_PKG_VERSION"),
    }
}

fn wheel_of(bundle: &Bundle, cuda: u32) -> Result<&'static Wheel, WheelError> {
    let text = bundle.cudnn_version();
    let version = text.parse().map_err(|()| WheelError::NoName { text })?;
    let part = match bundle.environment.configuration {
        Some(LibraryConfiguration::GraphJitOnly) => Part::Jit,
        Some(LibraryConfiguration::Full) | None => Part::Full,
    };
    wheels::find(&Name { version, part, cuda: Some(cuda) }, cuda)
}

/// Says where the wheels are not what the bundle was seen with.
fn differences(notes: &mut Vec<String>, bundle: &Bundle, wheel: &'static Wheel) {
    let environment = &bundle.environment;
    if !environment.conflict.is_empty() {
        notes.push("the libraries were a mixture, which no wheels recreate".to_owned());
    }
    let of_wheel = |name: &str| {
        let mut files = environment.files.iter().filter(|file| file.name.starts_with(name));
        files.all(|file| file.place.starts_with("wheel:"))
    };
    if !of_wheel("libcudnn") {
        notes.push("cuDNN was not loaded from a wheel; the wheel is one of the same version".to_owned());
    }
    if bundle.cudnn_version() == environment.cudnn_text() {
        notes
            .push("the fourth number of cuDNN's version was not seen; the newest wheel is listed".to_owned());
    }
    for (file, part) in [("libcublasLt.so", Part::CublasLt), ("libnvrtc-builtins.so", Part::Nvrtc)] {
        let listed = wheels::companions(wheel, false).into_iter().find(|companion| companion.part == part);
        let seen = seen_version(environment, file);
        if let (Some(listed), Some(seen)) = (listed, seen)
            && !seen.parse().is_ok_and(|seen: wheels::Version| seen.begins(&listed.version))
        {
            notes.push(format!(
                "{file} was of version {seen}; {} {} is listed",
                listed.package, listed.version
            ));
        }
    }
}

/// What a library's file name tells.
fn seen_version<'a>(environment: &'a Environment, file: &str) -> Option<&'a str> {
    let found = environment.files.iter().find(|mapped| mapped.name.starts_with(file))?;
    Some(found.version.as_str()).filter(|version| !version.is_empty())
}
