//! Coding of symbols, each half a byte, whose shares are given: asymmetric numeral systems with ranges
//! (J. Duda, arXiv:1311.2540), with a state of 32 bits of which 16 move at a time.
//!
//! As with bits, models are written once, over [`SymbolCoder`].

use wide::u16x8;

/// A value for each of the 16 symbols.
pub type Lanes = [u16x8; 2];

/// Codes one symbol at a time.
pub trait SymbolCoder {
    /// Code `symbol` (0 to 15). Symbol s has the share of 65536 from `starts[s]` on, up to where the next one starts.
    /// The first start is 0, each is above the one before. A decoder ignores `symbol`.
    fn symbol(&mut self, starts: Lanes, symbol: u8) -> u8;
}

/// The lanes one after the other.
#[inline(always)]
pub fn flat(lanes: Lanes) -> [u16; 16] {
    let mut flat = [0; 16];
    flat[..8].copy_from_slice(&lanes[0].to_array());
    flat[8..].copy_from_slice(&lanes[1].to_array());
    flat
}

/// Where the share of `symbol` starts, and its size, which is below 65536.
#[inline(always)]
fn share(starts: Lanes, symbol: usize) -> (u16, u16) {
    // What follows the last share starts at 65536, which is 0 here.
    let mut all = [0; 32];
    all[..16].copy_from_slice(&flat(starts));
    let start = all[symbol & 15];
    (start, all[(symbol & 15) + 1].wrapping_sub(start))
}

/// Where decoding ends, and so where encoding starts.
const LOWEST: u32 = 1 << 16;

/// Collects symbols. They are coded from the last to the first, since the decoder starts where the encoder ends.
#[derive(Default)]
pub struct SymbolEncoder {
    shares: Vec<(u16, u16)>,
}

impl SymbolEncoder {
    /// The coded symbols. A decoder reads zeros after the end, so trailing zeros are left out.
    pub fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut state = LOWEST;
        for &(start, size) in self.shares.iter().rev() {
            let size = u32::from(size);
            if state >> 16 >= size {
                out.extend((state as u16).to_le_bytes());
                state >>= 16;
            }
            state = ((state / size) << 16) + state % size + u32::from(start);
        }
        if !self.shares.is_empty() {
            out.extend(state.to_le_bytes());
        }
        out.reverse();
        while out.last() == Some(&0) {
            out.pop();
        }
        out
    }
}

impl SymbolCoder for SymbolEncoder {
    #[inline(always)]
    fn symbol(&mut self, starts: Lanes, symbol: u8) -> u8 {
        self.shares.push(share(starts, usize::from(symbol)));
        symbol
    }
}

/// Reads what [`SymbolEncoder`] wrote; rubbish in gives rubbish out, never a failure.
pub struct SymbolDecoder<'a> {
    state: u32,
    rest: &'a [u8],
}

impl<'a> SymbolDecoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { state: 0, rest: bytes };
        decoder.state = decoder.next();
        decoder.state = decoder.state << 16 | decoder.next();
        decoder
    }

    #[inline(always)]
    fn next(&mut self) -> u32 {
        if let Some((two, rest)) = self.rest.split_first_chunk::<2>() {
            self.rest = rest;
            u32::from(u16::from_be_bytes(*two))
        } else {
            let last = std::mem::take(&mut self.rest).first();
            u32::from(last.copied().unwrap_or(0)) << 8
        }
    }
}

impl SymbolCoder for SymbolDecoder<'_> {
    #[inline(always)]
    fn symbol(&mut self, starts: Lanes, _: u8) -> u8 {
        let slot = self.state as u16;
        // The starts up to the slot are the first lanes; that of the symbol is the last of them.
        let [low, high] = starts
            .map(|starts| starts.saturating_sub(u16x8::splat(slot)).simd_eq(u16x8::splat(0)).to_bitmask());
        let symbol = ((low | high << 8).trailing_ones().wrapping_sub(1) & 15) as usize;
        let (start, size) = share(starts, symbol);
        self.state = u32::from(size) * (self.state >> 16) + u32::from(slot.wrapping_sub(start));
        if self.state < LOWEST {
            self.state = self.state << 16 | self.next();
        }
        symbol as u8
    }
}
