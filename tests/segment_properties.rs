//! Segments under property tests: every input comes back, and nothing that was altered is taken for a segment.
#![allow(clippy::unwrap_used, clippy::type_complexity)]

use proptest::prelude::*;
use ypress::error::Error;
use ypress::segment::{self, Record, info, pack, unpack};

type Row = (Vec<u8>, Option<Vec<u8>>, f64);

fn records(rows: &[Row]) -> Vec<Record<'_>> {
    rows.iter()
        .map(|(update, metadata, timestamp)| Record {
            update,
            metadata: metadata.as_deref(),
            timestamp: *timestamp,
        })
        .collect()
}

fn bits(rows: &[Row]) -> Vec<(&[u8], Option<&[u8]>, u64)> {
    rows.iter().map(|(update, metadata, time)| (&update[..], metadata.as_deref(), time.to_bits())).collect()
}

fn packed(rows: &[Row]) -> Vec<u8> {
    pack(&records(rows), segment::DEFAULT_LEVEL).unwrap()
}

fn assert_same(blob: &[u8], rows: &[Row]) {
    let segment = unpack(blob, usize::MAX).unwrap();
    let back: Vec<_> =
        segment.iter().map(|record| (record.update, record.metadata, record.timestamp.to_bits())).collect();
    assert_eq!(back, bits(rows));
    let info = info(blob).unwrap();
    assert_eq!(info.updates, rows.len());
    assert_eq!(info.stored_size, blob.len());
    let raw: usize = rows.iter().map(|row| row.0.len() + row.1.as_ref().map_or(0, Vec::len)).sum();
    assert_eq!(info.raw_bytes, raw);
    if let [first, .., last] = rows {
        assert_eq!(info.first_timestamp.to_bits(), first.2.to_bits());
        assert_eq!(info.last_timestamp.to_bits(), last.2.to_bits());
    }
}

/// Bytes that look like updates more often than chance would have it.
fn update() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => 0u8..4,
        1 => prop::sample::select(&b"abcd \n"[..]),
        1 => prop::sample::select(&[0x84u8, 0xc4, 0x44, 0x28, 0x88, 0x08, 0x27, 0x01, 0x80, 0xff, 118, 119, 125][..]),
        1 => any::<u8>(),
    ];
    prop_oneof![
        4 => prop::collection::vec(byte, 0..40),
        2 => typed(),
        1 => repetitive(),
    ]
}

/// One inserted string and one deletion, with small numbers.
fn typed() -> impl Strategy<Value = Vec<u8>> {
    let number = 0u8..5;
    (number.clone(), number.clone(), number.clone(), number, "[a-cé🎈]{0,3}").prop_map(
        |(client, clock, origin, other, text)| {
            let mut update = vec![1, 1, client, clock, 0xc4, client, origin, other, origin, text.len() as u8];
            update.extend(text.as_bytes());
            update.extend([1, client, 1, origin, other]);
            update
        },
    )
}

/// Long strings that were nearly there before.
fn repetitive() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(0u8..3, 0..4), 0usize..300, any::<u8>(), 0usize..60).prop_map(
        |(period, length, byte, tail)| {
            let mut update: Vec<u8> =
                period.iter().copied().cycle().take(if period.is_empty() { 0 } else { length }).collect();
            update.extend((0..tail).map(|i| byte.wrapping_mul(i as u8)));
            update
        },
    )
}

fn timestamp() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (0u32..100_000).prop_map(|millis| 1.7e9 + f64::from(millis) / 1e3),
        Just(1.7e9),
        prop::sample::select(
            &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MIN, f64::MAX][..]
        ),
    ]
}

fn metadata() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![4 => Just(Some(vec![])), 2 => Just(None), 1 => prop::collection::vec(any::<u8>(), 0..80).prop_map(Some)]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((update(), metadata(), timestamp()), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_input_comes_back(rows in rows()) {
        assert_same(&packed(&rows), &rows);
    }

    #[test]
    fn alterations_are_noticed(rows in rows(), changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4)) {
        let blob = packed(&rows);
        let mut altered = blob.clone();
        for (index, change) in changes {
            let at = index.index(blob.len());
            altered[at] ^= change;
        }
        prop_assume!(altered != blob);
        prop_assert!(unpack(&altered, 1 << 20).is_err());
        let _ = info(&altered);
    }

    #[test]
    fn rubbish_is_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0u8..3) {
        let _ = unpack(&bytes, 1 << 20);
        if bytes.len() > 2 {
            bytes[0] = 0xfe;
            bytes[1] = version;
            prop_assert!(unpack(&bytes, 1 << 20).is_err());
        }
    }
}

