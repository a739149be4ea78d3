//! Decoders to compare with. Each returns the content if all of the input is sound, and holds at most `limit` bytes.

use std::io::Read;
use std::mem::MaybeUninit;

use compu_brotli_sys::{BrotliDecoderDecompress, BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS};
use libz_sys::{Z_FINISH, Z_OK, Z_STREAM_END, inflate, inflateEnd, inflateInit2_, z_stream, zlibVersion};
use lz4_sys::{
    LZ4F_createDecompressionContext, LZ4F_decompress, LZ4F_freeDecompressionContext, LZ4F_isError,
    LZ4FDecompressionContext,
};
use zstd_safe::{DCtx, DParameter, FrameFormat, InBuffer, OutBuffer};

/// An LZ4 block, by a decoder in safe Rust.
pub fn lz4_block(payload: &[u8], limit: usize) -> Option<Vec<u8>> {
    lz4_flex::block::decompress(payload, limit).ok()
}

/// Frames without magic numbers, by libzstd in a new context.
pub fn zstd_magicless(payload: &[u8], limit: usize) -> Option<Vec<u8>> {
    zstd(payload, limit, FrameFormat::Magicless)
}

/// Frames with magic numbers, by libzstd in a new context.
pub fn zstd_frames(value: &[u8], limit: usize) -> Option<Vec<u8>> {
    zstd(value, limit, FrameFormat::One)
}

/// Frames with magic numbers, by libzstd piece by piece.
pub fn zstd_stream(value: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut context = DCtx::create();
    let mut content = vec![0; limit];
    let mut input = InBuffer::around(value);
    let mut output = OutBuffer::around(&mut content[..]);
    loop {
        let before = (input.pos(), output.pos());
        let wanted = context.decompress_stream(&mut output, &mut input).ok()?;
        if wanted == 0 && input.pos() == value.len() {
            break;
        }
        if before == (input.pos(), output.pos()) {
            return None;
        }
    }
    let length = output.pos();
    content.truncate(length);
    Some(content)
}

fn zstd(payload: &[u8], limit: usize, format: FrameFormat) -> Option<Vec<u8>> {
    let mut context = DCtx::create();
    context.set_parameter(DParameter::Format(format)).unwrap();
    let mut content = Vec::with_capacity(limit);
    context.decompress(&mut content, payload).ok()?;
    Some(content)
}

/// One frame without magic number, by a decoder in Rust.
pub fn zstd_in_rust(payload: &[u8]) -> Option<Vec<u8>> {
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd], payload].concat();
    let mut content = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(&frame[..]).ok()?.read_to_end(&mut content).ok()?;
    Some(content)
}

/// A brotli stream, by Google's decoder.
pub fn brotli(payload: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut content = vec![0; limit];
    let mut length = limit;
    // SAFETY: the lengths are those of the slices; it writes at most `length` bytes.
    let result = unsafe {
        BrotliDecoderDecompress(payload.len(), payload.as_ptr(), &raw mut length, content.as_mut_ptr())
    };
    content.truncate(length);
    // The one-shot function takes a stream that ends before the input does for a whole one, as ours must not.
    (result == BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS).then_some(content)
}

/// A stream of deflate by itself that all of `payload` is, by zlib, which wrote nearly all there are and says what is sound:
/// libdeflate, for one, knows what to make of length codes that the format does not have.
pub fn deflate(payload: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut content = vec![0; limit];
    let mut state = MaybeUninit::<z_stream>::zeroed();
    // SAFETY: zlib sets the null function pointers of a zeroed state before it is taken for a value; the sizes are those of
    // the slices; the state is freed.
    let (result, read, wrote) = unsafe {
        let size = size_of::<z_stream>() as i32;
        assert_eq!(inflateInit2_(state.as_mut_ptr(), -15, zlibVersion(), size), Z_OK);
        let state = state.assume_init_mut();
        state.next_in = payload.as_ptr().cast_mut();
        state.avail_in = payload.len() as u32;
        state.next_out = content.as_mut_ptr();
        state.avail_out = limit as u32;
        let result = inflate(state, Z_FINISH);
        let end = (result, state.total_in as usize, state.total_out as usize);
        inflateEnd(state);
        end
    };
    content.truncate(wrote);
    (result == Z_STREAM_END && read == payload.len()).then_some(content)
}

/// What zlib keeps behind its stream.
pub fn adler32(content: &[u8]) -> u32 {
    // SAFETY: it reads the slice.
    unsafe { libz_sys::adler32(1, content.as_ptr(), content.len() as u32) as u32 }
}

/// What gzip keeps behind its stream.
pub fn crc32(content: &[u8]) -> u32 {
    // SAFETY: it reads the slice.
    unsafe { libz_sys::crc32(0, content.as_ptr(), content.len() as u32) as u32 }
}

/// LZ4 frames, one after the other, by liblz4.
pub fn lz4_frames(mut value: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut content = vec![0; limit];
    let mut written = 0;
    while !value.is_empty() {
        let (read, wrote) = lz4_frame(value, &mut content[written..])?;
        value = &value[read..];
        written += wrote;
    }
    content.truncate(written);
    Some(content)
}

fn lz4_frame(value: &[u8], room: &mut [u8]) -> Option<(usize, usize)> {
    let mut context = LZ4FDecompressionContext(std::ptr::null_mut());
    // SAFETY: it writes a new context there.
    assert_eq!(unsafe { LZ4F_createDecompressionContext(&mut context, lz4_sys::LZ4F_VERSION) }, 0);
    let (mut read, mut wrote) = (0, 0);
    let whole = loop {
        let (mut input, mut output) = (value.len() - read, room.len() - wrote);
        // SAFETY: the sizes are those of the rests of the slices, and become what was read and written of them.
        let hint = unsafe {
            LZ4F_decompress(
                context,
                room[wrote..].as_mut_ptr(),
                &mut output,
                value[read..].as_ptr(),
                &mut input,
                std::ptr::null(),
            )
        };
        // SAFETY: a function of a number.
        if unsafe { LZ4F_isError(hint) } != 0 {
            break false;
        }
        (read, wrote) = (read + input, wrote + output);
        if hint == 0 {
            break true;
        }
        if input == 0 && output == 0 {
            break false;
        }
    };
    // SAFETY: made above, and not used again.
    unsafe { LZ4F_freeDecompressionContext(context) };
    whole.then_some((read, wrote))
}
