//! What mends findings, taken together: commands that agree, run where they have to and are pinned. Knows commands as
//! texts.

use super::*;

/// Every change of the search path that a ledger's findings ask for, each once.
fn paths(findings: &[Finding]) -> Vec<&str> {
    let mut found: Vec<&str> = findings
        .iter()
        .map(|one| one.mend.as_str())
        .filter(|mend| mend.contains("LD_LIBRARY_PATH"))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn whatever_is_wrong_with_search_paths_one_command_mends_it() {
    // A set that swaps parts, an incomplete one, an old one, and a compiler that is not to be lost.
    let old = Forged { soname: "libcudnn.so.8", ..Forged::default() };
    let compiler = Forged { soname: "libnvrtc.so.13", ..Forged::default() };
    let builtins = Forged { soname: "libnvrtc-builtins.so.13.0", ..Forged::default() };
    let made = Made::clean()
        .set("/srv/new", [9, 28, 1], &[])
        .set("/srv/part", [9, 19, 0], &["heuristic"])
        .library("/srv/old/libcudnn.so.8.9.7", &old)
        .library("/srv/nvrtc/libnvrtc.so.13", &compiler)
        .library("/srv/nvrtc/libnvrtc-builtins.so.13.0", &builtins)
        .variable("LD_LIBRARY_PATH", "/srv/part:/srv/new:/srv/nvrtc:/srv/old");
    let found = made.findings();
    let rules: Vec<&str> = found.iter().map(|one| one.rule).collect();
    for rule in ["parts-from-elsewhere", "incomplete-set", "two-majors-on-a-path"] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
    // The compiler's folder stays.
    assert_eq!(paths(&found), ["export LD_LIBRARY_PATH=/srv/nvrtc"], "{found:#?}");
    assert!(found.iter().all(|one| !one.mend.is_empty()), "{found:#?}");
    // Where the packages' own set lacks what the path gives it, both are mended.
    let made =
        Made::new().set(WHEEL, [9, 19, 0], &["heuristic"]).companions().set("/srv/new", [9, 28, 1], &[]);
    let found = made.variable("LD_LIBRARY_PATH", "/srv/new").findings();
    let mend = &found.iter().find(|one| one.rule == "parts-from-elsewhere").expect("swapped").mend;
    assert!(mend.contains("nvidia-cudnn-cu13==9.19.0.56 && unset LD_LIBRARY_PATH"), "{found:#?}");
}

#[test]
fn a_compiler_is_brought_to_where_the_set_looks_for_it() {
    // Nothing else is there: it goes into the set's own folder, which the set's RUNPATH names.
    let lone = Made::new().set("/srv/cudnn", [9, 19, 0], &[]).variable("LD_LIBRARY_PATH", "/srv/cudnn");
    let found = lone.findings();
    let missing = found.iter().find(|one| one.rule == "no-nvrtc").unwrap_or_else(|| panic!("{found:#?}"));
    let command = "python3 -m pip install --no-deps --target /srv/cudnn/.wheel nvidia-cuda-nvrtc==13.0.88 && \
                   mv -f /srv/cudnn/.wheel/nvidia/cu13/lib/lib*.so* /srv/cudnn/";
    assert_eq!(missing.mend, command);
}

#[test]
fn below_a_root_and_in_a_container_commands_run_there() {
    let with = |place| {
        let mut made =
            Made::clean().variable("LD_LIBRARY_PATH", "/srv/cudnn").set("/srv/cudnn", [9, 28, 1], &[]);
        made.facts.place = place;
        let builtins = made.folder.path().join(&CU13[1..]).join("libnvrtc-builtins.so.13.0");
        std::fs::remove_file(builtins).expect("there");
        made.findings()
    };
    let mend = |found: &[Finding], rule: &str| {
        found.iter().find(|one| one.rule == rule).unwrap_or_else(|| panic!("{found:#?}")).mend.clone()
    };
    let found = with(Place::Below("/mnt/my image".into()));
    let pip = format!("'python3 -m pip install --upgrade --target {SITE} nvidia-cuda-nvrtc==13.0.88'");
    assert_eq!(mend(&found, "no-nvrtc-builtins"), format!("sudo chroot '/mnt/my image' sh -c {pip}"));
    let words = "in what runs within '/mnt/my image': unset LD_LIBRARY_PATH";
    assert_eq!(mend(&found, "parts-from-elsewhere"), words);
    let found = with(Place::Container(77));
    let enter = "sudo nsenter --target 77 --mount --root --wd=/ sh -c";
    assert_eq!(mend(&found, "no-nvrtc-builtins"), format!("{enter} {pip}"));
    assert!(mend(&found, "parts-from-elsewhere").ends_with("process 77 is started: unset LD_LIBRARY_PATH"));
}

#[test]
fn frameworks_with_pins_that_differ_get_one_version_for_all_or_are_told_that_there_is_none() {
    let jax = "Requires-Dist: nvidia-cudnn-cu13<10.0,>=9.12.0.46; extra == \"with-cuda\"";
    let torch = "Requires-Dist: nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\"";
    let made = || Made::clean().package("jax-cuda13-plugin", "0.10.2", jax);
    let pip = format!("python3 -m pip install --upgrade --target {SITE}");
    let found = made().package("nvidia-cudnn-cu13", "9.10.2.21", "").only("pin-not-met");
    assert!(found.evidence[0].contains("with its extra with-cuda"), "{found:#?}");
    // A range is met with the newest version that is published.
    assert_eq!(found.mend, format!("{pip} nvidia-cudnn-cu13==9.28.1.4"));
    let both =
        made().package("torch", "2.11.0", torch).package("nvidia-cudnn-cu13", "9.10.2.21", "").findings();
    assert_eq!(both.len(), 2, "{both:#?}");
    assert!(both.iter().all(|one| one.mend == format!("{pip} nvidia-cudnn-cu13==9.19.0.56")), "{both:#?}");
    let other = torch.replace("9.19.0.56", "9.10.2.21");
    let torn = made()
        .package("torch", "2.11.0", &other)
        .package("nvidia-cudnn-cu13", "9.10.2.21", "")
        .only("pin-not-met");
    assert!(
        torn.mend.starts_with("no version of nvidia-cudnn-cu13 suits all (jax-cuda13-plugin requires "),
        "{torn:#?}"
    );
}
