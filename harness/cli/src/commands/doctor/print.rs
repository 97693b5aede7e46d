//! A ledger as lines for people: layer by layer, then what is wrong and what mends it. Knows words; judges nothing.

use std::fmt::Write;

use doctor::{
    Copy, Device, Devices, Finding, KnownBy, Ledger, Library, Package, Pin, Program, Seen, Severity,
};

/// Digits of a build-id that tell it apart.
const BUILD_ID_DIGITS: usize = 12;

/// Width of the first column.
const LABEL: usize = 8;

/// Every line of the ledger.
pub(super) fn lines(ledger: &Ledger) -> Vec<String> {
    let mut lines = Vec::new();
    machine(ledger, &mut lines);
    for copy in &ledger.copies {
        lines.push(String::new());
        lines.extend(copy_lines(copy));
    }
    if ledger.python.is_some() || !ledger.packages.is_empty() {
        lines.push(String::new());
    }
    if let Some(python) = &ledger.python {
        lines.push(labelled("python", &format!("{} {}", python.executable, python.version)));
        lines
            .extend(python.trouble.as_ref().map(|why| more(&format!("it did not answer to its end: {why}"))));
    }
    let told = ledger.packages.iter().filter(|package| package.is_told());
    lines.extend(told.map(|package| labelled("package", &package_words(package))));
    for program in &ledger.programs {
        lines.push(String::new());
        lines.extend(program_lines(program));
    }
    if !ledger.variables.is_empty() || !ledger.preloads.is_empty() || !ledger.trouble.is_empty() {
        lines.push(String::new());
    }
    lines.extend(
        ledger.variables.iter().map(|set| labelled("variable", &variable_words(&set.name, &set.value))),
    );
    lines.extend(ledger.preloads.iter().map(|(name, by)| labelled("preload", &format!("{name} by {by}"))));
    for (kind, trouble) in &ledger.trouble {
        lines.push(labelled("not read", &format!("{} {kind}", trouble.count)));
        lines.extend(trouble.told.iter().map(|told| more(told)));
    }
    for finding in &ledger.findings {
        lines.push(String::new());
        lines.extend(finding_lines(finding));
    }
    lines.push(String::new());
    lines.extend(unseen(ledger).iter().map(|words| labelled("not seen", words)));
    lines.push(summary(ledger));
    lines
}

/// What was asked for and could not be looked at, each with a next step.
fn unseen(ledger: &Ledger) -> Vec<String> {
    let mut words = Vec::new();
    let told = |kind: &str| ledger.trouble.get(kind).map(|trouble| trouble.told.clone()).unwrap_or_default();
    let another = "pgrep -af python lists what runs; name one by --pid";
    words.extend(told("processes that can't be looked at").iter().map(|why| format!("{why}; {another}")));
    words.extend(told("programs that can't be read"));
    let python = ledger.python.as_ref().and_then(|python| Some((python, python.trouble.as_ref()?)));
    words.extend(python.map(|(python, why)| format!("{} to its end: {why}", python.executable)));
    if !ledger.has_cudnn() {
        words.push(
            "a cuDNN: there is none in the folders that were searched; name what has one by --python, --exe or --pid, or \
             its folder in LD_LIBRARY_PATH"
                .to_owned(),
        );
    }
    words
}

/// Most bytes of a variable that a line shows; the ledger as JSON has all of it.
const VALUE_MAX: usize = 160;

fn variable_words(name: &str, value: &str) -> String {
    if name == "NVIDIA_REQUIRE_CUDA" {
        return requirement_words(name, value);
    }
    if value.len() <= VALUE_MAX {
        return format!("{name}={value}");
    }
    let end = (0..=VALUE_MAX).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
    format!("{name}={}... ({} bytes; --json has all)", &value[..end], value.len())
}

/// What an image asks of its host's driver: alternatives with blanks between them, the first of which is the CUDA that
/// it was built for, each a list of conditions.
/// Source: documentation of the NVIDIA container toolkit, "Constraints".
fn requirement_words(name: &str, value: &str) -> String {
    let mut all = value.split_whitespace();
    let Some(first) = all.next() else { return format!("{name} is empty") };
    let others = all.count();
    let first = variable_words("the image asks its host for", first).replacen('=', " ", 1);
    match others {
        0 => format!("{name}: {first}"),
        _ => format!("{name}: {first}, or for one of {others} combinations of brand and driver"),
    }
}

fn labelled(label: &str, words: &str) -> String {
    format!("{label:<LABEL$}  {words}")
}

