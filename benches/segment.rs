//! What becomes of histories in segments, beside simpler ways to pack them: sizes and speeds.
//!
//! `cargo bench --bench segment` uses generated histories; `cargo bench --bench segment -- FOLDER` those that
//! `benches/segment_records.py` wrote. Speeds are medians of interleaved rounds, good for ratios only.
#![allow(clippy::unwrap_used)]

mod histories;

use std::time::Instant;

use histories::{Document, Row, plots, printing, records, typing};
use ypress::codec::zstd;
use ypress::segment::{Info, Record, info, pack, unpack};

const MAX_BYTES: usize = 16 << 20;
const ROUNDS: usize = 3;

/// Histories in the form of the golden records, by the part of the name before the last dash.
fn read(folder: &str) -> Vec<(String, Vec<Document>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "records"));
    files.sort();
    let mut stores: Vec<(String, Vec<Document>)> = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let store = stem.rsplit_once('-').map_or(&stem[..], |(store, _)| store).to_owned();
        let data = std::fs::read(&file).unwrap();
        let (mut rest, mut document) = (&data[..], Vec::new());
        while let Some((head, tail)) = rest.split_first_chunk::<16>() {
            let number = |at: usize| i32::from_le_bytes(head[at..at + 4].try_into().unwrap());
            let (update, tail) = tail.split_at(number(0) as usize);
            let (metadata, tail) = tail.split_at(number(4).max(0) as usize);
            document.push(Row {
                update: update.to_vec(),
                metadata: (number(4) >= 0).then(|| metadata.to_vec()),
                timestamp: f64::from_le_bytes(head[8..].try_into().unwrap()),
            });
            rest = tail;
        }
        match stores.last_mut().filter(|(name, _)| *name == store) {
            Some((_, documents)) => documents.push(document),
            None => stores.push((store, vec![document])),
        }
    }
    stores
}

