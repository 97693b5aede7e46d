//! Broken and hostile files, and a library of this machine. Knows what must not happen.

use std::io::Write;

use super::*;
use crate::forge::Forged;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    file
}

fn graph() -> Vec<u8> {
    let forged = Forged {
        soname: "libcudnn_graph.so.9",
        needed: &["libz.so.1", "libc.so.6"],
        rpath: "$ORIGIN",
        runpath: "$ORIGIN/../a::/b",
        build_id: &[0xab, 0xcd, 0x01],
        version: Some([9, 27, 3]),
    };
    forged.bytes()
}

#[test]
fn a_library_tells_its_names_paths_needs_build_and_version() {
    let found = read(file(&graph()), true).expect("a library");
    assert_eq!(found.soname.as_deref(), Some("libcudnn_graph.so.9"));
    assert_eq!(found.needed, ["libz.so.1", "libc.so.6"]);
    assert_eq!(
        (found.rpath, found.runpath),
        (vec!["$ORIGIN".into()], vec!["$ORIGIN/../a".into(), "/b".into()])
    );
    assert_eq!(found.build_id.as_deref(), Some("abcd01"));
    assert_eq!(found.version, Version::parse("9.27.3"));
    assert_eq!(read(file(&graph()), false).expect("a library").version, None);
}

#[test]
fn what_is_no_library_is_told_in_words() {
    let said = |bytes: &[u8]| read(file(bytes), true).expect_err("no library");
    assert_eq!(said(b""), "is too short for a library");
    assert_eq!(said(b"#!/bin/sh\n"), "is no ELF file");
    assert_eq!(said(b"\x7fELF\x01\x01\x01\0"), "is a 32-bit file");
    assert!(!said(b"\x7fELF\x02\x01\x01\0").is_empty());
}

#[test]
fn a_file_that_is_cut_or_has_any_byte_changed_never_panics() {
    let whole = graph();
    for length in 0..whole.len() {
        let _ = read(file(&whole[..length]), true);
    }
    for place in 0..whole.len() {
        for byte in [0, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed[place] = byte;
            let _ = read(file(&changed), true);
        }
    }
}

#[test]
fn this_test_is_a_program_that_needs_a_c_library() {
    let own = std::env::current_exe().expect("a path");
    let found = read(File::open(own).expect("open"), false).expect("a program");
    assert!(found.needed.iter().any(|name| name.starts_with("libc.so")), "{found:?}");
}
