//! Brotli (RFC 7932): compressed by Google's C library, decompressed by the `brotli-decompressor` crate.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use compu_brotli_sys::{BrotliEncoderCompress, BrotliEncoderMode_BROTLI_MODE_GENERIC};

use super::{filled, grow};
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
    let mut length = limit;
    // SAFETY: the encoder reads `raw.len()` bytes of the value and writes at most `length` bytes of the output; the
    // slices do not overlap. Quality and window are within its ranges, and it keeps nothing after it returns.
    let done = unsafe {
        BrotliEncoderCompress(
            quality,
            window_bits(raw.len()),
            BrotliEncoderMode_BROTLI_MODE_GENERIC,
            raw.len(),
            raw.as_ptr(),
            &raw mut length,
            out[at..at + limit].as_mut_ptr(),
        )
    };
    // It fails where the output is too small, and for want of memory, which it does not tell apart.
    Ok((done != 0).then_some(length))
}

/// The smallest window that holds `size` bytes: 2^10 to 2^24 (RFC 7932, section 9.1).
fn window_bits(size: usize) -> c_int {
    (usize::BITS - (size + 16).leading_zeros()).clamp(10, 24) as c_int
}

/// Decompress `payload`, which must fill `out` exactly.
pub fn decompress<'a>(payload: &[u8], out: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
    // The decoder is safe Rust and wants bytes that hold something.
    out.fill(MaybeUninit::new(0));
    // SAFETY: just filled.
    let out = unsafe { filled(out) };
    let mut state =
        BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
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
        BrotliResult::ResultSuccess => Ok(out),
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
