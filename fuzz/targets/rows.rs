//! Any bytes through every codec and level: what comes back is what went in, and other decoders read it too.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::{arbitrary, fuzz_target};
use ypress::codec::Codec;
use ypress::frame::{self, Method, Value};
use ypress::{foreign, varint};
use ypress_fuzz::references;

thread_local! {
    // Used again for every value, as the Python module does.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    codec: u8,
    level: u8,
    /// Repeated, so that values become long enough for every strategy of a codec.
    times: u16,
    /// Every so many bytes one is changed.
    change: u16,
    raw: &'a [u8],
}

fn value(input: &Input<'_>, codec: Option<Codec>) -> Vec<u8> {
    let largest = match codec {
        // The thorough levels are slow.
        Some(Codec::Zstd(13..) | Codec::Brotli(6..)) => 8_000,
        _ => 80_000,
    };
    let times = usize::from(input.times).min(largest / input.raw.len().max(1)).max(1);
    let mut value = input.raw.repeat(times);
    if input.change > 8 {
        for (number, byte) in value.iter_mut().step_by(usize::from(input.change)).enumerate().skip(1) {
            *byte = (number as u8).wrapping_mul(151);
        }
    }
    value
}

fn codec(input: &Input<'_>) -> Option<Codec> {
    let level = i32::from(input.level);
    Some(match input.codec % 8 {
        0 => return None,
        1 | 2 => Codec::Lz4,
        3..6 => Codec::Zstd(level % 27 - 7),
        _ => Codec::Brotli(level % 12),
    })
}

/// What a frame of ours carries, by decoders that we do not use.
fn content(method: Method, stored: &[u8]) -> Option<Vec<u8>> {
    let (length, header) = varint::read(&stored[2..]).ok()?;
    let payload = &stored[2 + header..stored.len() - 4];
    match method {
        Method::Verbatim => None,
        Method::Lz4 => references::lz4_block(payload, length as usize),
        Method::Zstd => references::zstd_in_rust(payload),
        Method::Brotli => references::brotli(payload, length as usize),
    }
}

fuzz_target!(|input: Input<'_>| {
    let codec = codec(&input);
    let raw = value(&input, codec);
    BUFFER.with_borrow_mut(|buffer| {
        let Some(length) = frame::compress(&raw, codec, buffer).unwrap() else {
            assert!(!frame::has_tag(&raw) && !foreign::is_container(&raw));
            assert_eq!(frame::parse(&raw), Ok(Value::Untagged));
            return;
        };
        let stored = &buffer[..length];
        match frame::parse(stored).unwrap() {
            Value::Verbatim(content) => {
                assert!(content == raw && length == raw.len() + 2);
                assert!(frame::has_tag(&raw) || foreign::is_container(&raw));
            }
            Value::Compressed(frame) => {
                assert!(length < raw.len());
                assert!(frame.decompress(raw.len()).unwrap() == raw);
                assert!(frame.decompress(raw.len() - 1).is_err());
                assert!(content(frame.method, stored).unwrap() == raw, "{:?}", frame.method);
            }
            Value::Untagged => panic!("a frame without a tag"),
        }
    });
});
