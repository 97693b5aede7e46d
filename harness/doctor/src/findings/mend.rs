//! What mends a finding: one command, or a sentence where no command can. Knows shells, package clients and where a
//! command has to run, and makes one answer of all that search paths need; runs nothing.

use std::path::{Path, PathBuf};

use wheels::{Name, Part, Wheel};

use super::Finding;
use crate::copies::{Copy, Library};
use crate::family::{Family, SHIM};
use crate::ledger::{Place, View};
use crate::owner::Owner;
use crate::version::Version;

/// The variable by which search paths are changed.
const VARIABLE: &str = "LD_LIBRARY_PATH";

/// A folder within the one that is mended, which pip unpacks a wheel into.
const UNPACKED: &str = ".wheel";

/// What mends something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mend {
    /// A command for whoever owns the files that were looked at.
    Command(String),
    /// A command for the machine with the driver, whatever container was looked at.
    Host(String),
    /// A command for the shell that starts programs.
    Shell(String),
    /// A sentence.
    Words(String),
    /// Other folders in LD_LIBRARY_PATH. All findings of this kind get one and the same command.
    Path(Change),
    /// A command, and other folders in LD_LIBRARY_PATH.
    Both(String, Change),
    /// Nothing needs mending.
    Nothing,
}

/// A change of LD_LIBRARY_PATH.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Folders to leave out.
    pub(super) without: Vec<PathBuf>,
    /// Folders to put in front.
    pub(super) first: Vec<PathBuf>,
    /// Folders to put at the end.
    pub(super) last: Vec<PathBuf>,
}

/// LD_LIBRARY_PATH without those folders.
pub(super) fn without(folders: Vec<PathBuf>) -> Mend {
    Mend::Path(Change { without: folders, ..Change::default() })
}

/// LD_LIBRARY_PATH with that folder in front.
pub(super) fn first(folder: &Path) -> Mend {
    Mend::Path(Change { first: vec![folder.to_owned()], ..Change::default() })
}

/// The finding with its mend in words, where the path needs those changes as a whole.
pub(super) fn settled(view: &View<'_>, path: &Change, finding: Finding, mend: Mend) -> Finding {
    let mend = match mend {
        Mend::Command(command) => command_in(view.place, &command),
        Mend::Host(command) => host(view, command),
        Mend::Shell(command) => shell_of(view, &command),
        Mend::Path(_) => shell_of(view, &path_command(view, path)),
        Mend::Both(command, _) => {
            format!("{} && {}", command_in(view.place, &command), shell_of(view, &path_command(view, path)))
        }
        Mend::Words(words) => words,
        Mend::Nothing => String::new(),
    };
    Finding { mend, ..finding }
}

/// All that several findings ask of the path; what one of them leaves out no other puts in.
pub(super) fn merged<'a>(mends: impl IntoIterator<Item = &'a Mend>) -> Change {
    let mut all = Change::default();
    for mend in mends {
        let (Mend::Path(change) | Mend::Both(_, change)) = mend else { continue };
        for (all, more) in [
            (&mut all.without, &change.without),
            (&mut all.first, &change.first),
            (&mut all.last, &change.last),
        ] {
            for folder in more {
                if !all.contains(folder) {
                    all.push(folder.clone());
                }
            }
        }
    }
    all
}

fn path_command(view: &View<'_>, change: &Change) -> String {
    let real = |folder: &PathBuf| view.source.real(folder).unwrap_or_else(|| folder.clone());
    let mut folders: Vec<PathBuf> = Vec::new();
    let kept = view.loader.variable.iter().filter(|folder| !change.first.contains(&real(folder)));
    for folder in change.first.iter().chain(kept).chain(&change.last) {
        if !change.without.contains(&real(folder)) && !folders.contains(folder) {
            folders.push(folder.clone());
        }
    }
    if folders.is_empty() {
        return format!("unset {VARIABLE}");
    }
    let list: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("export {VARIABLE}={}", word(&list.join(":")))
}

