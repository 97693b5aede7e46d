//! Fetching with a script in python3's place. Knows what it would be asked; asks no index.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::table::Part;

struct Stage {
    place: tempfile::TempDir,
    wheel: Wheel,
}

impl Stage {
    /// A wheel of one file, and a client whose `python3` is that shell script: `$dest` is where the file has to go, and
    /// `$wheel` is the file.
    fn new(script: &str) -> (Self, Client) {
        let place = tempfile::tempdir().expect("a folder");
        let file = "nvidia_cudnn_jit_cu13-9.1.0.1-py3-none-manylinux_2_27_x86_64.whl";
        let made = place.path().join(file);
        let mut writer = zip::ZipWriter::new(File::create(&made).expect("a file"));
        writer
            .start_file("nvidia/cudnn_jit/lib/libcudnn.so.9", zip::write::SimpleFileOptions::default())
            .expect("one");
        writer
            .start_file("x-9.1.0.1.dist-info/RECORD", zip::write::SimpleFileOptions::default())
            .expect("one");
        writer.write_all(b"nvidia/cudnn_jit/lib/libcudnn.so.9,sha256=x,0\n").expect("written");
        writer.finish().expect("whole");
        let wheel = Wheel {
            package: "nvidia-cudnn-jit-cu13".to_owned(),
            version: "9.1.0.1".parse().expect("a version"),
            file: file.to_owned(),
            bytes: 200,
            sha256: sha256(&made).expect("read"),
            part: Part::Jit,
            cuda: 13,
        };
        let bin = place.path().join("bin");
        fs::create_dir(&bin).expect("made");
        let text = format!(
            "#!/bin/sh\nwheel='{}'\nfor dest; do :; done\nmkdir -p \"$dest\"\n{script}\n",
            made.display()
        );
        fs::write(bin.join("python3"), text).expect("written");
        fs::set_permissions(bin.join("python3"), fs::Permissions::from_mode(0o755)).expect("set");
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let client = Client {
            keeper: None,
            environment: vec![("PATH".into(), path.into())],
            interrupt: Interrupt::default(),
        };
        (Self { place, wheel }, client)
    }

    fn cache(&self) -> Cache {
        Cache::within(&self.place.path().join("cache"))
    }

    /// Fetches, and sees that nothing but whole wheels is left.
    fn fetch(&self, client: &Client) -> Result<PathBuf, String> {
        let done = client.fetch(&self.cache(), &self.wheel).map_err(|error| error.to_string());
        let names: Vec<_> = fs::read_dir(self.cache().root())
            .map(|entries| entries.map(|entry| entry.expect("an entry").path()).collect())
            .unwrap_or_default();
        let whole = done.as_ref().map_or(Vec::new(), |_| vec![self.cache().folder(&self.wheel)]);
        assert_eq!(names, whole, "{done:?}");
        done
    }
}

#[test]
fn a_wheel_is_fetched_once_with_its_hash_and_platform_named() {
    let (stage, client) = Stage::new(
        "case \"$*\" in *'--require-hashes --platform manylinux_2_27_x86_64 --requirement'*) ;; *) exit 9 ;; esac\n\
         grep -q 'nvidia-cudnn-jit-cu13==9.1.0.1 --hash=sha256:' requirements.txt || exit 8\n\
         cp \"$wheel\" \"$dest\"",
    );
    let folder = stage.fetch(&client).expect("fetched");
    assert!(folder.join("libcudnn.so.9").is_file() && stage.cache().holds(&stage.wheel));
    // A client that would fail is not asked again.
    let (_, failing) = Stage::new("exit 1");
    assert_eq!(stage.fetch(&failing), Ok(folder));
}

#[test]
fn each_way_in_which_a_fetch_fails_is_one_line_and_leaves_nothing() {
    let says = |script: &str, expected: &str| {
        let (stage, client) = Stage::new(script);
        let words = stage.fetch(&client).expect_err(expected);
        assert!(words.contains(expected) && words.lines().count() == 1, "{words}");
    };
    says("echo other > \"$dest/$(basename \"$wheel\")\"", "is not the file that was published");
    says(
        "echo 'THESE PACKAGES DO NOT MATCH THE HASHES' >&2; echo '  Got   abc' >&2; exit 1",
        "SHA-256 is abc",
    );
    says("echo \"/usr/bin/python3: No module named pip\" >&2; exit 1", "python3 has no pip");
    says(
        "echo 'NewConnectionError' >&2; echo 'ERROR: No matching distribution' >&2; exit 1",
        "can't be reached",
    );
    says("echo 'ERROR: odd' >&2; exit 2", "pip ended with code 2: ERROR: odd");
    says("exit 0", "No such file");
    let (stage, client) = Stage::new("");
    let nowhere = Client { environment: vec![("PATH".into(), "/nonexistent".into())], ..client };
    assert!(stage.fetch(&nowhere).is_err_and(|words| words.contains("there is no python3")));
}

#[test]
fn a_wheel_that_the_disk_has_no_room_for_is_not_fetched() {
    let (mut stage, client) = Stage::new("cp \"$wheel\" \"$dest\"");
    stage.wheel.bytes = u64::MAX / 2;
    assert!(stage.fetch(&client).is_err_and(|words| words.contains("MB are free")));
}

#[test]
fn an_interrupted_fetch_leaves_nothing_that_is_taken_for_whole() {
    let (stage, client) = Stage::new("sleep 30");
    client.interrupt.set();
    assert!(stage.fetch(&client).is_err());
}
