//! The end is kept, floods are bounded, and nothing of the host stays in the text.

use std::io::Write;
use std::os::unix::fs::MetadataExt;

use super::{BLOCK_BYTES, DISK_BYTES_MAX, Host, TAIL_BYTES, Tail};

fn host() -> Host {
    Host::new("/data/people/mary/", &["mary".to_owned(), "ab".to_owned(), "node-17\n".to_owned()])
}

#[test]
fn host_details_are_replaced_and_ordinary_words_are_not() {
    let scrub = |text| host().scrub(text);
    assert_eq!(scrub("open /data/people/mary/lib/a.so"), "open ~/lib/a.so");
    assert_eq!(scrub("/home/bob/x and /Users/eve.m/y, /home/"), "~/x and ~/y, /home/");
    assert_eq!(scrub("mary@node-17: primary node-171"), "(name)@(name): primary node-171");
    assert_eq!(scrub("GPU-1234abcd-00ff lost, GPU-direct"), "GPU-(serial) lost, GPU-direct");
    assert_eq!(scrub("ab \u{1b}[31mred\r\n\tdone"), "ab ?[31mred?\n\tdone");
}

#[test]
fn only_the_end_of_a_long_output_is_kept() {
    let tail = Tail::create().unwrap();
    (&tail.file).write_all(&vec![b'x'; 40_000]).unwrap();
    (&tail.file).write_all(b"the end").unwrap();
    let text = tail.text(&host());
    assert_eq!(text.len() as u64, TAIL_BYTES);
    assert!(text.ends_with("xthe end"));
}

#[test]
fn the_last_words_after_a_flood_are_kept_and_the_disk_is_not_filled() {
    let tail = Tail::create().unwrap();
    (&tail.file).write_all(b"little").unwrap();
    tail.bound().unwrap();
    assert_eq!(tail.text(&host()), "little");
    let chunk = vec![b'#'; 1 << 20];
    for _ in 0..=DISK_BYTES_MAX >> 20 {
        (&tail.file).write_all(&chunk).unwrap();
    }
    (&tail.file).write_all(b"out of ideas").unwrap();
    tail.bound().unwrap();
    assert!(tail.text(&host()).ends_with("##out of ideas"));
    assert!(tail.file.metadata().unwrap().blocks() * BLOCK_BYTES < DISK_BYTES_MAX / 2);
    (&tail.file).write_all(b", after").unwrap();
    assert!(tail.text(&host()).ends_with("##out of ideas, after"));
    tail.clear().unwrap();
    assert_eq!(tail.text(&host()), "");
}
