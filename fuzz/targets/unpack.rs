//! Any bytes as a segment: unpacked, or refused with an error, within the limits. Never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ypress::error::Error;
use ypress::segment::{info, pack, unpack};
use ypress_fuzz::memory::{Counting, measured};

#[global_allocator]
static MEMORY: Counting = Counting;

/// The models, and what a record takes beside its bytes.
const MODELS: usize = 32 << 20;
const RECORD: usize = 128;

fuzz_target!(|input: &[u8]| {
    let Some((&[low, high], blob)) = input.split_first_chunk() else { return };
    let max_size = usize::from(u16::from_le_bytes([low, high])) << 4;
    let info = info(blob);
    let (segment, taken) = measured(|| unpack(blob, max_size));
    let updates = info.as_ref().map_or(0, |info| info.updates);
    assert!(
        taken <= MODELS + RECORD * updates + 8 * max_size,
        "{taken} bytes for {updates} updates, {max_size}"
    );
    match segment {
        Ok(segment) => {
            let info = info.unwrap();
            assert_eq!(segment.len(), info.updates);
            let size = |record: &ypress::segment::Record<'_>| {
                record.update.len() + record.metadata.map_or(0, <[u8]>::len)
            };
            let records: Vec<_> = segment.iter().collect();
            // Records in a row share their metadata, which is counted once each.
            assert!(records.iter().map(size).sum::<usize>() == info.raw_bytes);
            assert!(info.raw_bytes <= max_size);
            assert_eq!(unpack(&pack(&records, 1).unwrap(), max_size).unwrap().len(), records.len());
        }
        Err(Error::TooLarge { size, limit, .. }) => assert!(size > limit && limit == max_size as u64),
        Err(Error::Corrupt { offset, .. }) => assert!(offset <= blob.len()),
        Err(Error::Unsupported { .. }) => assert!(info.is_err()),
        Err(error) => panic!("{error}"),
    }
});
