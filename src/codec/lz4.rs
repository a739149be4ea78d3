//! The LZ4 block format by liblz4.

use std::cell::OnceCell;
use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use lz4_sys::{LZ4_compressBound, LZ4_createStream, LZ4_decompress_safe, LZ4_freeStream, LZ4StreamEncode};

use super::{filled, grow};
use crate::error::{Error, Result};

const FORMAT: &str = "lz4 frame";

// In `lz4.h`, and in the library that `lz4_sys` builds, but not among that crate's declarations.
unsafe extern "C" {
    /// Compress with tables that the caller keeps. They are cleared only where that is needed.
    fn LZ4_compress_fast_extState_fastReset(
        state: *mut LZ4StreamEncode,
        source: *const c_char,
        target: *mut c_char,
        source_size: c_int,
        target_size: c_int,
        acceleration: c_int,
    ) -> c_int;
    /// Forget what was compressed and clear the tables.
    fn LZ4_resetStream(stream: *mut LZ4StreamEncode);
    /// Compress one block of a stream.
    fn LZ4_compress_fast_continue(
        stream: *mut LZ4StreamEncode,
        source: *const c_char,
        target: *mut c_char,
        source_size: c_int,
        target_size: c_int,
        acceleration: c_int,
    ) -> c_int;
}

/// From here on values are compressed as the first block of a stream, which finds matches by five bytes and not by four.
/// Text of several KiB has so many of four bytes that they hide the longer ones.
const AS_STREAM: usize = 4 << 10;

thread_local! {
    // Clearing 16 KiB of tables costs more than compressing a small value, so each thread keeps them: two, as they are
    // cleared when the one kind of values follows on the other.
    static TABLES: [OnceCell<Tables>; 2] = const { [OnceCell::new(), OnceCell::new()] };
}

/// The tables of a compressor. Never null, and, like the pointer, neither `Send` nor `Sync`.
struct Tables(NonNull<LZ4StreamEncode>);

impl Tables {
    fn new() -> Result<Self> {
        // SAFETY: no precondition; it returns memory that is initialised, or null.
        let stream = unsafe { LZ4_createStream() };
        NonNull::new(stream)
            .map(Self)
            .ok_or(Error::Compress { codec: "lz4", problem: "no memory for a compressor".into() })
    }

    /// The length of the block, or 0.
    fn compress(&self, raw: &[u8], out: &mut [u8]) -> c_int {
        let (Ok(size), Ok(room)) = (c_int::try_from(raw.len()), c_int::try_from(out.len())) else { return 0 };
        let (state, source, target) = (self.0.as_ptr(), raw.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: the state came initialised from LZ4_createStream and belongs to this thread, which is in no other call
        // with it; the sizes are those of the slices, which do not overlap. A stream is reset before each of its blocks,
        // so it does not refer to an earlier one.
        unsafe {
            if raw.len() < AS_STREAM {
                LZ4_compress_fast_extState_fastReset(state, source, target, size, room, 1)
            } else {
                LZ4_resetStream(state);
                LZ4_compress_fast_continue(state, source, target, size, room, 1)
            }
        }
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        // SAFETY: made by LZ4_createStream, and freed only here.
        unsafe { LZ4_freeStream(self.0.as_ptr()) };
    }
}

/// See [`super::Codec::compress`].
pub fn compress(raw: &[u8], out: &mut Vec<u8>, at: usize, limit: usize) -> Result<Option<usize>> {
    // SAFETY: a function of a number.
    let bound = c_int::try_from(raw.len()).map_or(0, |size| unsafe { LZ4_compressBound(size) });
    let bound = match usize::try_from(bound) {
        Ok(bound) if bound > 0 => bound,
        _ => return Err(Error::Compress { codec: "lz4", problem: "the value is too large".into() }),
    };
    // With room for the worst case, liblz4 leaves out the checks of the output's end.
    grow(out, at, bound)?;
    let length = TABLES.with(|[small, large]| {
        let kept = if raw.len() < AS_STREAM { small } else { large };
        if kept.get().is_none() {
            let _ = kept.set(Tables::new()?);
        }
        Ok(kept.get().map_or(0, |tables| tables.compress(raw, &mut out[at..at + bound])))
    })?;
    match usize::try_from(length) {
        Ok(length) if length > 0 => Ok((length <= limit).then_some(length)),
        _ => Err(Error::Compress { codec: "lz4", problem: "the encoder gave up".into() }),
    }
}

/// Decompress `payload`, which must fill `out` exactly.
pub fn decompress<'a>(payload: &[u8], out: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
    let (Ok(size), Ok(room)) = (c_int::try_from(payload.len()), c_int::try_from(out.len())) else {
        return Err(Error::corrupt(FORMAT, 0, "no block is this large"));
    };
    // SAFETY: liblz4 reads `size` bytes of the payload and writes at most `room` bytes of `out`, whatever the payload
    // says; neither needs to be initialised beyond that, and they do not overlap.
    let length = unsafe { LZ4_decompress_safe(payload.as_ptr().cast(), out.as_mut_ptr().cast(), size, room) };
    match usize::try_from(length) {
        // SAFETY: the return value counts the bytes written from the beginning of `out`.
        Ok(length) if length == out.len() => Ok(unsafe { filled(out) }),
        Ok(_) => Err(Error::corrupt(FORMAT, payload.len(), "the content is shorter than the frame says")),
        // The library returns the negated position at which it gave up, less one.
        Err(_) => {
            let at = usize::try_from(-(i64::from(length) + 1)).unwrap_or(0).min(payload.len());
            Err(Error::corrupt(FORMAT, at, "the block is damaged, or its content longer than the frame says"))
        }
    }
}

/// The most bytes that `payload` bytes can unfold to: one byte of a length counts at most 255.
pub fn largest_content(payload: usize) -> u64 {
    payload as u64 * 255 + 64
}
