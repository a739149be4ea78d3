//! The outside of a segment: its header, and the streams that it holds.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use super::time::Unit;
use super::{FORMAT, MAX_BYTES, MAX_UPDATES, VERSION};
use crate::error::{Error, Result};
use crate::varint;

/// The first byte: neither an update nor a frame begins with it and a version after it.
const TAG: u8 = 0xfe;
const CHECK: usize = 8;
/// The most literals that brotli compresses: it is slow, and a few of its bytes may claim any number.
pub(super) const MAX_BROTLI: usize = 4 << 20;

/// How a segment says what it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The version of the format.
    pub version: u8,
    /// The number of updates.
    pub updates: usize,
    /// The length of all updates and their metadata.
    pub raw_bytes: usize,
    /// The first timestamp; 0.0 without updates.
    pub first_timestamp: f64,
    /// The last timestamp.
    pub last_timestamp: f64,
    /// The length of the blob.
    pub stored_size: usize,
    /// Bytes for the header and the check.
    pub header_size: usize,
    /// Bytes for the shapes of updates and for their numbers.
    pub structure_size: usize,
    /// Bytes for short strings: typed text, names, values.
    pub text_size: usize,
    /// Bytes for the timestamps.
    pub timestamps_size: usize,
    /// Bytes for what is new in long strings, compressed.
    pub literals_size: usize,
    /// The same before compression.
    pub literals_raw_size: usize,
}

/// What the literals are compressed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Zstd = 0,
    Brotli = 1,
}

/// The parts of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub updates: usize,
    pub raw_bytes: usize,
    pub unit: Unit,
    pub first: f64,
    pub last: f64,
    /// Structure, text, timestamps, noise of the timestamps, literals.
    pub streams: [&'a [u8]; 5],
    /// The length of the literals, once decompressed.
    pub literals: usize,
    /// What they are compressed with.
    pub method: Method,
}

/// Covers the content and, by way of the seed, every other byte of the blob.
pub(super) fn check(blob_without_check: [&[u8]; 2], content: [&[u8]; 3]) -> u64 {
    let mut outer = XxHash3_64::new();
    blob_without_check.iter().for_each(|part| outer.write(part));
    let mut inner = XxHash3_64::with_seed(outer.finish());
    content.iter().for_each(|part| inner.write(part));
    inner.finish()
}

/// What is checked of one record beside its bytes.
pub(super) fn index_entry(out: &mut Vec<u8>, update: usize, metadata: Option<usize>, timestamp: f64) {
    out.extend((update as u32).to_le_bytes());
    out.extend(metadata.map_or(0, |length| length as u32 + 1).to_le_bytes());
    out.extend(timestamp.to_bits().to_le_bytes());
}

/// Lay `parts` out as a blob. `content`: all updates, all metadata, all index entries.
pub(super) fn write(parts: &Parts<'_>, content: [&[u8]; 3]) -> Vec<u8> {
    let mut blob = vec![TAG, VERSION];
    blob.extend([0; CHECK]);
    varint::write(&mut blob, parts.updates as u64);
    if parts.updates > 0 {
        varint::write(&mut blob, parts.raw_bytes as u64);
        blob.push(parts.unit as u8);
        blob.extend(parts.first.to_bits().to_le_bytes());
        let span = parts.unit.number(parts.last).wrapping_sub(parts.unit.number(parts.first));
        varint::write(&mut blob, super::coder::zigzag(span));
        for stream in parts.streams {
            varint::write(&mut blob, stream.len() as u64);
        }
        if !parts.streams[4].is_empty() {
            varint::write(&mut blob, parts.literals as u64);
            blob.push(parts.method as u8);
        }
        parts.streams.iter().for_each(|stream| blob.extend_from_slice(stream));
    }
    let check = check([&blob[..2], &blob[2 + CHECK..]], content);
    blob[2..2 + CHECK].copy_from_slice(&check.to_le_bytes());
    blob
}

/// A place in the header.
struct Header<'a> {
    blob: &'a [u8],
    at: usize,
}

impl<'a> Header<'a> {
    fn damaged(&self, problem: &'static str) -> Error {
        Error::corrupt(FORMAT, self.at, problem)
    }

