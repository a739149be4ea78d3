//! Sizes and speeds of segments.
#![allow(clippy::unwrap_used, clippy::type_complexity)]

use std::time::Instant;
use ypress::segment::{Record, info, pack, unpack};

struct Document {
    data: Vec<u8>,
    rows: Vec<(usize, usize, Option<(usize, usize)>, f64)>,
}

fn load(path: &str) -> Vec<Document> {
    let data = std::fs::read(path).unwrap();
    let mut at = 0;
    let mut documents = Vec::new();
    let u32_at = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
    while at < data.len() {
        let count = u32_at(at);
        at += 4;
        let mut rows = Vec::new();
        for _ in 0..count {
            let length = u32_at(at) as usize;
            let meta = u32_at(at + 4) as i32;
            let time = f64::from_le_bytes(data[at + 8..at + 16].try_into().unwrap());
            at += 16;
            let m = (meta >= 0).then(|| (at + length, at + length + meta as usize));
            rows.push((at, at + length, m, time));
            at += length + meta.max(0) as usize;
        }
        documents.push(Document { data: data.clone(), rows });
    }
    documents
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let per: usize = args[0].parse().unwrap();
    let level: i32 = args[1].parse().unwrap();
    let max_raw: usize = 16 << 20;
    for path in &args[2..] {
        let (mut n, mut raw, mut stored, mut segs) = (0, 0, 0, 0);
        let mut parts = [0usize; 6];
        let (mut tp, mut tu, mut tz) = (0.0, 0.0, 0.0);
        for doc in load(path) {
            let records: Vec<Record> = doc
                .rows
                .iter()
                .map(|&(a, b, m, t)| Record {
                    update: &doc.data[a..b],
                    metadata: m.map(|(a, b)| &doc.data[a..b]),
                    timestamp: t,
                })
                .collect();
            let mut start = 0;
            while start < records.len() {
                let mut end = start;
                let mut size = 0;
                while end < records.len() && end - start < per && (size < max_raw) {
                    size += records[end].update.len();
                    end += 1;
                }
                let chunk = &records[start..end];
                let t = Instant::now();
                let mut o = Vec::new();
                for r in chunk {
                    std::hint::black_box(
                        ypress::codec::zstd::compress(r.update, 3, &mut o, 0, usize::MAX).unwrap(),
                    );
                }
                tz += t.elapsed().as_secs_f64();
                let t = Instant::now();
                let blob = pack(chunk, level).unwrap();
                tp += t.elapsed().as_secs_f64();
                let t = Instant::now();
                let mut seg = unpack(&blob, 1 << 30).unwrap();
                for _ in 1..std::env::var("REPEAT").map_or(1, |r| r.parse().unwrap()) {
                    seg = unpack(&blob, 1 << 30).unwrap();
                }
                tu += t.elapsed().as_secs_f64();
                assert_eq!(seg.len(), chunk.len());
                for (a, b) in seg.iter().zip(chunk) {
                    assert!(
                        a.update == b.update
                            && a.metadata == b.metadata
                            && a.timestamp.to_bits() == b.timestamp.to_bits()
                    );
                }
                let i = info(&blob).unwrap();
                n += i.updates;
                raw += i.raw_bytes;
                stored += blob.len();
                segs += 1;
                for (p, v) in parts.iter_mut().zip([
                    i.header_size,
                    i.structure_size,
                    i.text_size,
                    i.timestamps_size,
                    i.literals_size,
                    i.literals_raw_size,
                ]) {
                    *p += v;
                }
                start = end;
            }
        }
        println!(
            "{path} per {per} level {level}: {n} updates, raw {raw}, stored {stored} = {:.3} B/update, {segs} segments",
            stored as f64 / n as f64
        );
        let [h, s, x, t, l, lr] = parts.map(|p| p as f64 / n as f64);
        println!(
            "   header {h:.3} structure {s:.3} text {x:.3} times {t:.3} literals {l:.3} (raw {lr:.3}) B/update; zstd rows {:.2} M/s pack {:.2} M/s {:.0} MB/s, unpack {:.2} M/s {:.0} MB/s",
            n as f64 / tz / 1e6,
            n as f64 / tp / 1e6,
            raw as f64 / tp / 1e6,
            n as f64 / tu / 1e6,
            raw as f64 / tu / 1e6
        );
    }
}
