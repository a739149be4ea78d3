//! What other programs wrote is read, when it is whole and sound; what only looks like it stays as it is.

use std::io::Write;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn lz4(content: &[u8], configure: impl Fn(&mut lz4_flex::frame::FrameInfo)) -> Vec<u8> {
    let mut info = lz4_flex::frame::FrameInfo::new();
    configure(&mut info);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8], size: bool, checksum: bool) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::ContentSizeFlag(size)).unwrap();
    context.set_parameter(zstd_safe::CParameter::ChecksumFlag(checksum)).unwrap();
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    context.compress2(&mut out, content).unwrap();
    out
}

/// Every container around `content`, with its name, whether it proves its content, and whether several make one.
fn all(content: &[u8]) -> Vec<(&'static str, bool, bool, Vec<u8>)> {
    vec![
        ("zlib", true, false, zlib(content)),
        ("gzip", true, true, gzip(content)),
        ("lz4-frame", false, true, lz4(content, |_| {})),
        (
            "lz4-frame",
            true,
            true,
            lz4(content, |info| {
                info.content_size = Some(content.len() as u64);
                info.content_checksum = true;
                info.block_checksums = true;
                info.block_mode = lz4_flex::frame::BlockMode::Linked;
            }),
        ),
        ("zstd-frame", false, true, zstd(content, true, false)),
        ("zstd-frame", false, true, zstd(content, false, false)),
        ("zstd-frame", true, true, zstd(content, true, true)),
    ]
}

fn content_of(value: &[u8]) -> Option<Vec<u8>> {
    let decoded = decode(value, DEFAULT_MAX_SIZE).unwrap();
    assert_eq!(decoded.is_some(), is_container(value));
    decoded.map(|(_, content)| content)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whole_containers_are_read(content in vec(0u8..20, 0..3000), more in vec(any::<u8>(), 0..300)) {
        for (name, _, several, value) in all(&content) {
            prop_assert_eq!(Container::claimed(&value).map(Container::name), Some(name));
            prop_assert_eq!(content_of(&value), Some(content.clone()));
            for (other, _, _, second) in all(&more) {
                if other == name {
                    let both = [&value[..], &second].concat();
                    let expected = several.then(|| [&content[..], &more].concat());
                    prop_assert_eq!(content_of(&both), expected, "two of {}", name);
                }
            }
            prop_assert_eq!(content_of(&[&value[..], &[0]].concat()), None, "{} with a byte behind it", name);
        }
    }

    #[test]
    fn damaged_containers_are_raw(content in vec(0u8..20, 0..1500), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        for (name, proven, _, mut value) in all(&content) {
            let at = at.index(value.len());
            value[at] ^= 1 << bit;
            // Some bits carry nothing: a gzip time, a hint in a header.
            if let Some(found) = content_of(&value) {
                prop_assert!(!proven || found == content, "{}, byte {}", name, at);
            }
        }
    }

    #[test]
    fn rubbish_behind_a_magic(
        magic in prop::sample::select(all(b"").into_iter().map(|(_, _, _, value)| value).collect::<Vec<_>>()),
        keep in 2usize..16,
        body in vec(any::<u8>(), 0..400),
    ) {
        let value = [&magic[..keep.min(magic.len())], &body].concat();
        let _ = content_of(&value);
    }
}

#[test]
fn each_truncation_is_raw() {
    for content in [&b""[..], b"a", &b"many words, many many words, ".repeat(20), &[7; 100_000]] {
        for (name, _, _, value) in all(content) {
            for end in 0..value.len() {
                assert_eq!(content_of(&value[..end]), None, "{name} of {} cut at {end}", value.len());
            }
        }
    }
}

#[test]
fn a_limit_refuses_containers_but_never_raw_updates() {
    let content = vec![7; 100_000];
    for (name, _, _, value) in all(&content) {
        assert_eq!(decode(&value, 100_000).unwrap().unwrap().1, content);
        match decode(&value, 99_999) {
            Err(Error::TooLarge { format, size, limit }) => {
                assert_eq!((format, size, limit), (name, 100_000, 99_999));
            }
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(
            decode(&value[..value.len() - 1], 10),
            Ok(None),
            "{name} is cut off, so it is a raw update"
        );
    }
}

#[test]
fn a_window_larger_than_any_limit_costs_nothing() {
    // A frame of one byte whose header asks for a window of 2 TiB less one: descriptor 0, window exponent 31.
    let huge = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x0b, 0, 0, b'x', 0];
    let _ = content_of(&huge);
    // The same with a window of 2 GiB and a block of one raw byte: sound, so it is read, without the window.
    let wide = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x09, 0, 0, b'x'];
    assert_eq!(content_of(&wide), Some(vec![b'x']));
}

/// zlib refuses codes that are of no length or distance; libdeflate takes them for the longest length, for one.
#[test]
fn codes_without_a_meaning_are_unsound() {
    let value = |stream: [u8; 4], check: [u8; 4]| [&[0x78, 0x5e], &stream[..], &check].concat();
    let long = [0xd9, 0xa8, 0x62, 0x24];
    assert_eq!(content_of(&value([75, 28, 5, 0], long)), Some(vec![b'a'; 259]));
    for length_code in [[75, 28, 3, 0], [75, 28, 7, 0]] {
        assert_eq!(decode(&value(length_code, long), 1 << 20), Ok(None));
    }
    let short = [0x03, 0xce, 0x01, 0x85];
    assert_eq!(content_of(&value([75, 4, 2, 0], short)), Some(vec![b'a'; 4]));
    for distance_code in [[75, 4, 62, 0], [75, 4, 126, 0]] {
        assert_eq!(decode(&value(distance_code, short), 1 << 20), Ok(None));
    }
}

/// A frame whose window is refused, after one that was read: the error says what both claim, not how far reading came.
#[test]
fn the_size_of_what_is_too_large_is_above_the_limit() {
    let frames = [
        40, 181, 47, 253, 96, 37, 90, 77, 0, 0, 16, 0, 0, 1, 0, 32, 219, 14, 176, 40, 181, 47, 253, 4, 168,
        77, 0, 0, 16, 0, 0, 1, 0, 0, 219, 14, 176, 84, 165, 254, 177, 40, 181, 47, 253, 100, 38, 90, 77, 0,
        0, 16, 0, 40, 181, 0, 33, 219, 14, 176, 192, 135, 233, 108,
    ];
    let error = decode(&frames, 131_072);
    assert!(matches!(error, Err(Error::TooLarge { size, .. }) if size > 131_072), "{error:?}");
}

/// zlib refuses a reference to before the beginning; a lenient decoder takes it for zeros.
#[test]
fn references_to_before_the_beginning_are_unsound() {
    let stream = [131, 0, 0];
    let value = [&[0x78, 0x5e], &stream[..], &[0, 6, 0, 1]].concat();
    assert_eq!(decode(&value, 1 << 20), Ok(None));
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let check = [0xa3, 0xa1, 0xc2, 0xb1, 6, 0, 0, 0];
    assert_eq!(decode(&[&header[..], &stream, &check].concat(), 1 << 20), Ok(None));
}
