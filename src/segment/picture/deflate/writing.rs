//! From blocks to the stream.

use super::codes::{Code, Codes, DISTANCES, END, LENGTHS, place};
use super::{Header, Token, item};
use crate::segment::yjs::{Irregular, Walk};

/// Writes a stream.
pub struct Writer {
    out: Vec<u8>,
    limit: usize,
    held: u64,
    count: u32,
}

impl Writer {
    /// Of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { out: Vec::new(), limit, held: 0, count: 0 }
    }

    /// At most 16 bits.
    #[inline(always)]
    fn bits(&mut self, bits: u16, count: u32) -> Walk {
        self.held |= u64::from(bits) << self.count;
        self.count += count;
        if self.count >= 32 {
            if self.out.len() + 4 > self.limit {
                return Err(Irregular);
            }
            self.out.extend((self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.count -= 32;
        }
        Ok(())
    }

    #[inline(always)]
    fn code(&mut self, codes: &[Code], symbol: usize) -> Walk {
        let code = codes.get(symbol).copied().unwrap_or_default();
        if code.length == 0 {
            return Err(Irregular);
        }
        self.bits(code.bits, u32::from(code.length))
    }

    /// The header of a block.
    pub fn header(&mut self, header: &Header) -> Walk {
        self.bits(u16::from(header.last), 1)?;
        let Some(spelled) = &header.spelled else { return self.bits(1, 2) };
        self.bits(2, 2)?;
        for (&count, of) in spelled.counts.iter().zip([5, 5, 4]) {
            self.bits(u16::from(count), of)?;
        }
        for &length in &spelled.lengths[..spelled.of_lengths()] {
            self.bits(u16::from(length), 3)?;
        }
        let codes = spelled.codes_of_lengths()?;
        for &(symbol, more) in &spelled.items {
            self.code(&codes, usize::from(symbol))?;
            self.bits(u16::from(more), item(symbol).0)?;
        }
        Ok(())
    }

    /// One token under `codes`. Fails if they have none for it, and at the limit.
    #[inline(always)]
    pub fn token(&mut self, codes: &Codes, token: Token) -> Walk {
        match token {
            Token::Literal(byte) => self.code(&codes.literals, usize::from(byte)),
            Token::Copy { length, distance } => {
                for (of, codes, first, value) in [
                    (&LENGTHS[..], &codes.literals, END + 1, length),
                    (&DISTANCES[..], &codes.distances, 0, distance),
                ] {
                    let place = place(of, value);
                    self.code(codes, first + place)?;
                    self.bits(value - of[place].0, of[place].1)?;
                }
                Ok(())
            }
        }
    }

    /// The end of a block.
    pub fn end(&mut self, codes: &Codes) -> Walk {
        self.code(&codes.literals, END)
    }

    /// The stream.
    pub fn finish(mut self) -> Vec<u8> {
        let bytes = self.count.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.held.to_le_bytes()[..bytes]);
        self.out
    }
}
