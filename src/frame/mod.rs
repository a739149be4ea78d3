//! One stored value: an update as it is, or compressed behind a two-byte tag. `docs/format.md` has every byte.
//!
//! ```text
//! frame := tag raw_length payload check       tag := byte(0x80 | method) byte(0x00)
//! ```
//!
//! The tag is a padded varint. A Yjs update begins with a varint that no writer pads, so no update begins with a tag.

mod read;
mod write;

use twox_hash::XxHash3_64;

pub use read::{Compressed, Value, parse};
pub use write::{SMALLEST, compress, must_escape};

/// How a frame's payload is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Method {
    /// The payload is the content. Only for content that would be taken for something else without the tag.
    Verbatim = 0,
    /// An LZ4 block.
    Lz4 = 1,
    /// A zstd frame without magic number, content size and checksum.
    Zstd = 2,
    /// A brotli stream.
    Brotli = 3,
}

impl Method {
    /// The codec's name, or `verbatim`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Brotli => "brotli",
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Verbatim,
            1 => Self::Lz4,
            2 => Self::Zstd,
            3 => Self::Brotli,
            _ => return None,
        })
    }

    fn tag(self) -> [u8; 2] {
        [0x80 | self as u8, 0]
    }
}

/// Whether `value` begins as only a frame does.
pub fn has_tag(value: &[u8]) -> bool {
    matches!(value, [first, 0, ..] if first & 0x80 != 0)
}

/// The length of a tag.
const TAG: usize = 2;
/// The length of the check behind a compressed payload.
const CHECK: usize = 4;

/// The low 32 bits of XXH3-64.
fn checksum(raw: &[u8]) -> u32 {
    XxHash3_64::oneshot(raw) as u32
}

#[cfg(test)]
mod tests;
