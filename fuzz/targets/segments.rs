//! Any records through pack and unpack, at every level.
#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use ypress::segment::{LEVELS, info, pack, unpack};
use ypress_fuzz::records::{Step, borrowed, rows};

#[derive(Debug, arbitrary::Arbitrary)]
struct Input {
    level: u8,
    steps: Vec<Step>,
}

fuzz_target!(|input: Input| {
    let rows = rows(&input.steps);
    let level = i32::from(input.level) % LEVELS.end() + 1;
    let blob = pack(&borrowed(&rows), level).unwrap();
    let size: usize =
        rows.iter().map(|(update, meta, _)| update.len() + meta.as_ref().map_or(0, Vec::len)).sum();

    let info = info(&blob).unwrap();
    assert_eq!((info.updates, info.raw_bytes, info.stored_size), (rows.len(), size, blob.len()));
    let segment = unpack(&blob, size).unwrap();
    assert_eq!(segment.len(), rows.len());
    for (record, (update, metadata, timestamp)) in segment.iter().zip(&rows) {
        assert_eq!(record.update, update);
        assert_eq!(record.metadata, metadata.as_deref());
        assert_eq!(record.timestamp.to_bits(), timestamp.to_bits());
    }
    if size > 0 {
        assert!(unpack(&blob, size - 1).is_err());
    }
});
