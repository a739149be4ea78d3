//! The core's frame by codec and size, without Python: `cargo bench --bench rows`.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ypress::codec::{Codec, room};
use ypress::frame::{Value, compress, parse};

/// Text like that of a notebook: words and numbers, the same every time.
fn text(size: usize) -> Vec<u8> {
    let words = ["plot", "load", "value", "frame", "import", "self", "data", "return"];
    let mut state = 7u64;
    let mut out = Vec::new();
    while out.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.extend_from_slice(
            format!("{} = {} ", words[(state >> 61) as usize], (state >> 40) % 10_000).as_bytes(),
        );
    }
    out.truncate(size);
    out
}

fn rows(criterion: &mut Criterion) {
    for (name, codec) in [("zstd", Codec::Zstd(3)), ("lz4", Codec::Lz4), ("brotli", Codec::Brotli(4))] {
        let mut group = criterion.benchmark_group(name);
        for size in [30, 300, 17_000, 1_000_000] {
            let raw = text(size);
            let mut out = Vec::new();
            group.throughput(Throughput::Bytes(size as u64));
            group.bench_with_input(BenchmarkId::new("compress", size), &raw, |bencher, raw| {
                bencher.iter(|| compress(black_box(raw), Some(codec), &mut out));
            });
            let Some(length) = compress(&raw, Some(codec), &mut out).unwrap() else { continue };
            let stored = out[..length].to_vec();
            let mut content = vec![0; size];
            group.bench_with_input(BenchmarkId::new("decompress", size), &stored, |bencher, stored| {
                bencher.iter(|| match parse(black_box(stored)).unwrap() {
                    Value::Compressed(frame) => frame.decompress_into(room(&mut content)).unwrap().len(),
                    _ => unreachable!(),
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, rows);
criterion_main!(benches);
