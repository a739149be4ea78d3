//! Zstandard (RFC 8878) by libzstd. Frames carry no magic number, content size or checksum: our frame has them.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, FrameFormat, ResetDirective, Strategy, WriteBuf,
    zstd_sys::ZSTD_ErrorCode,
};

use super::{filled, grow};
use crate::error::{Error, Result};

const FORMAT: &str = "zstd frame";

thread_local! {
    // Creating a context costs more than compressing a small value, so each thread keeps one of each.
    static COMPRESSOR: RefCell<Option<Compressor>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

struct Compressor {
    context: CCtx<'static>,
    level: i32,
    tuning: Tuning,
}

/// What is set beside the level; 0 stands for what the level says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tuning {
    /// Logarithm of the number of entries of the table of long matches.
    hash_log: u32,
    /// The same, of the table of short matches.
    chain_log: u32,
    /// The shortest match looked for.
    min_match: u32,
    /// [`Strategy::ZSTD_fast`] has one table in place of the two of [`Strategy::ZSTD_dfast`].
    strategy: Option<Strategy>,
}

const AS_THE_LEVEL_SAYS: Tuning = Tuning { hash_log: 0, chain_log: 0, min_match: 0, strategy: None };

/// For level 3, the default: about the same size in less time, also for the reader, who has fewer sequences to carry
/// out. `docs/design-rows.md` has the measurement (`python benches/row_choices.py tuning`).
fn tuning(level: i32, size: usize) -> Tuning {
    const KIB: usize = 1 << 10;
    if level != 3 {
        return AS_THE_LEVEL_SAYS;
    }
    let (hash_log, chain_log, min_match, strategy) = match size / KIB {
        // A value this small has few matches for a second table to find.
        0 => (0, 0, 4, Strategy::ZSTD_fast),
        // The level's own tables, of up to 2^17 and 2^16 entries, do not fit into a core's own cache.
        8..64 => (14, 13, 0, Strategy::ZSTD_dfast),
        64..256 => (15, 14, 6, Strategy::ZSTD_dfast),
        256..4096 => (15, 14, 7, Strategy::ZSTD_dfast),
        _ => (0, 0, 0, Strategy::ZSTD_dfast),
    };
    Tuning { hash_log, chain_log, min_match, strategy: Some(strategy) }
}

fn name(code: usize) -> &'static str {
    zstd_safe::get_error_name(code)
}

fn failed(code: usize) -> Error {
    Error::Compress { codec: "zstd", problem: name(code).into() }
}

impl Compressor {
    fn new(level: i32) -> Result<Self> {
        let context = CCtx::try_create()
            .ok_or(Error::Compress { codec: "zstd", problem: "no memory for a compressor".into() })?;
        let mut new = Self { context, level, tuning: AS_THE_LEVEL_SAYS };
        new.set_level(level)?;
        Ok(new)
    }

    fn set(&mut self, parameters: &[CParameter]) -> Result<()> {
        parameters.iter().try_for_each(|&parameter| {
            self.context.set_parameter(parameter).map_err(failed)?;
            Ok(())
        })
    }

    /// Forget all parameters, as a strategy cannot be unset, and set those of every frame.
    fn set_level(&mut self, level: i32) -> Result<()> {
        self.context.reset(ResetDirective::Parameters).map_err(failed)?;
        (self.level, self.tuning) = (level, AS_THE_LEVEL_SAYS);
        self.set(&[
            CParameter::Format(FrameFormat::Magicless),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
            CParameter::CompressionLevel(level),
        ])
    }

    fn tune(&mut self, tuning: Tuning) -> Result<()> {
        self.set(&[
            CParameter::HashLog(tuning.hash_log),
            CParameter::ChainLog(tuning.chain_log),
            CParameter::MinMatch(tuning.min_match),
        ])?;
        if let Some(strategy) = tuning.strategy {
            self.set(&[CParameter::Strategy(strategy)])?;
        }
        self.tuning = tuning;
        Ok(())
    }
}

/// See [`super::Codec::compress`].
pub fn compress(raw: &[u8], level: i32, out: &mut Vec<u8>, at: usize, limit: usize) -> Result<Option<usize>> {
    // With room for the worst case, libzstd writes its streams without looking for the end of the output.
    let bound = zstd_safe::compress_bound(raw.len());
    grow(out, at, bound)?;
    COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some(Compressor::new(level)?);
        }
        let Some(compressor) = slot else { return Ok(None) };
        if compressor.level != level {
            compressor.set_level(level)?;
        }
        let tuning = tuning(level, raw.len());
        if compressor.tuning != tuning {
            compressor.tune(tuning)?;
        }
        let length = compressor.context.compress2(&mut out[at..at + bound], raw).map_err(failed)?;
        Ok((length <= limit).then_some(length))
    })
}

fn too_small(code: usize) -> bool {
    // libzstd returns its error codes negated.
    code.wrapping_neg() == ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize
}

/// Memory to decompress into, in the shape that `zstd_safe` wants it.
struct Output<'a> {
    room: &'a mut [MaybeUninit<u8>],
    written: usize,
}

// SAFETY: the pointer and the capacity are those of one slice that is borrowed for as long.
unsafe impl WriteBuf for Output<'_> {
    fn as_slice(&self) -> &[u8] {
        // SAFETY: `written` bytes are initialised, as the caller of `filled_until` promised.
        unsafe { std::slice::from_raw_parts(self.room.as_ptr().cast(), self.written) }
    }

    fn capacity(&self) -> usize {
        self.room.len()
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.room.as_mut_ptr().cast()
    }

    unsafe fn filled_until(&mut self, written: usize) {
        self.written = written;
    }
}

/// Decompress `payload`, which must fill `out` exactly.
pub fn decompress<'a>(payload: &[u8], out: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
    let length = DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut context =
                DCtx::try_create().ok_or(Error::corrupt(FORMAT, 0, "no memory for a decompressor"))?;
            context
                .set_parameter(DParameter::Format(FrameFormat::Magicless))
                .map_err(|code| Error::corrupt(FORMAT, 0, name(code)))?;
            *slot = Some(context);
        }
        let Some(context) = slot else { return Ok(0) };
        context.decompress(&mut Output { room: &mut *out, written: 0 }, payload).map_err(|code| {
            if too_small(code) {
                Error::corrupt(FORMAT, payload.len(), "the content is longer than the frame says")
            } else {
                Error::corrupt(FORMAT, 0, name(code))
            }
        })
    })?;
    if length == out.len() {
        // SAFETY: libzstd's return value counts the bytes written from the beginning of `out`.
        Ok(unsafe { filled(out) })
    } else {
        Err(Error::corrupt(FORMAT, payload.len(), "the content is shorter than the frame says"))
    }
}

/// The most bytes that `payload` bytes can unfold to: a block of 128 KiB costs at least four bytes.
pub fn largest_content(payload: usize) -> u64 {
    (payload as u64 / 4 + 1) << 17
}
