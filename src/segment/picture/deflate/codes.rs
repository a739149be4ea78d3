//! Which bits a symbol has, and which values it stands for.

use super::{Header, Spelled, item};
use crate::segment::yjs::{Irregular, Walk};

impl Spelled {
    /// The codes of lengths.
    pub fn codes_of_lengths(&self) -> Walk<Vec<Code>> {
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let mut lengths = [0; 19];
        for (symbol, &length) in ORDER.into_iter().zip(&self.lengths[..self.of_lengths()]) {
            lengths[symbol] = length;
        }
        codes(&lengths)
    }
}

/// The code of a symbol: its bits in the order of the stream, and how many; none for 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Code {
    pub bits: u16,
    pub length: u8,
}

/// The codes with these lengths (RFC 1951, section 3.2.2).
fn codes(lengths: &[u8]) -> Walk<Vec<Code>> {
    let mut counts = [0u32; 16];
    for &length in lengths {
        counts[usize::from(length & 15)] += 1;
    }
    let mut next = [0u32; 16];
    for length in 1..16 {
        let before = if length == 1 { 0 } else { counts[length - 1] };
        next[length] = (next[length - 1] + before) << 1;
        if next[length] + counts[length] > 1 << length {
            return Err(Irregular);
        }
    }
    let code = |&length: &u8| {
        if length == 0 {
            return Code::default();
        }
        let code = &mut next[usize::from(length & 15)];
        *code += 1;
        Code { bits: ((*code - 1) as u16).reverse_bits() >> (16 - length), length }
    };
    Ok(lengths.iter().map(code).collect())
}

/// The codes of a block.
pub struct Codes {
    pub literals: Vec<Code>,
    pub distances: Vec<Code>,
}

impl Codes {
    /// Those that a header says. Fails if it makes no sense.
    pub fn of(header: &Header) -> Walk<Self> {
        let Some(spelled) = &header.spelled else {
            let length = |symbol| match symbol {
                144..256 => 9,
                256..280 => 7,
                _ => 8,
            };
            let literals: Vec<u8> = (0..288).map(length).collect();
            return Ok(Self { literals: codes(&literals)?, distances: codes(&[5; 32])? });
        };
        let mut lengths = Vec::with_capacity(spelled.expected());
        for &(symbol, more) in &spelled.items {
            let of = match symbol {
                0..16 => symbol,
                16 => *lengths.last().ok_or(Irregular)?,
                _ => 0,
            };
            lengths.resize(lengths.len() + item(symbol).1 + usize::from(more), of);
        }
        if lengths.len() != spelled.expected() {
            return Err(Irregular);
        }
        let (literals, distances) = lengths.split_at(usize::from(spelled.counts[0]) + 257);
        Ok(Self { literals: codes(literals)?, distances: codes(distances)? })
    }
}

/// The symbol at the end of a block; those of lengths come after it.
pub const END: usize = 256;

/// The smallest value and the number of further bits, for lengths from symbol 257 on, and for distances.
pub const LENGTHS: [(u16, u32); 29] = {
    let mut all = [(0, 0); 29];
    let (mut at, mut base) = (0, 3);
    while at < 28 {
        let bits = if at < 8 { 0 } else { (at / 4 - 1) as u32 };
        all[at] = (base, bits);
        base += 1 << bits;
        at += 1;
    }
    all[28] = (258, 0);
    all
};
pub const DISTANCES: [(u16, u32); 30] = {
    let mut all = [(0, 0); 30];
    let (mut at, mut base) = (0, 1);
    while at < 30 {
        let bits = if at < 4 { 0 } else { (at / 2 - 1) as u32 };
        all[at] = (base, bits);
        base = (base as u32 + (1u32 << bits)) as u16;
        at += 1;
    }
    all
};

/// The place of `value` in one of them.
pub fn place(of: &[(u16, u32)], value: u16) -> usize {
    of.partition_point(|&(base, _)| base <= value).saturating_sub(1)
}