    fn number(&mut self, limit: usize, problem: &'static str) -> Result<usize> {
        let value = self.long()?;
        usize::try_from(value).ok().filter(|&value| value <= limit).ok_or_else(|| self.damaged(problem))
    }

    fn long(&mut self) -> Result<u64> {
        let (value, length) = varint::read(&self.blob[self.at..])
            .map_err(|bad| Error::corrupt(FORMAT, self.at, bad.reason()))?;
        self.at += length;
        Ok(value)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let taken = self.blob.get(self.at..).and_then(|rest| rest.get(..length));
        let taken = taken.ok_or_else(|| Error::corrupt(FORMAT, self.blob.len(), "it is cut off"))?;
        self.at += length;
        Ok(taken)
    }
}

/// The parts of `blob`, the offset where the header ends, and the check that it claims.
pub(super) fn read(blob: &[u8]) -> Result<(Parts<'_>, usize, u64)> {
    let mut header = Header { blob, at: 0 };
    if header.take(1)? != [TAG] {
        return Err(Error::corrupt(FORMAT, 0, "it does not begin like one"));
    }
    let version = header.take(1)?[0];
    if version > VERSION {
        return Err(Error::Unsupported { format: "segment version", version });
    }
    if version == 0 {
        return Err(Error::corrupt(FORMAT, 1, "there is no version 0"));
    }
    let claimed = header.take(CHECK)?.iter().rev().fold(0, |check, &byte| check << 8 | u64::from(byte));
    let updates = header.number(MAX_UPDATES, "more updates than a segment may hold")?;
    let mut parts = Parts {
        updates,
        raw_bytes: 0,
        unit: Unit::Bits,
        first: 0.0,
        last: 0.0,
        streams: [&[]; 5],
        literals: 0,
        method: Method::Zstd,
    };
    if updates > 0 {
        parts.raw_bytes = header.number(MAX_BYTES, "more bytes than a segment may hold")?;
        let unit = header.take(1)?[0];
        parts.unit = Unit::from_number(unit).ok_or_else(|| header.damaged("an unknown unit of time"))?;
        let bits = header.take(8)?.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        parts.first = f64::from_bits(bits);
        let span = super::coder::unzigzag(header.long()?);
        parts.last = parts.unit.back(parts.unit.number(parts.first).wrapping_add(span));
        let mut lengths = [0; 5];
        for length in &mut lengths {
            *length = header.number(blob.len(), "a stream is longer than the segment")?;
        }
        if lengths[4] > 0 {
            parts.literals = header.number(parts.raw_bytes, "more literals than bytes")?;
            parts.method = match header.take(1)?[0] {
                0 => Method::Zstd,
                1 if parts.literals <= MAX_BROTLI => Method::Brotli,
                1 => return Err(header.damaged("more literals than brotli may hold")),
                _ => return Err(header.damaged("an unknown way to compress literals")),
            };
        }
        let end = header.at;
        for (stream, length) in parts.streams.iter_mut().zip(lengths) {
            *stream = header.take(length)?;
        }
        if header.at != blob.len() {
            return Err(header.damaged("something follows its end"));
        }
        return Ok((parts, end, claimed));
    }
    if header.at != blob.len() {
        return Err(header.damaged("something follows its end"));
    }
    Ok((parts, header.at, claimed))
}

/// The check that `blob`, whose header [`read`] has accepted, should have for `content`.
pub(super) fn expected_check(blob: &[u8], content: [&[u8]; 3]) -> u64 {
    check([&blob[..2], &blob[2 + CHECK..]], content)
}

/// What `blob` says that it holds, and what its parts take. Reads the header only: the content is not checked.
///
/// # Errors
/// [`Error::Corrupt`] if there is no such header, [`Error::Unsupported`] for a later version.
pub fn info(blob: &[u8]) -> Result<Info> {
    let (parts, header_size, _) = read(blob)?;
    let [structure, text, times, noise, literals] = parts.streams.map(<[u8]>::len);
    Ok(Info {
        version: blob[1],
        updates: parts.updates,
        raw_bytes: parts.raw_bytes,
        first_timestamp: parts.first,
        last_timestamp: parts.last,
        stored_size: blob.len(),
        header_size,
        structure_size: structure,
        text_size: text,
        timestamps_size: times + noise,
        literals_size: literals,
        literals_raw_size: parts.literals,
    })
}
