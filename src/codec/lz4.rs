//! The LZ4 block format by lz4_flex.

use super::grow;
use crate::error::{Error, Result};

const FORMAT: &str = "lz4 frame";

/// See [`super::Codec::compress`].
pub fn compress(raw: &[u8], out: &mut Vec<u8>, at: usize, limit: usize) -> Result<Option<usize>> {
    let bound = lz4_flex::block::get_maximum_output_size(raw.len());
    grow(out, at, bound)?;
    let length = lz4_flex::block::compress_into(raw, &mut out[at..at + bound])
        .map_err(|error| Error::Compress { codec: "lz4", problem: error.to_string().into() })?;
    Ok((length <= limit).then_some(length))
}

/// Decompress `payload`, which must fill `out` exactly.
pub fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
    let length = lz4_flex::block::decompress_into(payload, out)
        .map_err(|error| Error::corrupt(FORMAT, 0, error.to_string()))?;
    if length == out.len() {
        Ok(())
    } else {
        Err(Error::corrupt(FORMAT, payload.len(), "the content is shorter than the frame says"))
    }
}

/// The most bytes that `payload` bytes can unfold to: one byte of a length counts at most 255.
pub fn largest_content(payload: usize) -> u64 {
    payload as u64 * 255 + 64
}
