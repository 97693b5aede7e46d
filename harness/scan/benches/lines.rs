//! How fast logs are passed through on one core: an ordinary training log, one full of progress bars, cuDNN's own log
//! with calls that repeat and with none, one endless line, and one in which every line shows a symptom. Knows the clock
//! only.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use scan::Scanner;

const LIBRARY: &str = include_str!("../../import/tests/data/torch-2.11-cudnn-9.19-h200.log");

/// Bytes of each log.
const BYTES: usize = 16 << 20;

fn filled(line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= BYTES {
            break;
        }
        text.push_str(&line(number));
    }
    text.into_bytes()
}

fn lines(criterion: &mut Criterion) {
    let training = filled(|number| {
        format!(
            "2026-11-02 10:12:44 INFO trainer.py:88 epoch {} step {number} loss 0.3412 lr 1.0e-03 error 0.01 1841 img/s\n",
            number / 1000
        )
    });
    let bars = filled(|number| {
        format!(
            "\rEpoch 3:  45%|####5     | {number}/100000 [00:12<00:15, 36.1it/s, loss=0.341, inference=off]"
        )
    });
    let endless = filled(|number| format!("{number:x} "));
    let symptoms =
        filled(|number| format!("step {number}: RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n"));
    let library = LIBRARY.repeat(BYTES / LIBRARY.len()).into_bytes();
    // No call is like one before it.
    let mut distinct = String::new();
    for number in 0..BYTES / LIBRARY.len() {
        distinct.push_str(
            &LIBRARY.replace("uid: type=int64_t; val=", &format!("uid: type=int64_t; val={number}")),
        );
    }
    let mut group = criterion.benchmark_group("scan");
    group.sample_size(10);
    for (name, log) in [
        ("training", training),
        ("bars", bars),
        ("endless", endless),
        ("library", library),
        ("distinct", distinct.into_bytes()),
        ("symptoms", symptoms),
    ] {
        group.throughput(Throughput::Bytes(log.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut scanner = Scanner::new();
                scanner.read(black_box(&log[..]));
                scanner.finish()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, lines);
criterion_main!(benches);