/// Where a shell's command counts.
fn shell_of(view: &View<'_>, command: &str) -> String {
    match (view.place, view.ledger.programs.iter().find_map(|program| program.pid)) {
        (Place::Below(root), _) => format!("in what runs within {}: {command}", quoted(root)),
        (Place::Container(pid), _) => {
            format!("in the container, where process {pid} is started: {command}")
        }
        (Place::Here, Some(pid)) => format!("{command} # and start process {pid} anew"),
        (Place::Here, None) => command.to_owned(),
    }
}

/// A command as it is run in the file system that was looked at.
fn command_in(place: &Place, command: &str) -> String {
    // Who enters another file system is its administrator.
    let inner = || word(&command.replace("sudo ", ""));
    match place {
        Place::Here => command.to_owned(),
        Place::Below(root) => format!("sudo chroot {} sh -c {}", quoted(root), inner()),
        Place::Container(pid) => {
            format!("sudo nsenter --target {pid} --mount --root --wd=/ sh -c {}", inner())
        }
    }
}

fn host(view: &View<'_>, command: String) -> String {
    let is_outside = view.ledger.container || *view.place != Place::Here;
    if is_outside { format!("on the host of the container: {command}") } else { command }
}

/// A text as a shell reads it, in one word: names of files and packages come from anywhere.
pub(super) fn word(text: &str) -> String {
    let plain =
        text.chars().all(|character| character.is_ascii_alphanumeric() || "/._-+=:".contains(character));
    if plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A path as a shell reads it.
pub(super) fn quoted(path: &Path) -> String {
    word(&path.display().to_string())
}

/// The Python that imports from a folder of packages: the one that was asked, else the one that the folder lies below.
fn python_of(view: &View<'_>, site: &Path) -> Option<String> {
    if let Some(python) = &view.ledger.python
        && !python.executable.is_empty()
        && python.folders.iter().any(|folder| view.source.real(folder).as_deref() == Some(site))
    {
        return Some(word(&python.executable));
    }
    let version = site.parent().and_then(Path::file_name).and_then(|name| name.to_str())?;
    let bin = site.ancestors().nth(3)?.join("bin");
    let found = [version, "python3"].map(|name| bin.join(name));
    found.iter().find(|path| view.source.file(path).is_some()).map(|path| quoted(path))
}

/// Has pip install into a folder of packages.
pub(super) fn pip_install(view: &View<'_>, site: &Path, what: &[String]) -> String {
    let what: Vec<String> = what.iter().map(|one| word(one)).collect();
    let what = what.join(" ");
    match python_of(view, site) {
        Some(python) => format!("{python} -m pip install {what}"),
        None => format!("python3 -m pip install --upgrade --target {} {what}", quoted(site)),
    }
}

/// The command that puts a package back as it was published.
pub(super) fn reinstall(view: &View<'_>, owner: &Owner) -> Mend {
    let (package, version) = (&owner.package, &owner.version);
    Mend::Command(match owner.by {
        "pip" => {
            let pinned = word(&format!("{package}=={version}"));
            match python_of(view, &owner.root) {
                Some(python) => format!("{python} -m pip install --force-reinstall --no-deps {pinned}"),
                None => format!(
                    "python3 -m pip install --upgrade --force-reinstall --no-deps --target {} {pinned}",
                    quoted(&owner.root)
                ),
            }
        }
        "conda" => format!(
            "conda install --yes --prefix {} --force-reinstall {}",
            quoted(&owner.root),
            word(&format!("{package}={version}"))
        ),
        _ => format!("sudo apt-get install --reinstall {}", word(&format!("{package}={version}"))),
    })
}

/// The command that takes a package away.
pub(super) fn remove(view: &View<'_>, owner: &Owner) -> Mend {
    let package = word(&owner.package);
    Mend::Command(match owner.by {
        "pip" => match python_of(view, &owner.root) {
            Some(python) => format!("{python} -m pip uninstall -y {package}"),
            None => format!("PYTHONPATH={} python3 -m pip uninstall -y {package}", quoted(&owner.root)),
        },
        "conda" => format!("conda remove --yes --prefix {} {package}", quoted(&owner.root)),
        _ => format!("sudo apt-get remove --purge {package}"),
    })
}

/// Takes files away that the loader finds without LD_LIBRARY_PATH: with their package, else by name.
pub(super) fn take_away(view: &View<'_>, copy: &Copy, files: &[&Library]) -> Mend {
    if let Some(owner) = files.iter().find_map(|file| file.owner.as_ref()) {
        return remove(view, owner);
    }
    let names = files.iter().flat_map(|file| &file.names).map(|name| quoted(&copy.folder.join(name)));
    Mend::Command(format!("sudo rm {} && sudo ldconfig", names.collect::<Vec<_>>().join(" ")))
}

/// The published wheel of a cuDNN.
pub(super) fn wheel_of(version: &Version, is_jit: bool, cuda: u32) -> Option<&'static Wheel> {
    let part = if is_jit { Part::Jit } else { Part::Full };
    let name = Name { version: version.to_string().parse().ok()?, part, cuda: Some(cuda) };
    wheels::find(&name, cuda).ok()
}

