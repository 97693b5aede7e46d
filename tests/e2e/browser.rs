//! The page of a bundle in a real browser, headless: it loads nothing, complains of nothing, fits a phone,
//! and shows text from outside as text. Screenshots are left in `target/screenshots`. Says that it is skipped
//! where there is no Chromium.

mod devtools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::bundle::{any_bundle, copy_folder};
use crate::convict::{convict, fresh_folder, root, skipped};
use devtools::Browser;

/// Names under which Chromium goes.
const NAMES: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];

/// A screen: its name, width and height in CSS pixels, and whether the reader's system is dark.
const SCREENS: [(&str, u32, u32, bool); 4] = [
    ("phone", 390, 844, false),
    ("phone-dark", 390, 844, true),
    ("desktop", 1280, 900, false),
    ("desktop-dark", 1280, 900, true),
];

/// The browser that `CHROMIUM` names, else the first on the search path.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

/// A browser with a profile of that name, or a word that there is none.
fn browser(profile: &str) -> Option<Browser> {
    let Some(program) = chromium() else {
        skipped("no Chromium here, so no page is looked at; CHROMIUM names one");
        return None;
    };
    Some(Browser::start(&program, &fresh_folder(&format!("browser-{profile}"))))
}

fn screenshots() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder in the target folder");
    let folder = target.join("screenshots");
    fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}

#[test]
fn the_page_of_a_finding_loads_nothing_complains_of_nothing_and_fits_every_screen() {
    let Some(mut browser) = browser("screens") else { return };
    let page = any_bundle().join(reports::PAGE);
    for (name, width, height, dark) in SCREENS {
        let visit = browser.visit(&page, (width, height), dark);
        assert_eq!(visit.complaints, Vec::<String>::new(), "{name}");
        assert_eq!(visit.requests, Vec::<String>::new(), "{name}");
        assert_eq!(browser.evaluate("document.scripts.length"), json!(0), "{name}");
        let wide = browser.evaluate("document.documentElement.scrollWidth");
        assert!(
            wide.as_u64().is_some_and(|wide| wide <= u64::from(width)),
            "{name}: the page is {wide} wide"
        );
        let sections = browser.evaluate("document.querySelectorAll('main section > h2').length");
        let links = browser.evaluate(
            "[...document.querySelectorAll('nav a')].every(link => document.querySelector(link.hash))",
        );
        assert!(
            sections.as_u64() >= Some(14) && links == json!(true),
            "{name}: {sections} sections, links {links}"
        );
        fs::write(screenshots().join(format!("report-{name}.png")), browser.screenshot())
            .expect("a screenshot");
    }
}

#[test]
fn a_printed_page_shows_what_is_folded_on_the_screen() {
    let Some(mut browser) = browser("print") else { return };
    browser.visit(&any_bundle().join(reports::PAGE), (800, 1100), false);
    let height =
        "[...document.querySelectorAll('details')].map(each => each.offsetHeight).reduce((a, b) => a + b, 0)";
    let on_screen = browser.evaluate(height).as_f64().expect("a height");
    browser.emulate_print();
    let printed = browser.evaluate(height).as_f64().expect("a height");
    assert!(printed > 2.0 * on_screen, "folded parts take {on_screen} on the screen and {printed} in print");
}

#[test]
fn a_script_in_a_log_is_text_on_the_page() {
    let Some(mut browser) = browser("attack") else { return };
    let folder = fresh_folder("browser-script").join("bundle");
    copy_folder(&any_bundle(), &folder);
    let attack = "</code></pre><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">\n";
    replace(&folder, reports::LIBRARY_LOG, attack);
    let run = convict([Path::new("report"), &folder]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let visit = browser.visit(&folder.join(reports::PAGE), (390, 844), false);
    assert_eq!((visit.complaints, visit.requests), (Vec::new(), Vec::new()));
    assert_eq!(browser.evaluate("document.querySelectorAll('script, img').length"), json!(0));
    assert_eq!(browser.evaluate("document.title.startsWith('[SIMULATED] [cuDNN ')"), json!(true));
    let shown =
        browser.evaluate("document.body.innerText.includes(\"<script>document.title = 'owned'</script>\")");
    assert_eq!(shown, json!(true));
}

/// Gives a file of a bundle another content and the hash of it.
fn replace(bundle: &Path, name: &str, text: &str) {
    let line = || {
        let output = Command::new("sha256sum").arg(name).current_dir(bundle).output().expect("sha256sum");
        String::from_utf8(output.stdout).expect("a hash and a name")
    };
    let old = line();
    fs::write(bundle.join(name), text).expect("its new content");
    let sums = fs::read_to_string(bundle.join(reports::SUMS)).expect("hashes");
    assert!(sums.contains(&old), "{name} is not listed");
    fs::write(bundle.join(reports::SUMS), sums.replace(&old, &line())).expect("hashes");
}

#[test]
fn ci_has_a_browser_to_look_with() {
    let text = fs::read_to_string(root().join(".ci/run")).expect(".ci/run");
    assert!(text.contains("chromium"), "CI would skip every look at a page");
}