fn session() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for clock in 0u8..60 {
        let mut update = vec![1, 1, 9, clock, 0x84, 9, clock.saturating_sub(1), 1, b'a' + clock % 26, 0];
        if clock % 7 == 6 {
            update = vec![0, 1, 9, 1, clock - 1, 1];
        }
        rows.push((update, Some(vec![]), 1.7e9 + f64::from(clock) * 0.217));
    }
    rows.push((b"a long one that is not an update, long enough to be kept whole. ".repeat(3), None, 1.7e9));
    rows
}

#[test]
fn each_byte_counts() {
    let blob = packed(&session());
    assert_same(&blob, &session());
    for at in 0..blob.len() {
        for flip in [1, 0x80, 0xff] {
            let mut altered = blob.clone();
            altered[at] ^= flip;
            let error = unpack(&altered, 1 << 20).unwrap_err();
            assert!(
                matches!(error, Error::Corrupt { .. } | Error::Unsupported { .. } | Error::TooLarge { .. }),
                "{at}: {error}"
            );
        }
        assert!(matches!(unpack(&blob[..at], 1 << 20), Err(Error::Corrupt { .. })), "cut at {at}");
    }
    let mut longer = blob.clone();
    longer.push(0);
    assert!(unpack(&longer, 1 << 20).is_err());
}

#[test]
fn a_later_version_is_unsupported() {
    let mut blob = packed(&session());
    blob[1] = segment::VERSION + 1;
    let version = segment::VERSION + 1;
    assert_eq!(
        unpack(&blob, 1 << 20).unwrap_err(),
        Error::Unsupported { format: "segment version", version }
    );
    assert_eq!(info(&blob).unwrap_err(), Error::Unsupported { format: "segment version", version });
}

#[test]
fn limits_hold_before_memory_is_taken() {
    let rows = session();
    let raw: usize = rows.iter().map(|row| row.0.len()).sum();
    let blob = packed(&rows);
    assert!(unpack(&blob, raw).is_ok());
    let size = raw as u64;
    assert_eq!(
        unpack(&blob, raw - 1).unwrap_err(),
        Error::TooLarge { format: "segment", size, limit: size - 1 }
    );
}

#[test]
fn nothing_is_something() {
    let blob = packed(&[]);
    assert_same(&blob, &[]);
    assert!(blob.len() < 16);
    assert_same(&packed(&[(vec![], None, f64::NAN)]), &[(vec![], None, f64::NAN)]);
}

#[test]
fn levels_have_a_range() {
    for level in [0, 20, -1] {
        assert!(matches!(pack(&[], level), Err(Error::Level { .. })));
    }
}

/// The records that must come out of a golden segment; see tests/golden/make_segments.py.
fn golden_records(bytes: &[u8]) -> Vec<Row> {
    let mut rest = bytes;
    let mut rows = Vec::new();
    while let Some((head, tail)) = rest.split_first_chunk::<16>() {
        let number = |at: usize| i32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let (update, tail) = tail.split_at(number(0) as usize);
        let (metadata, tail) = tail.split_at(number(4).max(0) as usize);
        let timestamp = f64::from_le_bytes(head[8..].try_into().unwrap());
        rows.push((update.to_vec(), (number(4) >= 0).then(|| metadata.to_vec()), timestamp));
        rest = tail;
    }
    rows
}

#[test]
fn golden_segments_read_for_ever() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "segment") {
            let rows = golden_records(&std::fs::read(path.with_extension("records")).unwrap());
            assert!(!rows.is_empty());
            assert_same(&std::fs::read(&path).unwrap(), &rows);
            seen += 1;
        }
    }
    assert!(seen >= 6, "the golden segments are missing");
}