fn more(words: &str) -> String {
    labelled("", words)
}

fn machine(ledger: &Ledger, lines: &mut Vec<String>) {
    let container = if ledger.container { ", in a container" } else { "" };
    lines.push(labelled("system", &format!("{}{container}", ledger.system)));
    let driver = match (&ledger.driver.release, &ledger.driver.cuda) {
        (None, _) => "none".to_owned(),
        (Some(release), None) => format!("{release}, of which no CUDA is known"),
        (Some(release), Some(cuda)) => format!("{release}, serves CUDA {cuda}"),
    };
    lines.push(labelled("driver", &driver));
    match &ledger.devices {
        Devices::Unknown(why) => lines.push(labelled("GPU", &format!("unknown: {why}"))),
        Devices::Known(devices) if devices.is_empty() => lines.push(labelled("GPU", "none")),
        Devices::Known(devices) => lines.extend(devices.iter().flat_map(device_lines)),
    }
    for toolkit in &ledger.toolkits {
        let version = toolkit.version.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
        let mut words = format!("{version} {}", toolkit.folder.display());
        words.push_str(if toolkit.nvcc { ", with nvcc" } else { "" });
        for link in &toolkit.links {
            let _ = write!(words, ", {} leads there", link.display());
        }
        lines.push(labelled("toolkit", &words));
    }
}

fn device_lines(device: &Device) -> Vec<String> {
    let mebibytes = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let [total, used, free] = device.memory_mib.map(mebibytes);
    let words = format!(
        "{} {}, capability {}, memory {total} MiB ({used} used, {free} free), ECC {} ({} uncorrected), MIG {}",
        device.index, device.name, device.capability, device.ecc, device.ecc_uncorrected, device.mig
    );
    let mut lines = vec![labelled("GPU", &words)];
    lines.extend(device.processes.iter().map(|process| {
        more(&format!("process {} ({}) holds {} MiB", process.pid, process.name, mebibytes(process.used_mib)))
    }));
    lines
}

fn copy_lines(copy: &Copy) -> Vec<String> {
    let is_jit = copy.cudnn_majors().into_iter().any(|major| copy.is_jit(major));
    let kind = if is_jit { ", a set of run-time-compiled engines alone" } else { "" };
    let words = format!("{} (by {}){kind}", copy.folder.display(), copy.found_by.join(", "));
    let mut lines = vec![labelled("folder", &words)];
    let width = copy.files.iter().map(|file| file.name.chars().count()).max().unwrap_or(0);
    for file in &copy.files {
        lines.push(more(format!("{:<width$}  {}", file.name, file_words(file)).trim_end()));
        lines.extend(file.sha256.as_ref().map(|hash| more(&format!("  sha256 {hash}"))));
    }
    lines.extend(copy.odd.iter().map(|odd| more(&format!("{} {}", odd.name, odd.what))));
    lines
}

fn file_words(file: &Library) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(file.broken.as_ref().map(|why| format!("can't be read: {why};")));
    words.push(file.version.as_ref().map_or_else(|| "version unknown".to_owned(), ToString::to_string));
    words.extend(file.known_by.map(|by| format!("by {}", known_by(by))));
    let digits = |id: &String| id.chars().take(BUILD_ID_DIGITS).collect::<String>();
    words.extend(file.build_id.as_ref().map(|id| format!("build {}", digits(id))));
    if let Some(owner) = &file.owner {
        let altered = if owner.altered { ", altered since" } else { "" };
        words.push(format!("{} {} {}{altered}", owner.by, owner.package, owner.version));
    }
    words.join(" ")
}

fn known_by(by: KnownBy) -> &'static str {
    match by {
        KnownBy::Symbol => "symbol",
        KnownBy::Name => "name",
        KnownBy::BuildId => "build-id",
        KnownBy::Package => "package",
    }
}

