//! The rule about files that no loader can use: cut short, no library at all, not readable. Knows one file at a time.

use super::mend::{Mend, pip_install, reinstall, site_of, whole};
use super::{Found, Severity};
use crate::copies::{Copy, Library};
use crate::family::Family;
use crate::ledger::View;

/// Begins the words for a file that programs of another width use.
const OTHER_WIDTH: &str = "is a 32-bit file";

/// Words of the system where a file is there and not ours to read.
const CLOSED: &str = "Permission denied";

/// Libraries that can't be loaded, a finding each.
pub(super) fn broken(view: &View<'_>) -> Vec<Found> {
    let all = view.ledger.copies.iter().flat_map(|copy| copy.files.iter().map(move |file| (copy, file)));
    let mut found: Vec<Found> = Vec::new();
    for (copy, file) in all {
        let Some(why) = file.broken.as_ref().filter(|why| !why.starts_with(OTHER_WIDTH)) else { continue };
        // One file may be listed from several folders.
        if found.iter().any(|known| known.files.contains(&file.path)) {
            continue;
        }
        let path = file.within(&copy.folder);
        let is_closed = why.contains(CLOSED);
        let recorded = file.owner.as_ref().and_then(|owner| Some((owner, owner.bytes?)));
        let mut evidence = vec![format!("it has {} bytes", file.bytes)];
        evidence
            .extend(recorded.map(|(owner, bytes)| {
                format!("{} {} installed {bytes} bytes", owner.package, owner.version)
            }));
        if !is_closed {
            evidence
                .push("a program that loads it fails, or ends when it reaches what is missing".to_owned());
        }
        let mut files = vec![path.clone()];
        files.extend(Some(file.path.clone()).filter(|real| *real != path));
        found.push(Found {
            rule: "broken-library",
            severity: if is_closed { Severity::Warning } else { Severity::Error },
            title: format!("{} {why}", path.display()),
            evidence,
            files,
            mend: if is_closed { opened(&path.display().to_string()) } else { mend(view, copy, file) },
        });
    }
    found
}

fn opened(path: &str) -> Mend {
    Mend::Command(format!("sudo chmod a+r {}", super::mend::word(path)))
}

fn mend(view: &View<'_>, copy: &Copy, file: &Library) -> Mend {
    if let Some(owner) = &file.owner {
        return reinstall(view, owner);
    }
    if let (Family::Cudnn, Some(major)) = (file.family, file.major()) {
        return whole(view, copy, major, &[file]);
    }
    match (super::companions::requirement(view, copy, file), site_of(copy)) {
        (Some((requirement, _)), Some(site)) => Mend::Command(pip_install(view, &site, &[requirement])),
        (Some((requirement, libraries)), None) => super::mend::refill(copy, &requirement, libraries),
        (None, _) => Mend::Words(format!(
            "no package is known to own {}; install again what brought it",
            file.within(&copy.folder).display()
        )),
    }
}