/// The published wheel of a companion.
pub(super) fn companion(part: Part, cuda: u32) -> Option<&'static Wheel> {
    wheels::published().iter().rev().find(|wheel| wheel.part == part && wheel.cuda == cuda)
}

/// What pip is asked for to get that wheel.
pub(super) fn pinned(wheel: &Wheel) -> String {
    format!("{}=={}", wheel.package, wheel.version)
}

/// Has pip unpack a wheel within a folder and puts its libraries there, so that nothing else has to change: what led to
/// the folder still does. Names behind which there is no file go first.
pub(super) fn refill(copy: &Copy, requirement: &str, libraries: &str) -> Mend {
    let unpacked = copy.folder.join(UNPACKED);
    let odd: Vec<String> = copy.odd.iter().map(|odd| quoted(&copy.folder.join(&odd.name))).collect();
    let clear = if odd.is_empty() { String::new() } else { format!("rm -r {} && ", odd.join(" ")) };
    Mend::Command(format!(
        "{clear}python3 -m pip install --no-deps --target {} {} && mv -f {}/lib*.so* {}/",
        quoted(&unpacked),
        word(requirement),
        quoted(&unpacked.join(libraries)),
        quoted(&copy.folder)
    ))
}

/// How a set is made whole again: by its package, else by the wheel of its newest files.
pub(super) fn whole(view: &View<'_>, copy: &Copy, major: u32, files: &[&Library]) -> Mend {
    let owner = files.iter().copied().chain(copy.cudnn(major)).find_map(|file| file.owner.as_ref());
    if let Some(owner) = owner {
        return reinstall(view, owner);
    }
    let version = newest(copy, major).unwrap_or_else(|| Version::new(&[major]));
    let is_jit = copy.is_jit(major);
    let cuda = cuda_of(view, copy, major);
    let wheel = cuda.iter().find_map(|cuda| wheel_of(&version, is_jit, *cuda));
    let (requirement, libraries) = match wheel {
        Some(wheel) => (pinned(wheel), wheel.libraries()),
        None => {
            let cuda = if major < 9 { 12 } else { cuda.first().copied().unwrap_or(13) };
            (format!("nvidia-cudnn-cu{cuda}=={version}.*"), "nvidia/cudnn/lib")
        }
    };
    match site_of(copy) {
        Some(site) => {
            let requirement = vec![requirement];
            Mend::Command(pip_install(view, &site, &requirement).replacen(
                " install ",
                " install --force-reinstall --no-deps ",
                1,
            ))
        }
        None => refill(copy, &requirement, libraries),
    }
}

/// The newest release among the files of a cuDNN: as exactly as any of that release tells it.
fn newest(copy: &Copy, major: u32) -> Option<Version> {
    let known =
        || copy.cudnn(major).filter(|file| file.broken.is_none()).filter_map(|file| file.version.as_ref());
    let newest = known().filter(|version| version.places() >= 3).max_by(|one, two| one.compare(two))?;
    let same = known().filter(|version| version.short(3) == newest.short(3));
    same.max_by_key(|version| version.places()).cloned()
}

/// The folder of packages that a folder of a wheel's libraries lies in: `SITE/nvidia/PART/lib`.
pub(super) fn site_of(copy: &Copy) -> Option<PathBuf> {
    let above = copy.folder.ancestors().nth(2)?;
    (above.file_name()? == "nvidia" && copy.folder.ends_with("lib"))
        .then(|| above.parent().map(Path::to_owned))?
}

