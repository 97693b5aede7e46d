//! What is taken out, and what stays.

use super::Redactor;

#[track_caller]
fn check(text: &str, expected: &str) {
    let redactor = Redactor::new(&["gpu-host-7".to_owned(), "Ada".to_owned(), "x".to_owned()]);
    assert_eq!(redactor.text(text), expected);
}

#[test]
fn home_folders_lose_their_owner_and_keep_what_lies_below() {
    check("/home/ada.l/venv/lib/libcudnn.so.9", "[home]/venv/lib/libcudnn.so.9");
    check("open \"/home/ada\": no", "open \"[home]\": no");
    check("LD=/root:/root/lib:/rooted/x", "LD=[home]:[home]/lib:/rooted/x");
    check("/Users/eve/a /run/user/1000/b", "[home]/a [home]/b");
    check("/srv/home/data /usr/lib/x", "/srv/home/data /usr/lib/x");
}

#[test]
fn temporary_paths_go_whole() {
    check("log at /tmp/convict-a1b2/board.bin, done", "log at [tmp], done");
    check("(/var/tmp/x)(/dev/shm/y)", "([tmp])([tmp])");
}

#[test]
fn ids_and_serials_go() {
    check("GPU-8d2c1b9a-0123-4567-89ab-cdef01234567 ok", "[removed] ok");
    check("MIG-8D2C1B9A-0123-4567-89AB-CDEF01234567", "[removed]");
    check("uuid=8d2c1b9a-0123-4567-89ab-cdef01234567.", "uuid=[removed].");
    check("Serial Number : 1320021012345\nnext", "[removed]\nnext");
    check("serial: PF3ABC12", "[removed]");
    check("a serial port, serialize 12", "a serial port, serialize 12");
    check("GPU-8d2c is no id", "GPU-8d2c is no id");
}

#[test]
fn words_of_the_caller_go_where_they_stand_alone() {
    check("on gpu-host-7: GPU-HOST-7, gpu-host-71", "on [removed]: [removed], gpu-host-71");
    check("ada's adapter, x = Ada", "[removed]'s adapter, x = [removed]");
}

#[test]
fn addresses_versions_and_line_ends_stay_and_control_characters_go() {
    check("ptr=0x7f00a1b2c3d4 v91900\n\tok\u{1b}[31m\r\0", "ptr=0x7f00a1b2c3d4 v91900\n\tok[31m");
}

#[test]
fn any_text_is_taken_without_panic() {
    for text in
        ["", "é/home/é", "GPU-é", "serialé", "/home/", "/tmp/", "GPU-8d2c1b9a-0123-4567-89ab-cdef0123456"]
    {
        let _ = Redactor::new(&["né".to_owned(), "né à".to_owned()]).text(text);
    }
    check("/home/é", "[home]");
}
