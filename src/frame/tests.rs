//! Claims of the frame: everything comes back, nothing grows, nothing damaged passes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::codec::Codec;
use crate::error::Error;
use crate::foreign;
use crate::limits::DEFAULT_MAX_SIZE;

const CODECS: [Codec; 7] = [
    Codec::Zstd(-7),
    Codec::Zstd(3),
    Codec::Zstd(19),
    Codec::Lz4,
    Codec::Brotli(0),
    Codec::Brotli(4),
    Codec::Brotli(11),
];

/// What is stored for `raw`.
fn store(raw: &[u8], codec: Codec) -> Vec<u8> {
    // A buffer full of rubbish, as one that was used before.
    let mut out = vec![0xa5; 100];
    match compress(raw, Some(codec), &mut out).unwrap() {
        Some(length) => out[..length].to_vec(),
        None => raw.to_vec(),
    }
}

/// What a reader gets, by the plainest use of the parts.
fn load(stored: &[u8], max_size: usize) -> Result<Vec<u8>, Error> {
    Ok(match parse(stored)? {
        Value::Untagged => {
            foreign::decode(stored, max_size)?.map_or_else(|| stored.to_vec(), |(_, content)| content)
        }
        Value::Verbatim(content) => content.to_vec(),
        Value::Compressed(frame) => frame.decompress(max_size)?,
    })
}

fn round_trip(raw: &[u8], codec: Codec) -> Vec<u8> {
    let stored = store(raw, codec);
    assert_eq!(load(&stored, DEFAULT_MAX_SIZE).unwrap(), raw, "{codec:?}");
    let escaped = stored.starts_with(&[0x80, 0]);
    assert!(stored.len() <= raw.len() + if escaped { 2 } else { 0 }, "{codec:?} grew {} bytes", raw.len());
    assert!(!escaped || must_escape(raw));
    stored
}

/// Compressible, and different at every position.
fn text(length: usize) -> Vec<u8> {
    (0..length / 8 + 1)
        .flat_map(|number| format!("{:07} ", number * number).into_bytes())
        .take(length)
        .collect()
}

/// Not compressible.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

fn any_codec() -> impl Strategy<Value = Codec> {
    prop::sample::select(CODECS.to_vec())
}

/// Bytes of every kind that matters: noise, repetition, small alphabets, prefixes that mean something.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        vec(any::<u8>(), 0..300),
        vec(0u8..4, 0..2000),
        (vec(any::<u8>(), 1..20), 1usize..200).prop_map(|(piece, times)| piece.repeat(times)),
    ];
    let prefix = prop::sample::select(vec![
        vec![],
        vec![0x80, 0],
        vec![0x81, 0],
        vec![0x82, 0, 0x40],
        vec![0x83, 0],
        vec![0xff, 0],
        vec![0x78, 0x01],
        vec![0x78, 0x9c],
        vec![0x1f, 0x8b, 8, 0],
        vec![0x28, 0xb5, 0x2f, 0xfd],
        vec![0x04, 0x22, 0x4d, 0x18],
    ]);
    (prefix, body).prop_map(|(prefix, body)| [prefix, body].concat())
}

proptest! {
    #[test]
    fn everything_comes_back_and_nothing_grows(raw in any_bytes(), codec in any_codec()) {
        round_trip(&raw, codec);
    }

    #[test]
    fn frames_of_frames_come_back(raw in any_bytes(), codecs in vec(any_codec(), 1..6)) {
        let mut layers = vec![raw];
        for &codec in &codecs {
            let stored = round_trip(layers.last().unwrap(), codec);
            layers.push(stored);
        }
        // And so do several behind each other, as one value.
        round_trip(&layers.concat(), codecs[0]);
    }

    #[test]
    fn rubbish_behind_a_tag_is_an_error_or_verified(tag in 0x80u8..=0xff, body in vec(any::<u8>(), 0..200)) {
        let value = [vec![tag, 0], body].concat();
        match load(&value, 1 << 20) {
            Err(Error::Unsupported { version, .. }) => prop_assert_eq!(version, tag & 0x7f),
            Err(_) => {}
            Ok(content) => prop_assert!(tag != 0x80 || must_escape(&content)),
        }
    }

    #[test]
    fn altered_frames_never_give_other_bytes(
        codec in any_codec(),
        size in 64usize..3000,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let raw = text(size);
        let mut value = store(&raw, codec);
        let untouched = value.clone();
        for (index, byte) in changes {
            let at = index.index(value.len());
            value[at] = byte;
        }
        let end = cut.index(value.len() * 4).min(value.len());
        value.truncate(end);
        if let Ok(content) = load(&value, 1 << 20) {
            prop_assert!(content == raw || (!has_tag(&value) && content == value) || value == untouched);
        }
    }
}

