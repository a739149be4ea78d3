//! Values that other programs compressed: recognised by their magic, accepted only when the whole value decodes, ends
//! exactly there and passes the container's own checks. Everything else is a raw update.

mod deflate;
mod lz4;
mod zstd;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::limits::DEFAULT_MAX_SIZE;

/// A container format with a magic number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// One or more LZ4 frames.
    Lz4Frame,
    /// One or more zstd frames with their magic number.
    ZstdFrame,
    /// One or more gzip members (RFC 1952).
    Gzip,
    /// A zlib stream (RFC 1950).
    Zlib,
}

impl Container {
    /// The name that messages and `row_info` use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lz4Frame => "lz4-frame",
            Self::ZstdFrame => "zstd-frame",
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
        }
    }

    /// The container whose magic number `value` begins with. That alone proves nothing: updates begin so, too.
    pub fn claimed(value: &[u8]) -> Option<Self> {
        match value {
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4Frame),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::ZstdFrame),
            [0x1f, 0x8b, 0x08, ..] => Some(Self::Gzip),
            // Method deflate, a window of at most 32 KiB, and a header that is divisible by 31.
            [method, flags, ..]
                if method & 0x8f == 0x08 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
            {
                Some(Self::Zlib)
            }
            _ => None,
        }
    }

    fn read(self, value: &[u8], sink: &mut Sink) -> std::result::Result<(), Refused> {
        match self {
            Self::Lz4Frame => lz4::read(value, sink),
            Self::ZstdFrame => zstd::read(value, sink),
            Self::Gzip => deflate::read_gzip(value, sink),
            Self::Zlib => deflate::read_zlib(value, sink),
        }
    }
}

/// The content of `value` if it is one of the containers, whole and sound; `None` if it is not.
///
/// # Errors
/// [`Error::TooLarge`] when it is sound but holds more than `max_size` bytes, or when it is still sound after more than
/// both `max_size` and [`DEFAULT_MAX_SIZE`] bytes. So a small `max_size` never refuses a raw update that only begins
/// like a container.
pub fn decode(value: &[u8], max_size: usize) -> Result<Option<(Container, Vec<u8>)>> {
    let Some(container) = Container::claimed(value) else { return Ok(None) };
    let mut sink = Sink::new(max_size);
    match container.read(value, &mut sink) {
        Err(Refused::Unsound) => Ok(None),
        Ok(()) if sink.total <= max_size as u64 => Ok(Some((container, sink.content))),
        Ok(()) | Err(Refused::TooLarge) => {
            Err(Error::TooLarge { format: container.name(), size: sink.total, limit: max_size as u64 })
        }
    }
}

/// Whether [`decode`] takes `value` for a container, found out without keeping its content.
pub fn is_container(value: &[u8]) -> bool {
    Container::claimed(value)
        .is_some_and(|container| !matches!(container.read(value, &mut Sink::new(0)), Err(Refused::Unsound)))
}

/// Why a container was not read to its end.
enum Refused {
    /// It is not one, or a damaged one.
    Unsound,
    /// More content than anyone asked for.
    TooLarge,
}

impl<E: std::error::Error> From<E> for Refused {
    fn from(_: E) -> Self {
        Self::Unsound
    }
}

/// Takes the content: keeps up to `keep` bytes of it, and only counts from there on.
struct Sink {
    content: Vec<u8>,
    keep: usize,
    total: u64,
}

impl Sink {
    fn new(keep: usize) -> Self {
        Self { content: Vec::new(), keep, total: 0 }
    }

    fn push(&mut self, bytes: &[u8]) -> std::result::Result<(), Refused> {
        self.total += bytes.len() as u64;
        if self.total > self.keep.max(DEFAULT_MAX_SIZE) as u64 {
            return Err(Refused::TooLarge);
        }
        if self.total > self.keep as u64 {
            self.content = Vec::new();
        } else {
            self.content.try_reserve(bytes.len()).map_err(|_| Refused::TooLarge)?;
            self.content.extend_from_slice(bytes);
        }
        Ok(())
    }
}

/// What decoders unfold at a time.
const PIECE: usize = 16 << 10;
