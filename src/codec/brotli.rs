//! Brotli (RFC 7932) by the brotli crate.

use brotli::enc::BrotliEncoderParams;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, HeapAlloc, HuffmanCode};

use crate::error::{Error, Result};

const FORMAT: &str = "brotli frame";

/// See [`super::Codec::compress`].
pub fn compress(
    raw: &[u8],
    quality: i32,
    out: &mut Vec<u8>,
    at: usize,
    limit: usize,
) -> Result<Option<usize>> {
    let parameters = BrotliEncoderParams {
        quality,
        lgwin: window_bits(raw.len()),
        size_hint: raw.len(),
        ..BrotliEncoderParams::default()
    };
    out.truncate(at);
    let mut input = raw;
    let length = brotli::BrotliCompress(&mut input, out, &parameters)
        .map_err(|error| Error::Compress { codec: "brotli", problem: error.to_string().into() })?;
    Ok((length <= limit).then_some(length))
}

/// The smallest window that holds `size` bytes: 2^10 to 2^24 (RFC 7932, section 9.1).
fn window_bits(size: usize) -> i32 {
    (usize::BITS - (size + 16).leading_zeros()).clamp(10, 24) as i32
}

/// Decompress `payload`, which must fill `out` exactly.
pub fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
    let mut state = BrotliState::new(
        HeapAlloc::<u8>::new(0),
        HeapAlloc::<u32>::new(0),
        HeapAlloc::<HuffmanCode>::new(HuffmanCode::default()),
    );
    let (mut left_in, mut read, mut left_out, mut written, mut total) = (payload.len(), 0, out.len(), 0, 0);
    let result = BrotliDecompressStream(
        &mut left_in,
        &mut read,
        payload,
        &mut left_out,
        &mut written,
        out,
        &mut total,
        &mut state,
    );
    match result {
        BrotliResult::ResultSuccess if left_in > 0 => {
            Err(Error::corrupt(FORMAT, read, "bytes follow the end of the stream"))
        }
        BrotliResult::ResultSuccess if left_out > 0 => {
            Err(Error::corrupt(FORMAT, read, "the content is shorter than the frame says"))
        }
        BrotliResult::ResultSuccess => Ok(()),
        BrotliResult::NeedsMoreOutput => {
            Err(Error::corrupt(FORMAT, read, "the content is longer than the frame says"))
        }
        BrotliResult::NeedsMoreInput => Err(Error::corrupt(FORMAT, read, "the stream is cut off")),
        BrotliResult::ResultFailure => Err(Error::corrupt(FORMAT, read, "not a brotli stream")),
    }
}
