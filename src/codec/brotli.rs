//! Brotli (RFC 7932) by the brotli crate.

use brotli::enc::StandardAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, HeapAlloc, HuffmanCode};

use super::grow;
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
    grow(out, at, limit)?;
    let mut encoder = BrotliEncoderStateStruct::new(StandardAlloc::default());
    for (parameter, value) in [
        (BrotliEncoderParameter::BROTLI_PARAM_QUALITY, quality as u32),
        (BrotliEncoderParameter::BROTLI_PARAM_LGWIN, window_bits(raw.len())),
        (BrotliEncoderParameter::BROTLI_PARAM_SIZE_HINT, u32::try_from(raw.len()).unwrap_or(u32::MAX)),
    ] {
        encoder.set_parameter(parameter, value);
    }
    let (mut left_in, mut read, mut left_out, mut written) = (raw.len(), 0, limit, 0);
    let done = encoder.compress_stream(
        BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
        &mut left_in,
        raw,
        &mut read,
        &mut left_out,
        &mut out[at..at + limit],
        &mut written,
        &mut None,
        &mut |_, _, _, _| (),
    );
    if !done {
        return Err(Error::Compress { codec: "brotli", problem: "the encoder gave up".into() });
    }
    Ok(encoder.is_finished().then_some(written))
}

/// The smallest window that holds `size` bytes: 2^10 to 2^24 (RFC 7932, section 9.1).
fn window_bits(size: usize) -> u32 {
    (usize::BITS - (size + 16).leading_zeros()).clamp(10, 24)
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

/// The most bytes that `payload` bytes can unfold to: a meta-block holds at most 2^24 bytes (RFC 7932, section 9.2),
/// and its header with three prefix codes takes more than 64 bits.
pub fn largest_content(payload: usize) -> u64 {
    (payload as u64 / 8 + 1) << 24
}
