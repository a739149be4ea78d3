//! The compression methods. Each file here is the only one that names its library.

pub mod brotli;
pub mod lz4;
pub mod zstd;

use std::mem::MaybeUninit;

use crate::error::{Error, Result};

/// A compression method and its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Zstandard (RFC 8878), levels -7 to 19.
    Zstd(i32),
    /// The LZ4 block format; it has no levels.
    Lz4,
    /// Brotli (RFC 7932), qualities 0 to 11.
    Brotli(i32),
}

impl Codec {
    /// The names that [`Codec::new`] takes.
    pub const NAMES: [&'static str; 3] = ["zstd", "lz4", "brotli"];

    /// The codec called `name` at `level`, or at its default level. `None` if there is no codec of that name.
    pub fn new(name: &str, level: Option<i32>) -> Option<Result<Self>> {
        match name {
            "zstd" => Some(checked("zstd", "levels -7 to 19", -7..=19, level.unwrap_or(3)).map(Self::Zstd)),
            "lz4" => Some(level.map_or(Ok(Self::Lz4), |level| {
                Err(Error::Level { codec: "lz4", range: "no levels (leave it out, or None)", level })
            })),
            "brotli" => {
                Some(checked("brotli", "levels 0 to 11", 0..=11, level.unwrap_or(4)).map(Self::Brotli))
            }
            _ => None,
        }
    }

    /// What [`Codec::new`] makes this codec of.
    pub fn parts(self) -> (&'static str, Option<i32>) {
        match self {
            Self::Zstd(level) => ("zstd", Some(level)),
            Self::Lz4 => ("lz4", None),
            Self::Brotli(level) => ("brotli", Some(level)),
        }
    }

    /// Compress `raw` into `out` from byte `at` on.
    ///
    /// Returns the compressed length, or `None` where the result would not fit into `limit` bytes: the caller has no
    /// use for it then. `out` is only a buffer; it grows as needed and never shrinks.
    pub fn compress(self, raw: &[u8], out: &mut Vec<u8>, at: usize, limit: usize) -> Result<Option<usize>> {
        match self {
            Self::Zstd(level) => zstd::compress(raw, level, out, at, limit),
            Self::Lz4 => lz4::compress(raw, out, at, limit),
            Self::Brotli(quality) => brotli::compress(raw, quality, out, at, limit),
        }
    }
}

fn checked(
    codec: &'static str,
    range: &'static str,
    levels: std::ops::RangeInclusive<i32>,
    level: i32,
) -> Result<i32> {
    if levels.contains(&level) { Ok(level) } else { Err(Error::Level { codec, range, level }) }
}

/// Make `buffer` hold `room` bytes from `at` on, so that a codec can write there.
fn grow(buffer: &mut Vec<u8>, at: usize, room: usize) -> Result<()> {
    let size = at + room;
    if buffer.len() < size {
        // An allocation that fails in the ordinary way would end the process.
        buffer
            .try_reserve(size - buffer.len())
            .map_err(|error| Error::Compress { codec: "ypress", problem: error.to_string().into() })?;
        buffer.resize(size, 0);
    }
    Ok(())
}

/// Memory that holds bytes already, as memory to decompress into.
pub fn room(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: of the same layout; the codecs only write bytes there, so the slice stays initialised.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// Copy `content` into the front of a room that is not smaller.
pub fn copy_into<'a>(content: &[u8], room: &'a mut [MaybeUninit<u8>]) -> &'a mut [u8] {
    let length = content.len().min(room.len());
    let room = &mut room[..length];
    for (place, byte) in room.iter_mut().zip(content) {
        place.write(*byte);
    }
    // SAFETY: all of it has just been written.
    unsafe { filled(room) }
}

/// Memory that a codec has written, as bytes.
///
/// # Safety
///
/// Every byte of `room` has been written.
unsafe fn filled(room: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: of the same layout, and initialised as the caller promises.
    unsafe { &mut *(std::ptr::from_mut(room) as *mut [u8]) }
}