#[test]
fn sizes_around_every_limit() {
    for codec in CODECS {
        let near: &[usize] = match codec {
            // Too slow for larger ones in a build without optimisation.
            Codec::Brotli(11) | Codec::Zstd(19) => &[0, 2, SMALLEST, 128],
            _ => &[0, 2, SMALLEST, 128, 4096, 16384, 131_072],
        };
        for size in near.iter().flat_map(|&size| size.saturating_sub(2)..=size + 2) {
            for raw in [text(size), vec![0; size], noise(size)] {
                let stored = round_trip(&raw, codec);
                if size >= 127 && raw[0] != 0 && raw[1] == b'0' {
                    assert!(stored.len() < raw.len(), "{codec:?} did not compress text of {size} bytes");
                }
            }
        }
    }
}

#[test]
fn what_looks_like_a_frame_or_a_container_is_escaped() {
    for codec in CODECS {
        for raw in [&[0x80, 0][..], &[0x82, 0, 1], &[0xff, 0, 7, 8]] {
            assert_eq!(store(raw, codec), [&[0x80, 0], raw].concat());
        }
        assert_eq!(compress(&[0x80, 0], None, &mut Vec::new()), Ok(Some(4)));
        // An empty zlib stream: a reader without the tag would give back nothing at all.
        let zlib = [0x78, 0x9c, 0x03, 0, 0, 0, 0, 1];
        assert_eq!(store(&zlib, codec), [&[0x80, 0], &zlib[..]].concat());
        assert_eq!(store(&zlib[..7], codec), &zlib[..7]);
    }
}

#[test]
fn without_a_codec_only_what_could_be_mistaken_is_marked() {
    let mut out = vec![0xa5; 9];
    assert_eq!(compress(&text(500), None, &mut out), Ok(None));
    let frame = store(&text(500), Codec::Lz4);
    let length = compress(&frame, None, &mut out).unwrap().unwrap();
    assert_eq!(load(&out[..length], DEFAULT_MAX_SIZE).unwrap(), frame);
}

#[test]
fn each_truncation_and_each_bit_flip() {
    for codec in CODECS {
        let raw = text(200);
        let stored = store(&raw, codec);
        assert!(stored.len() < raw.len());
        for end in 0..stored.len() {
            match load(&stored[..end], DEFAULT_MAX_SIZE) {
                Ok(content) => assert!(end < 2 && content == stored[..end]),
                Err(error) => assert!(matches!(error, Error::Corrupt { .. }), "{codec:?} {end}: {error}"),
            }
        }
        for bit in 0..stored.len() * 8 {
            let mut value = stored.clone();
            value[bit / 8] ^= 1 << (bit % 8);
            match load(&value, DEFAULT_MAX_SIZE) {
                Err(_) => {}
                Ok(content) => {
                    assert!(content == raw || (bit < 16 && content == value), "{codec:?} bit {bit}")
                }
            }
        }
        for extra in [&[0][..], &stored, &[0; 50]] {
            assert!(load(&[&stored[..], extra].concat(), DEFAULT_MAX_SIZE).is_err(), "{codec:?}");
        }
    }
}