/// The CUDA majors that a set may be built for, the likeliest first: what its package says, else what the packages and
/// the driver that are there take.
pub(super) fn cuda_of(view: &View<'_>, copy: &Copy, major: u32) -> Vec<u32> {
    let owner = copy.cudnn(major).find_map(|file| file.owner.as_ref());
    let suffix = owner.and_then(|owner| {
        let text = if owner.package.contains("cu") { &owner.package } else { &owner.version };
        ["cu13", "cu12", "cu11", "cuda-13", "cuda-12", "cuda13", "cuda12"]
            .iter()
            .find(|word| text.contains(**word))
    });
    let number = suffix
        .and_then(|word| word.trim_start_matches(|character: char| !character.is_ascii_digit()).parse().ok());
    if let Some(number) = number {
        return vec![number];
    }
    let torch = view.ledger.packages.iter().find(|package| package.name == "torch");
    let by_torch = torch.and_then(crate::packages::Package::cuda_major);
    let by_driver = view.ledger.driver.cuda.as_ref().map(|cuda| cuda.number(0));
    if by_torch.or(by_driver).is_some_and(|cuda| cuda < 13) { vec![12, 13] } else { vec![13, 12] }
}

/// The folders of LD_LIBRARY_PATH among those.
pub(super) fn on_variable<'a>(view: &View<'_>, folders: impl IntoIterator<Item = &'a Path>) -> Vec<PathBuf> {
    let variable: Vec<PathBuf> =
        view.loader.variable.iter().filter_map(|folder| view.source.real(folder)).collect();
    let mut found: Vec<PathBuf> =
        folders.into_iter().map(Path::to_owned).filter(|folder| variable.contains(folder)).collect();
    found.sort();
    found.dedup();
    found
}

/// What keeps strange libraries out of a program: LD_LIBRARY_PATH without their folder, no preload of them, the
/// system's package gone; nothing where none of these led to them.
pub(super) fn keep_out(view: &View<'_>, strange: &[&Path]) -> Option<Mend> {
    let folders = on_variable(view, strange.iter().filter_map(|file| file.parent()));
    if !folders.is_empty() {
        return Some(without(folders));
    }
    let is_strange = |name: &str| strange.contains(&Path::new(name));
    if let Some((name, by)) = view.ledger.preloads.iter().find(|(name, _)| is_strange(name)) {
        return Some(no_preload(name, by));
    }
    let mut owners = strange.iter().filter_map(|file| view.ledger.file(file)?.1.owner.as_ref());
    owners.find(|owner| owner.by == "dpkg").map(|owner| remove(view, owner))
}

/// Ends a preload.
pub(super) fn no_preload(name: &str, by: &str) -> Mend {
    if by == "LD_PRELOAD" {
        return Mend::Shell("unset LD_PRELOAD".to_owned());
    }
    let special = |character: char| r"\.*[]^$/".contains(character);
    let pattern: String =
        name.chars().flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter])).collect();
    Mend::Command(format!("sudo sed -i {} {}", word(&format!("/{pattern}/d")), word(by)))
}

/// Where a whole cuDNN lies that a program could take instead of that folder.
pub(super) fn other_set<'a>(view: &'a View<'_>, folder: &Path, major: u32) -> Option<&'a Copy> {
    let is_whole = |copy: &&Copy| {
        let has_core = copy.cudnn(major).any(|file| file.part == "graph" && file.broken.is_none());
        copy.folder != folder && copy.shim(major).is_some() && has_core
    };
    view.ledger
        .copies
        .iter()
        .filter(is_whole)
        .find(|copy| copy.found_by.iter().any(|by| by == "site-packages"))
}

/// Files of a family in a folder.
pub(super) fn has(copy: &Copy, family: Family, majors: &[u32]) -> bool {
    let fits =
        |file: &Library| file.family == family && file.major().is_some_and(|major| majors.contains(&major));
    copy.files.iter().any(fits)
}

/// True for a folder without a cuDNN, which may be put into a search path without swapping one.
pub(super) fn has_no_cudnn(copy: &Copy) -> bool {
    !copy.files.iter().any(|file| file.family == Family::Cudnn && file.part == SHIM)
}