/// Parts of at most `updates` records and about [`MAX_BYTES`].
fn parts<'a>(records: &'a [Record<'a>], updates: usize) -> Vec<&'a [Record<'a>]> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, record) in records.iter().enumerate() {
        if at - start == updates || (at > start && bytes + record.update.len() > MAX_BYTES) {
            parts.push(&records[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += record.update.len();
    }
    parts.push(&records[start..]);
    parts
}

fn zstd_size(bytes: &[u8], level: i32) -> usize {
    zstd::compress(bytes, level, &mut Vec::new(), 0, usize::MAX).unwrap().unwrap()
}

/// All updates one after the other, and the differences of the timestamps' bits, both in zstd.
fn concatenated(part: &[Record<'_>], level: i32) -> usize {
    let bytes: Vec<u8> = part.iter().flat_map(|record| record.update).copied().collect();
    zstd_size(&bytes, level) + differences(part, level)
}

fn differences(part: &[Record<'_>], level: i32) -> usize {
    let bits: Vec<u64> = part.iter().map(|record| record.timestamp.to_bits()).collect();
    let steps: Vec<u64> = bits.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    let planes: Vec<u8> =
        (0..8).flat_map(|plane| steps.iter().map(move |step| (step >> (8 * plane)) as u8)).collect();
    zstd_size(&planes, level)
}

/// Updates of equal length side by side, each column as it is or as differences, whichever has fewer distinct bytes;
/// long updates one after the other.
fn columns(part: &[Record<'_>], level: i32) -> usize {
    let mut groups: std::collections::BTreeMap<usize, Vec<&[u8]>> = Default::default();
    for record in part {
        let length = record.update.len();
        groups.entry(if length < 256 { length } else { 256 }).or_default().push(record.update);
    }
    let mut out = Vec::new();
    for (length, group) in groups {
        if length == 256 {
            group.iter().for_each(|update| out.extend_from_slice(update));
            continue;
        }
        for at in 0..length {
            let column: Vec<u8> = group.iter().map(|update| update[at]).collect();
            let delta: Vec<u8> = column.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
            let distinct = |bytes: &[u8]| bytes.iter().collect::<std::collections::BTreeSet<_>>().len();
            out.extend(if distinct(&delta) < distinct(&column) { delta } else { column });
        }
    }
    let lengths: Vec<u8> =
        part.iter().flat_map(|record| (record.update.len() as u32).to_le_bytes()).collect();
    zstd_size(&out, level) + zstd_size(&lengths, level) + differences(part, level)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn report(name: &str, documents: &[Document]) {
    let documents: Vec<Vec<Record<'_>>> = documents.iter().map(|document| records(document)).collect();
    let updates: usize = documents.iter().map(Vec::len).sum();
    let raw: usize = documents.iter().flatten().map(|record| record.update.len()).sum();
    println!("\n{name}: {updates} updates, {raw} bytes");
    let per_update = |size: usize| size as f64 / updates as f64;
    for (what, size) in [
        ("concatenated, zstd 3", &concatenated as &dyn Fn(&[Record<'_>], i32) -> usize),
        ("columns, zstd 3", &columns),
    ] {
        let sum =
            |limit| documents.iter().flat_map(|d| parts(d, limit)).map(|part| size(part, 3)).sum::<usize>();
        println!(
            "  {what:24} {:8.3} B/update in parts of 500, {:8.3} of 16,384",
            per_update(sum(500)),
            per_update(sum(16_384))
        );
    }
    for (limit, level) in
        [(500, 1), (2_000, 1), (8_192, 1), (16_384, 1), (16_384, 10), (65_536, 10), (65_536, 19)]
    {
        let parts: Vec<_> = documents.iter().flat_map(|document| parts(document, limit)).collect();
        let blobs: Vec<Vec<u8>> = parts.iter().map(|part| pack(part, level).unwrap()).collect();
        let infos: Vec<Info> = blobs.iter().map(|blob| info(blob).unwrap()).collect();
        let total = |size: fn(&Info) -> usize| per_update(infos.iter().map(size).sum());
        let (mut rows, mut packs, mut unpacks) = (vec![], vec![], vec![]);
        for _ in 0..if level < 10 { ROUNDS } else { 1 } {
            let start = Instant::now();
            let mut buffer = Vec::new();
            for record in documents.iter().flatten() {
                zstd::compress(record.update, 3, &mut buffer, 0, usize::MAX).unwrap();
            }
            rows.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            parts.iter().for_each(|part| drop(pack(part, level).unwrap()));
            packs.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            blobs.iter().for_each(|blob| drop(unpack(blob, usize::MAX).unwrap()));
            unpacks.push(start.elapsed().as_secs_f64());
        }
        let (rows, packs, unpacks) = (median(rows), median(packs), median(unpacks));
        println!(
            "  segments of {limit:6}, level {level:2} {:8.3} B/update: header {:.3} structure {:.3} text {:.3} \
             timestamps {:.3} literals {:.3}; pack {:.2}x as fast as zstd 3 by row, {:.2} M/s {:.0} MB/s; \
             unpack {:.2} M/s {:.0} MB/s",
            total(|info| info.stored_size),
            total(|info| info.header_size),
            total(|info| info.structure_size),
            total(|info| info.text_size),
            total(|info| info.timestamps_size),
            total(|info| info.literals_size),
            rows / packs,
            updates as f64 / packs / 1e6,
            raw as f64 / packs / 1e6,
            updates as f64 / unpacks / 1e6,
            raw as f64 / unpacks / 1e6,
        );
    }
}

fn main() {
    // Cargo passes options of its own.
    match std::env::args().skip(1).find(|argument| !argument.starts_with("--")) {
        Some(folder) => read(&folder).iter().for_each(|(name, documents)| report(name, documents)),
        None => {
            report("typing", &[typing(20_000)]);
            report("printing", &[printing(600)]);
            report("drawing", &[plots(40)]);
        }
    }
}
