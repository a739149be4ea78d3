//! Values that other programs compressed: recognised by their magic, accepted only when the whole value decodes, ends
//! exactly there and passes the container's own checks. Everything else is a raw update.

use std::io::{self, BufRead, Read};

use crate::error::{Error, Result};

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
}

/// The content of `value` if it is one of the containers, whole and sound; `None` if it is not.
///
/// # Errors
/// [`Error::TooLarge`] when it decodes, but to more than `max_size` bytes.
pub fn decode(value: &[u8], max_size: usize) -> Result<Option<(Container, Vec<u8>)>> {
    let Some(container) = Container::claimed(value) else { return Ok(None) };
    let mut input = value;
    let mut content = Vec::new();
    while !input.is_empty() {
        let before = input.len();
        let read = match container {
            Container::Lz4Frame => {
                append(lz4_flex::frame::FrameDecoder::new(&mut input), max_size, &mut content)
            }
            Container::ZstdFrame => zstd_frame(&mut input, max_size, &mut content),
            Container::Gzip => append(flate2::bufread::GzDecoder::new(&mut input), max_size, &mut content),
            Container::Zlib if before < value.len() => return Ok(None),
            Container::Zlib => append(flate2::bufread::ZlibDecoder::new(&mut input), max_size, &mut content),
        };
        if content.len() > max_size {
            return Err(Error::TooLarge {
                format: container.name(),
                size: content.len() as u64,
                limit: max_size as u64,
            });
        }
        if read.is_err() || input.len() == before {
            return Ok(None);
        }
    }
    Ok(Some((container, content)))
}

/// Read all of `source` behind `content`, but stop one byte past `max_size`.
fn append(source: impl Read, max_size: usize, content: &mut Vec<u8>) -> io::Result<()> {
    let room = max_size.saturating_add(1).saturating_sub(content.len());
    source.take(room as u64).read_to_end(content).map(drop)
}

fn zstd_frame(input: &mut &[u8], max_size: usize, content: &mut Vec<u8>) -> io::Result<()> {
    let length = zstd_safe::find_frame_compressed_size(input)
        .map_err(|code| io::Error::other(zstd_safe::get_error_name(code)))?;
    let frame = input.get(..length).ok_or(io::ErrorKind::UnexpectedEof)?;
    append(ZstdReader::new(frame)?, max_size, content)?;
    input.consume(length);
    Ok(())
}

/// One zstd frame as a stream, so that no memory is taken on the word of its header.
struct ZstdReader<'a> {
    context: zstd_safe::DCtx<'static>,
    input: zstd_safe::InBuffer<'a>,
    finished: bool,
}

impl<'a> ZstdReader<'a> {
    fn new(frame: &'a [u8]) -> io::Result<Self> {
        let context = zstd_safe::DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { context, input: zstd_safe::InBuffer::around(frame), finished: false })
    }
}

impl Read for ZstdReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut output = zstd_safe::OutBuffer::around(out);
        while output.pos() == 0 && !self.finished && output.capacity() > 0 {
            let before = self.input.pos();
            let hint = self
                .context
                .decompress_stream(&mut output, &mut self.input)
                .map_err(|code| io::Error::other(zstd_safe::get_error_name(code)))?;
            self.finished = hint == 0;
            if !self.finished && output.pos() == 0 && self.input.pos() == before {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(output.pos())
    }
}