/// A frame with any header that one likes.
fn forged(method: u8, length: u64, payload: &[u8], check: u32) -> Vec<u8> {
    let mut value = vec![0x80 | method, 0];
    crate::varint::write(&mut value, length);
    value.extend_from_slice(payload);
    value.extend_from_slice(&check.to_le_bytes());
    value
}

#[test]
fn claims_are_checked_before_memory_is_taken() {
    for method in 1..=3 {
        // 13 bytes that claim a terabyte.
        let value = forged(method, 1 << 40, &[0], 0);
        assert_eq!(value.len(), 13);
        assert!(load(&value, usize::MAX).is_err());
        let Value::Compressed(frame) = parse(&value).unwrap() else { panic!("no frame") };
        assert!(frame.content_length(DEFAULT_MAX_SIZE).is_err());
        // As much as is allowed, from a payload that cannot hold it.
        let value = forged(method, DEFAULT_MAX_SIZE as u64, &[0], 0);
        let Value::Compressed(frame) = parse(&value).unwrap() else { panic!("no frame") };
        assert!(matches!(frame.content_length(usize::MAX), Err(Error::Corrupt { .. })));
    }
    let stored = store(&text(5000), Codec::Zstd(3));
    let too_large = Error::TooLarge { format: "ypress frame", size: 5000, limit: 4999 };
    assert_eq!(load(&stored, 4999), Err(too_large));
    assert_eq!(load(&stored, 5000).unwrap(), text(5000));
}

#[test]
fn the_length_must_be_the_true_one() {
    for codec in CODECS {
        let raw = text(1000);
        let stored = store(&raw, codec);
        let method = stored[0] & 0x7f;
        // Behind the tag and a length of two bytes, before the check.
        let (payload, check) = stored[4..].split_last_chunk::<4>().unwrap();
        let check = u32::from_le_bytes(*check);
        assert_eq!(forged(method, 1000, payload, check), stored);
        for length in [0, 1, 999, 1001, 1100] {
            let value = forged(method, length, payload, check);
            assert!(
                matches!(load(&value, DEFAULT_MAX_SIZE), Err(Error::Corrupt { .. })),
                "{codec:?} {length}"
            );
        }
        // A padded length would let one content have many frames.
        let padded = [&stored[..2], &[0xe8, 0x87, 0x00], &stored[4..]].concat();
        assert!(matches!(load(&padded, DEFAULT_MAX_SIZE), Err(Error::Corrupt { offset: 2, .. })));
        let other = forged(method, 1000, payload, check ^ 1);
        let end = (stored.len() - 4) as u64;
        assert!(
            matches!(load(&other, DEFAULT_MAX_SIZE), Err(Error::Corrupt { offset, .. }) if offset as u64 == end)
        );
    }
}

#[test]
fn unknown_methods_are_from_the_future() {
    for method in 4..0x80u8 {
        let error = parse(&[0x80 | method, 0, 1, 2, 3]).unwrap_err();
        assert_eq!(error, Error::Unsupported { format: "frame method", version: method });
    }
}

#[test]
fn levels_have_ranges() {
    for (name, low, high) in [("zstd", -7, 19), ("brotli", 0, 11)] {
        for level in low - 2..=high + 2 {
            let codec = Codec::new(name, Some(level)).unwrap();
            assert_eq!(codec.is_ok(), (low..=high).contains(&level), "{name} {level}");
            if let Ok(codec) = codec {
                assert_eq!(codec.parts(), (name, Some(level)));
                round_trip(&text(300), codec);
            }
        }
    }
    assert!(Codec::new("lz4", Some(0)).unwrap().is_err());
    assert_eq!(Codec::new("zstd", None), Some(Ok(Codec::Zstd(3))));
    assert_eq!(Codec::new("brotli", None), Some(Ok(Codec::Brotli(4))));
    assert_eq!(Codec::new("lz4", None), Some(Ok(Codec::Lz4)));
    assert_eq!(Codec::new("snappy", None), None);
}
