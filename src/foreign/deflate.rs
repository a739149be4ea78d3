//! gzip and zlib by flate2.

use std::io::Read;

use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::{PIECE, Refused, Sink};

/// Every member of a gzip value. The decoder compares each member's CRC-32 and length.
pub fn read_gzip(value: &[u8], sink: &mut Sink) -> Result<(), Refused> {
    let mut input = value;
    let mut piece = [0; PIECE];
    while !input.is_empty() {
        let mut member = GzDecoder::new(&mut input);
        loop {
            let length = member.read(&mut piece)?;
            if length == 0 {
                break;
            }
            sink.push(&piece[..length])?;
        }
    }
    Ok(())
}

/// A zlib stream. Read step by step because the library's reader takes a stream that is cut off for a whole one.
pub fn read_zlib(value: &[u8], sink: &mut Sink) -> Result<(), Refused> {
    let mut state = Decompress::new(true);
    let mut piece = [0; PIECE];
    loop {
        let (read, written) = (state.total_in(), state.total_out());
        let status = state.decompress(&value[read as usize..], &mut piece, FlushDecompress::None)?;
        let length = (state.total_out() - written) as usize;
        sink.push(&piece[..length])?;
        match status {
            Status::StreamEnd if state.total_in() == value.len() as u64 => return Ok(()),
            Status::StreamEnd => return Err(Refused::Unsound),
            Status::Ok | Status::BufError if length > 0 || state.total_in() > read => {}
            Status::Ok | Status::BufError => return Err(Refused::Unsound),
        }
    }
}
