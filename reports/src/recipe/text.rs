//! The environment in plain words, for a ticket or a wiki. Knows which lines are worth telling; every value from a
//! bundle stays on its line.

use std::fmt::Write;

use case::{Environment, one_line};

use super::Recipe;
use crate::simulated::{BANNER, driver};

/// Width of the names in front.
const NAMES: usize = 14;

/// The text.
pub(super) fn render(recipe: &Recipe<'_>) -> String {
    let mut page = Page(String::new());
    if recipe.bundle.is_some_and(super::Bundle::is_simulated) {
        page.0.push_str(BANNER);
        page.0.push('\n');
    }
    page.line("library set", &format!("cuDNN {}, for CUDA {}", recipe.set, recipe.cuda));
    page.line("needs", &format!("x86-64 Linux, glibc 2.28 or newer, {}", recipe.driver_words()));
    for wheel in &recipe.wheels {
        let name = if wheel.is_needed { "wheel" } else { "asked for" };
        page.line(name, &format!("{} {}", wheel.package, wheel.version));
        page.line("", &format!("{}, {} bytes", wheel.file, wheel.bytes));
        page.line("", &format!("sha256 {}", wheel.sha256));
        page.line("", &format!("libraries in {}", wheel.libraries));
    }
    if recipe.needed().next().is_some() {
        // Without a file that holds hashes pip checks none; the requirements of `--kind pip` have them.
        let wheels: Vec<String> =
            recipe.needed().map(|wheel| format!("{}=={}", wheel.package, wheel.version)).collect();
        page.line("install", &format!("python3 -m pip install --no-deps {}", wheels.join(" ")));
        page.line("", "--kind pip writes the same with hashes");
    }
    for note in &recipe.notes {
        page.line("note", note);
    }
    if let Some(bundle) = recipe.bundle {
        page.line("failure", &recipe.title(bundle));
        page.line("case", &bundle.case.to_string());
        environment(&mut page, &bundle.environment);
    }
    page.line("written by", &format!("convict {}", recipe.tool_version));
    page.0
}

/// The machine that the bundle is of.
fn environment(page: &mut Page, environment: &Environment) {
    page.line("GPU", &format!("{}, sm_{}", environment.gpu, environment.compute_capability));
    let of_driver = environment.driver_cuda_text();
    page.line("driver", &format!("{}, for CUDA {of_driver} and older", driver(environment)));
    page.line("CUDA runtime", &format!("{}, by cuDNN's own word", environment.cudart_text()));
    page.line("found", &environment.found);
    if !environment.conflict.is_empty() {
        page.line("MIXED", &environment.conflict);
    }
    for file in &environment.files {
        page.line("file", &file.place);
        page.line("", &format!("{}, {} bytes", file.name, file.bytes));
        for (name, value) in
            [("version", &file.version), ("sha256", &file.sha256), ("build-id", &file.build_id)]
        {
            if !value.is_empty() {
                page.line("", &format!("{name} {value}"));
            }
        }
    }
}

/// Most characters of a value: a bundle's file may hold megabytes in one.
const VALUE_MAX: usize = 2000;

/// Lines of a name and a value.
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: &str) {
        let line = one_line(value);
        let end = line.char_indices().nth(VALUE_MAX).map(|(end, _)| end);
        let (told, more) = end.map_or((&*line, ""), |end| (&line[..end], "..."));
        // Writing into a String cannot fail.
        let _ = writeln!(self.0, "{}", format!("{name:NAMES$}{told}{more}").trim_end());
    }
}
