//! LZ4 frames by lz4_flex.

use std::io::Read;

use lz4_flex::frame::FrameDecoder;

use super::{PIECE, Refused, Sink};

/// Every frame of a value. The decoder compares the checksums and the content size that a frame carries.
pub fn read(value: &[u8], sink: &mut Sink) -> Result<(), Refused> {
    let mut rest = value;
    let mut piece = [0; PIECE];
    while !rest.is_empty() {
        // The decoder takes a frame without an end mark for a whole one, so where the frame ends is found out first.
        let (frame, behind) =
            frame_length(rest).and_then(|length| rest.split_at_checked(length)).ok_or(Refused::Unsound)?;
        let mut decoder = FrameDecoder::new(frame);
        loop {
            let length = decoder.read(&mut piece)?;
            if length == 0 {
                break;
            }
            sink.push(&piece[..length])?;
        }
        rest = behind;
    }
    Ok(())
}

/// The length of the frame that `bytes` begin with, by the sizes of its blocks; `None` if there is no whole frame.
fn frame_length(bytes: &[u8]) -> Option<usize> {
    const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
    let flags = *bytes.strip_prefix(&MAGIC)?.first()?;
    let flag = |bit: u32| (flags >> bit & 1) as usize;
    let (block_check, content_size, content_check, dictionary) = (flag(4), flag(3), flag(2), flag(0));
    let mut at = MAGIC.len() + 2 + 8 * content_size + 4 * dictionary + 1;
    loop {
        let size = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        at += 4;
        if size == 0 {
            return Some(at + 4 * content_check);
        }
        // The highest bit says that the block is stored as it is.
        at = at.checked_add((size & 0x7fff_ffff) as usize + 4 * block_check)?;
    }
}
