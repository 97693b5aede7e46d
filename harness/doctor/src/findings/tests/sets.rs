//! Sets in plain folders, files that are cut short or are none, and what is not the same version. Knows what must be
//! said of each.

use super::*;

const OTHER: &str = "/srv/cudnn";

/// Parts that a set of run-time-compiled engines does without.
const FULL_ALONE: [&str; 5] = ["engines_precompiled", "heuristic", "ops", "cnn", "adv"];

#[test]
fn a_jit_set_in_a_plain_folder_is_whole_and_a_full_one_that_lost_its_engines_is_not() {
    // The compiler lies beside it, as the set's RUNPATH names it.
    let compiler = |made: Made| {
        ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"].into_iter().fold(made, |made, name| {
            made.library(&format!("{OTHER}/{name}"), &Forged { soname: name, ..Forged::default() })
        })
    };
    let alone = || compiler(Made::new()).variable("LD_LIBRARY_PATH", OTHER);
    assert_eq!(alone().set(OTHER, [9, 19, 0], &FULL_ALONE).ledger().findings, Vec::new());
    let ledger = alone().set(OTHER, [9, 19, 0], &FULL_ALONE).ledger();
    assert!(ledger.copies.iter().any(|copy| copy.is_jit(9)));
    // One file of the full set beside it says what it was, also where that is no file any more.
    let found = alone().set(OTHER, [9, 19, 0], &FULL_ALONE[..4]).findings();
    assert!(found.iter().any(|one| one.rule == "incomplete-set"), "{found:#?}");
    let made = alone().set(OTHER, [9, 19, 0], &FULL_ALONE);
    std::fs::create_dir(made.folder.path().join("srv/cudnn/libcudnn_adv.so.9")).expect("made");
    let found = made.only("incomplete-set");
    let words = "libcudnn_adv.so.9 is a folder, not a regular file";
    assert!(found.evidence.iter().any(|told| told == words), "{found:#?}");
    assert!(
        found.mend.starts_with("rm -r /srv/cudnn/libcudnn_adv.so.9 && python3 -m pip install "),
        "{found:#?}"
    );
    // A JIT set without the engines themselves plans nothing.
    let found = alone().set(OTHER, [9, 19, 0], &[&FULL_ALONE[..], &["engines_runtime_compiled"]].concat());
    assert_eq!(found.only("incomplete-set").severity, Severity::Error);
}

#[test]
fn a_mixed_folder_that_no_package_owns_is_filled_with_the_newest_of_its_releases() {
    let odd = |version| Forged {
        soname: "libcudnn_ops.so.9",
        runpath: "$ORIGIN",
        version: Some(version),
        ..Forged::default()
    };
    for (has, other) in [([9, 19, 0], [9, 9, 0]), ([9, 9, 0], [9, 19, 0])] {
        let made = Made::new().set("/srv/cudnn", has, &[]).variable("LD_LIBRARY_PATH", "/srv/cudnn");
        let found = made.library("/srv/cudnn/libcudnn_ops.so.9", &odd(other)).findings();
        let mixed = found.iter().find(|one| one.rule == "mixed-set").unwrap_or_else(|| panic!("{found:#?}"));
        let command = "python3 -m pip install --no-deps --target /srv/cudnn/.wheel nvidia-cudnn-cu13==9.19.0.56 && \
                       mv -f /srv/cudnn/.wheel/nvidia/cudnn/lib/lib*.so* /srv/cudnn/";
        assert_eq!(mixed.mend, command);
    }
}

#[test]
fn a_library_that_is_cut_short_or_none_or_claims_the_impossible_is_an_error_of_its_own() {
    let path = format!("{WHEEL}/libcudnn_cnn.so.9");
    let change = |change: &dyn Fn(&mut Vec<u8>)| {
        let made = Made::clean();
        let file = made.folder.path().join(&path[1..]);
        let mut bytes = std::fs::read(&file).expect("there");
        change(&mut bytes);
        std::fs::write(&file, &bytes).expect("written");
        (made.only("broken-library"), bytes.len())
    };
    let (found, size) = change(&|bytes| bytes.truncate(bytes.len() - 100));
    assert_eq!(found.severity, Severity::Error);
    let words = format!("{path} is cut short: it has {size} bytes, and its headers claim {}", size + 100);
    assert_eq!((found.title, found.evidence[0].clone()), (words, format!("it has {size} bytes")));
    let pip = format!("python3 -m pip install --force-reinstall --no-deps --upgrade --target {SITE}");
    assert_eq!(found.mend, format!("{pip} nvidia-cudnn-cu13==9.19.0.56"));
    // The size in the file of the first program header, at byte 32 of the table.
    let (found, _) = change(&|bytes| bytes[64 + 32..64 + 40].fill(0xff));
    assert!(found.title.ends_with("its headers claim 18446744073709551615"), "{}", found.title);
    // With a place beside it the sum is beyond 64 bits.
    let (found, _) = change(&|bytes| bytes[64 + 8..64 + 40].fill(0xff));
    assert!(found.title.ends_with("claim more than 64 bits can count"), "{}", found.title);
    let (found, _) = change(&|bytes| *bytes = b"no library".to_vec());
    assert!(found.title.ends_with("is no ELF file"), "{}", found.title);
    let (found, _) = change(&Vec::clear);
    assert!(found.title.ends_with("is too short for a library"), "{}", found.title);
}
