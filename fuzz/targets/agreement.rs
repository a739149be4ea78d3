//! What our decoders make of any payload, against other decoders of the same formats.
#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use ypress::codec::{brotli, lz4, room, zstd};
use ypress::error::Result;
use ypress::foreign;
use ypress_fuzz::references;

const LIMIT: usize = 1 << 20;

#[derive(Debug, arbitrary::Arbitrary)]
enum Input<'a> {
    Lz4Block(&'a [u8]),
    Zstd(&'a [u8]),
    Brotli(&'a [u8]),
    Zlib { level: u8, stream: &'a [u8] },
    Gzip { name: Option<&'a str>, members: u8, stream: &'a [u8] },
    ZstdFrames(&'a [u8]),
    Lz4Frames(&'a [u8]),
}

/// What a decoder writes into a room of this size.
fn ours(decode: fn(&[u8], &mut [u8]) -> Result<()>, payload: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut content = vec![0xa5; length];
    decode(payload, &mut content).ok().map(|()| content)
}

/// The content of a container; all of these are below the limit.
fn opened(value: &[u8]) -> Option<Vec<u8>> {
    foreign::decode(value, LIMIT).unwrap_or_default().map(|(_, content)| content)
}

fn lz4_block(payload: &[u8]) {
    let theirs = references::lz4_block(payload, LIMIT);
    let length = theirs.as_ref().map_or(payload.len(), Vec::len);
    let content = ours(|payload, out| lz4::decompress(payload, room(out)).map(drop), payload, length);
    // liblz4 insists on how a block ends, which the other decoder does not; it knows what to make of the offset 0, which
    // the other refuses. What both read is the same.
    if let (Some(content), Some(theirs)) = (content, theirs) {
        assert!(content == theirs);
    }
}

fn zstd_payload(payload: &[u8]) {
    let decode = |payload: &[u8], out: &mut [u8]| zstd::decompress(payload, room(out)).map(drop);
    match references::zstd_magicless(payload, LIMIT) {
        // libzstd repeats a byte more often than a block may hold, which its compressor never asks for.
        Some(theirs) if theirs.len() as u64 > zstd::largest_content(payload.len()) => {}
        Some(theirs) => {
            assert!(ours(decode, payload, theirs.len()).unwrap() == theirs);
            assert!(ours(decode, payload, theirs.len() + 1).is_none());
            assert!(theirs.is_empty() || ours(decode, payload, theirs.len() - 1).is_none());
        }
        None => assert!(ours(decode, payload, payload.len()).is_none()),
    }
}

fn brotli_payload(payload: &[u8]) {
    let decode = |payload: &[u8], out: &mut [u8]| brotli::decompress(payload, room(out)).map(drop);
    match references::brotli(payload, LIMIT) {
        Some(theirs) => {
            let content = ours(decode, payload, theirs.len());
            assert!(content.is_none_or(|content| content == theirs));
            assert!(ours(decode, payload, theirs.len() + 1).is_none());
            assert!(theirs.len() as u64 <= brotli::largest_content(payload.len()));
        }
        None => assert!(ours(decode, payload, payload.len()).is_none()),
    }
}

fn zlib(level: u8, stream: &[u8]) {
    let mut value = vec![0x78, level & 0xc0];
    value[1] |= (31 - u16::from_be_bytes([0x78, value[1]]) % 31) as u8;
    value.extend_from_slice(stream);
    let theirs = references::deflate(stream, LIMIT);
    let check = theirs.as_ref().map_or(0, |content| references::adler32(content));
    value.extend(check.to_be_bytes());
    assert_eq!(opened(&value), theirs);
}

fn gzip(name: Option<&str>, members: u8, stream: &[u8]) {
    let name = name.filter(|name| !name.contains('\0'));
    let theirs = references::deflate(stream, LIMIT >> 2);
    let mut member = vec![0x1f, 0x8b, 8, if name.is_some() { 8 } else { 0 }, 1, 2, 3, 4, 0, 255];
    if let Some(name) = name {
        member.extend_from_slice(name.as_bytes());
        member.push(0);
    }
    member.extend_from_slice(stream);
    let content = theirs.as_deref().unwrap_or_default();
    member.extend(references::crc32(content).to_le_bytes());
    member.extend((content.len() as u32).to_le_bytes());
    let members = usize::from(members % 4 + 1);
    assert!(opened(&member.repeat(members)) == theirs.map(|content| content.repeat(members)));
}

fn zstd_frames(bytes: &[u8]) {
    let value = [&[0x28, 0xb5, 0x2f, 0xfd], bytes].concat();
    // libzstd is stricter where it reads piece by piece: see above.
    let (strict, lax) = (references::zstd_stream(&value, LIMIT), references::zstd_frames(&value, LIMIT));
    let content = opened(&value);
    assert!(content == strict || content == lax);
}

fn lz4_frames(bytes: &[u8]) {
    let value = [&[0x04, 0x22, 0x4d, 0x18], bytes].concat();
    if let (Some(content), Some(theirs)) = (opened(&value), references::lz4_frames(&value, LIMIT)) {
        assert!(content == theirs);
    }
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Lz4Block(payload) => lz4_block(payload),
    Input::Zstd(payload) => zstd_payload(payload),
    Input::Brotli(payload) => brotli_payload(payload),
    Input::Zlib { level, stream } => zlib(level, stream),
    Input::Gzip { name, members, stream } => gzip(name, members, stream),
    Input::ZstdFrames(bytes) => zstd_frames(bytes),
    Input::Lz4Frames(bytes) => lz4_frames(bytes),
});
