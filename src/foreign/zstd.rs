//! zstd frames with a magic number, by libzstd.

use zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge;
use zstd_safe::{DCtx, InBuffer, OutBuffer};

use super::{PIECE, Refused, Sink};
use crate::codec::zstd::largest_content;

/// Every frame of a value. The decoder compares the checksum and the content size that a frame carries.
pub fn read(value: &[u8], sink: &mut Sink) -> Result<(), Refused> {
    // Walks every block header to the last byte, and so refuses nearly all that only begins like a frame.
    let bound = zstd_safe::decompress_bound(value).map_err(unsound)?;
    if bound > largest_content(value.len()) {
        return Err(Refused::Unsound);
    }
    let mut context = DCtx::try_create().ok_or(Refused::TooLarge)?;
    if bound <= sink.keep as u64 {
        // At once, and so without memory for a window, which may be larger than the content.
        sink.content.try_reserve_exact(bound as usize).map_err(|_| Refused::TooLarge)?;
        sink.total = context.decompress(&mut sink.content, value).map_err(unsound)? as u64;
        return Ok(());
    }
    let mut input = InBuffer::around(value);
    let mut piece = [0; PIECE];
    loop {
        let before = input.pos();
        let mut output = OutBuffer::around(&mut piece[..]);
        let wanted = context.decompress_stream(&mut output, &mut input).map_err(|code| {
            // libzstd returns its error codes negated.
            if code.wrapping_neg() != ZSTD_error_frameParameter_windowTooLarge as usize {
                return Refused::Unsound;
            }
            // How much the frames hold is not known, but what they claim is.
            sink.total = bound;
            Refused::TooLarge
        })?;
        let length = output.pos();
        sink.push(&piece[..length])?;
        if wanted == 0 && input.pos() == value.len() {
            return Ok(());
        }
        if length == 0 && input.pos() == before {
            return Err(Refused::Unsound);
        }
    }
}

fn unsound(_: usize) -> Refused {
    Refused::Unsound
}
