//! How long a machine with five whole copies of cuDNN takes to examine. Knows the clock only; the copies are links to
//! the published wheel that `convict sets --fetch wheel:9.19.0.56-cu13` put into the cache of `CONVICT_CACHE`.

use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use doctor::{Devices, Facts, Place, Source};

/// The beginning of the wheel's folder in the cache.
const WHEEL: &str = "nvidia_cudnn_cu13-9.19.0.56-";

fn wheel() -> Option<PathBuf> {
    let cache = PathBuf::from(std::env::var_os("CONVICT_CACHE")?);
    let mut entries = fs::read_dir(cache).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(WHEEL)))
}

fn link(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            link(&entry.path(), &to);
        } else if fs::hard_link(entry.path(), &to).is_err() {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}

fn five_copies(criterion: &mut Criterion) {
    let Some(wheel) = wheel() else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: CONVICT_CACHE holds no {WHEEL}...");
        return;
    };
    let root = tempfile::tempdir().expect("a folder");
    link(&wheel, &root.path().join("usr/lib/python3/dist-packages"));
    let libraries = wheel.join("nvidia/cudnn/lib");
    let folders = ["usr/lib/x86_64-linux-gnu", "usr/local/cuda-13.0/lib64", "srv/one", "srv/two"];
    folders.iter().for_each(|folder| link(&libraries, &root.path().join(folder)));
    let facts = || Facts {
        variables: vec![("LD_LIBRARY_PATH".to_owned(), "/srv/one:/srv/two".to_owned())],
        python: None,
        running: None,
        executable: None,
        devices: Devices::Unknown(String::new()),
        hashes: false,
        place: Place::Here,
    };
    let copies = doctor::examine(&Source::below(root.path()), facts()).copies;
    assert_eq!(copies.len(), 5, "{copies:#?}");
    criterion.bench_function("five copies", |bencher| {
        bencher.iter(|| black_box(doctor::examine(&Source::below(root.path()), facts())));
    });
}

criterion_group!(benches, five_copies);
criterion_main!(benches);
