//! How fast a log is passed through: lines that say nothing of convolutions, and a real one. Knows the clock only.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const REAL: &str = include_str!("../tests/data/torch-2.11-cudnn-9.19-h200.log");

const DULL: &str = "I! CuDNN (v91900 56) function cudnnBackendCreateDescriptor() called:
i!     descriptorType: type=cudnnBackendDescriptorType_t; val=CUDNN_BACKEND_TENSOR_DESCRIPTOR (17);
i! Time: 2026-12-02T22:28:54.438286 (0d+0h+0m+1s since start)
i! Process=455; Thread=455; GPU=NULL; Handle=NULL; StreamId=NULL.


";

fn logs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("log");
    for (name, text) in [("uninteresting", DULL.repeat(20_000)), ("torch", REAL.repeat(8))] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.sample_size(10);
        group.bench_function(name, |bencher| {
            bencher.iter(|| import::import(black_box(text.as_bytes()), Some(import::Format::Log), 1));
        });
    }
    group.finish();
}

criterion_group!(benches, logs);
criterion_main!(benches);
