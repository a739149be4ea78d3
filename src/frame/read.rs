//! Frames into values.

use std::mem::MaybeUninit;

use super::{CHECK, Method, TAG, checksum, has_tag, must_escape};
use crate::codec::{brotli, lz4, room, zstd};
use crate::error::{Error, Result};
use crate::varint;

/// What a stored value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// No tag: a raw update, or something that other callbacks wrote (see [`crate::foreign`]).
    Untagged,
    /// The content behind the tag of [`Method::Verbatim`].
    Verbatim(&'a [u8]),
    /// A compressed frame whose content has not been looked at yet.
    Compressed(Compressed<'a>),
}

/// A frame that is compressed: its header is sound, its payload not yet proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compressed<'a> {
    /// How the payload was made.
    pub method: Method,
    /// The length of the content.
    pub raw_length: u64,
    payload: &'a [u8],
    /// Where the payload begins, for error messages.
    offset: usize,
    check: u32,
}

const FORMAT: &str = "ypress frame";

/// Read what `value` says of itself, without decompressing anything or taking memory.
pub fn parse(value: &[u8]) -> Result<Value<'_>> {
    if !has_tag(value) {
        return Ok(Value::Untagged);
    }
    let number = value[0] & 0x7f;
    let method =
        Method::from_number(number).ok_or(Error::Unsupported { format: "frame method", version: number })?;
    let body = &value[TAG..];
    if method == Method::Verbatim {
        // Nothing else is ever written verbatim, so a frame whose tag was damaged cannot pass for one.
        return if must_escape(body) {
            Ok(Value::Verbatim(body))
        } else {
            Err(Error::corrupt(FORMAT, TAG, "the content needs no tag, so the tag is damaged"))
        };
    }
    let (raw_length, length) = varint::read(body).map_err(|bad| Error::corrupt(FORMAT, TAG, bad.reason()))?;
    let offset = TAG + length;
    let end = value.len().saturating_sub(CHECK);
    let (Some(payload), Some(&[a, b, c, d])) = (value.get(offset..end), value.get(end..)) else {
        return Err(Error::corrupt(FORMAT, value.len(), "the frame is cut off"));
    };
    Ok(Value::Compressed(Compressed {
        method,
        raw_length,
        payload,
        offset,
        check: u32::from_le_bytes([a, b, c, d]),
    }))
}

impl Compressed<'_> {
    /// The content's length, if it is within `max_size` and within what the payload can hold at all. To be called
    /// before memory is taken for the content.
    pub fn content_length(&self, max_size: usize) -> Result<usize> {
        let possible = match self.method {
            Method::Lz4 => lz4::largest_content(self.payload.len()),
            Method::Zstd => zstd::largest_content(self.payload.len()),
            Method::Brotli => brotli::largest_content(self.payload.len()),
            Method::Verbatim => self.payload.len() as u64,
        };
        if self.raw_length > possible {
            let problem = format!("{} bytes cannot unfold to {} bytes", self.payload.len(), self.raw_length);
            return Err(Error::corrupt(FORMAT, TAG, problem));
        }
        match usize::try_from(self.raw_length) {
            Ok(length) if length <= max_size => Ok(length),
            _ => Err(Error::TooLarge { format: FORMAT, size: self.raw_length, limit: max_size as u64 }),
        }
    }

    /// Decompress into `out`, which has the [content's length](Self::content_length), verify it, and return it.
    pub fn decompress_into<'a>(&self, out: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
        let content = match self.method {
            // [`parse`] makes no such value.
            Method::Verbatim => Err(Error::corrupt(FORMAT, 0, "a verbatim frame has no codec")),
            Method::Lz4 => lz4::decompress(self.payload, out),
            Method::Zstd => zstd::decompress(self.payload, out),
            Method::Brotli => brotli::decompress(self.payload, out),
        }
        .map_err(|error| error.shifted(self.offset))?;
        if checksum(content) == self.check {
            Ok(content)
        } else {
            let end = self.offset + self.payload.len();
            Err(Error::corrupt(FORMAT, end, "the check does not match the content"))
        }
    }

    /// The content in memory of its own.
    pub fn decompress(&self, max_size: usize) -> Result<Vec<u8>> {
        let mut out = vec![0; self.content_length(max_size)?];
        self.decompress_into(room(&mut out))?;
        Ok(out)
    }
}