fn package_words(package: &Package) -> String {
    let mut words = format!("{} {}", package.name, package.version);
    for (what, version) in &package.built {
        let _ = write!(words, ", built for {what} {version}");
    }
    let is_library = package.name.starts_with("nvidia-");
    if let Some(major) = package.cuda_major().filter(|_| !is_library && !package.built.contains_key("cuda")) {
        let _ = write!(words, ", built for cuda {major}");
    }
    let told = |pin: &&Pin| pin.package.contains("cudnn") || pin.met == Some(false);
    for pin in package.pins.iter().filter(told) {
        let met = match (pin.met, &pin.installed) {
            (_, None) => "not installed".to_owned(),
            (Some(true), Some(_)) => "met".to_owned(),
            (Some(false), Some(installed)) => format!("not met by {installed}"),
            (None, Some(installed)) => format!("{installed} is installed"),
        };
        let extra = pin.extra.as_ref().map_or_else(String::new, |extra| format!(" with its extra {extra}"));
        let _ = write!(words, ", pins {}{extra} ({met})", pin.requirement);
    }
    // A library asks for others by name; what counts is what a framework wants.
    let others = package.pins.iter().filter(|pin| !told(pin)).count();
    if others > 0 && !is_library {
        let packages = if others == 1 { "package" } else { "packages" };
        let _ = write!(words, ", and {others} {packages} more of NVIDIA's");
    }
    words
}

fn program_lines(program: &Program) -> Vec<String> {
    let how = match program.seen {
        Seen::Mapped => "maps",
        Seen::Resolved => "would map, by the loader's order (it was not run)",
    };
    let mut lines = vec![labelled("program", &format!("{} {how}", program.name))];
    for file in &program.files {
        let gone = if file.deleted { ", which was removed or replaced since" } else { "" };
        let way = file.way.as_ref().map_or_else(String::new, |way| format!(", through {way}"));
        lines.push(more(&format!("{}{way}{gone}", file.path.display())));
    }
    if program.files.is_empty() {
        lines.push(more("none of these libraries"));
    }
    lines.extend(program.cudnn.as_ref().map(|version| more(&format!("its cuDNN says that it is {version}"))));
    let engines =
        program.engines.map(|count| format!("its cuDNN counts {count} engines for a small convolution"));
    lines.extend(engines.map(|words| more(&words)));
    for step in program.steps.iter().filter(|step| !step.done) {
        lines.push(more(&format!("{} failed: {}", step.what, step.words)));
    }
    lines
}

fn finding_lines(finding: &Finding) -> Vec<String> {
    let mut lines = vec![labelled(finding.severity.name(), &finding.title)];
    lines.extend(finding.evidence.iter().map(|words| more(&format!("- {words}"))));
    if !finding.mend.is_empty() {
        lines.push(labelled("mend", &finding.mend));
    }
    lines
}

fn summary(ledger: &Ledger) -> String {
    let found = counted(&ledger.findings);
    match (unseen(ledger).is_empty(), ledger.has_cudnn(), found.strip_prefix(FINE)) {
        (true, _, _) | (_, true, None) => found,
        (false, true, Some(notes)) => format!("{FINE} with what could be looked at{notes}"),
        (false, false, _) => format!(
            "nothing can be said of cuDNN{}",
            found.strip_prefix(FINE).map_or_else(|| format!("; {found}"), str::to_owned)
        ),
    }
}

/// Said where no finding is an error or a warning.
const FINE: &str = "nothing is wrong";

fn counted(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let found = match (errors, warnings) {
        (0, 0) => FINE.to_owned(),
        _ => format!("{errors} error{}, {warnings} warning{}", plural(errors), plural(warnings)),
    };
    if notes == 0 { found } else { format!("{found}, {notes} note{}", plural(notes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_and_notes_are_no_trouble() {
        let finding = |severity| Finding {
            rule: "x",
            severity,
            title: "x".to_owned(),
            evidence: Vec::new(),
            files: Vec::new(),
            mend: String::new(),
        };
        assert_eq!(counted(&[]), "nothing is wrong");
        assert_eq!(counted(&[finding(Severity::Note)]), "nothing is wrong, 1 note");
        let bad = [Severity::Error, Severity::Warning, Severity::Warning].map(finding);
        assert_eq!(counted(&bad), "1 error, 2 warnings");
    }

    #[test]
    fn a_long_variable_is_told_by_what_it_means_or_cut() {
        let image = "cuda>=13.0 brand=unknown,driver>=535,driver<536 brand=tesla,driver>=550,driver<551";
        let words = "NVIDIA_REQUIRE_CUDA: the image asks its host for cuda>=13.0, or for one of 2 combinations of brand and \
                     driver";
        assert_eq!(variable_words("NVIDIA_REQUIRE_CUDA", image), words);
        assert_eq!(variable_words("CUDA_X", "1"), "CUDA_X=1");
        let cut = variable_words("CUDA_X", &"\u{e9}".repeat(500));
        assert!(cut.len() < 220 && cut.ends_with("... (1000 bytes; --json has all)"), "{cut}");
    }
}
