//! Zstandard (RFC 8878) by libzstd. Frames carry no magic number, content size or checksum: our frame has them.

use std::cell::RefCell;

use zstd_safe::{CCtx, CParameter, DCtx, DParameter, FrameFormat, zstd_sys::ZSTD_ErrorCode};

use super::grow;
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
    compact: bool,
}

/// Level 3 looks for matches by tables of 2^17 and 2^16 entries, which do not fit into a core's own cache. For inputs of
/// this many bytes, 2^14 and 2^13 entries find the same matches but for 0.2 % of the size, in less time; smaller inputs
/// have small tables anyway. See `docs/design-rows.md` for the measurement.
const COMPACT_TABLES: std::ops::RangeInclusive<usize> = 8 << 10..=4 << 20;

fn name(code: usize) -> &'static str {
    zstd_safe::get_error_name(code)
}

fn failed(code: usize) -> Error {
    Error::Compress { codec: "zstd", problem: name(code).into() }
}

fn compressor(level: i32) -> Result<Compressor> {
    let mut context = CCtx::try_create()
        .ok_or(Error::Compress { codec: "zstd", problem: "no memory for a compressor".into() })?;
    for parameter in [
        CParameter::Format(FrameFormat::Magicless),
        CParameter::ContentSizeFlag(false),
        CParameter::ChecksumFlag(false),
        CParameter::DictIdFlag(false),
        CParameter::CompressionLevel(level),
    ] {
        context.set_parameter(parameter).map_err(failed)?;
    }
    Ok(Compressor { context, level, compact: false })
}

/// See [`super::Codec::compress`].
pub fn compress(raw: &[u8], level: i32, out: &mut Vec<u8>, at: usize, limit: usize) -> Result<Option<usize>> {
    let limit = limit.min(zstd_safe::compress_bound(raw.len()));
    grow(out, at, limit)?;
    COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some(compressor(level)?);
        }
        let Some(compressor) = slot else { return Ok(None) };
        if compressor.level != level {
            compressor.context.set_parameter(CParameter::CompressionLevel(level)).map_err(failed)?;
            compressor.level = level;
        }
        let compact = level == 3 && COMPACT_TABLES.contains(&raw.len());
        if compressor.compact != compact {
            // 0 stands for what the level says.
            let (hash, chain) = if compact { (14, 13) } else { (0, 0) };
            for parameter in [CParameter::HashLog(hash), CParameter::ChainLog(chain)] {
                compressor.context.set_parameter(parameter).map_err(failed)?;
            }
            compressor.compact = compact;
        }
        match compressor.context.compress2(&mut out[at..at + limit], raw) {
            Ok(length) => Ok(Some(length)),
            Err(code) if too_small(code) => Ok(None),
            Err(code) => Err(failed(code)),
        }
    })
}

fn too_small(code: usize) -> bool {
    // libzstd returns its error codes negated.
    code.wrapping_neg() == ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize
}

/// Decompress `payload`, which must fill `out` exactly.
pub fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
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
        context.decompress(out, payload).map_err(|code| {
            if too_small(code) {
                Error::corrupt(FORMAT, payload.len(), "the content is longer than the frame says")
            } else {
                Error::corrupt(FORMAT, 0, name(code))
            }
        })
    })?;
    if length == out.len() {
        Ok(())
    } else {
        Err(Error::corrupt(FORMAT, payload.len(), "the content is shorter than the frame says"))
    }
}

/// The most bytes that `payload` bytes can unfold to: a block of 128 KiB costs at least four bytes.
pub fn largest_content(payload: usize) -> u64 {
    (payload as u64 / 4 + 1) << 17
}
