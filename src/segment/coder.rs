//! Binary arithmetic coding with adaptive probabilities.
//!
//! Models are written once, over [`Coder`]: an encoder takes the bit it is given, a decoder returns the one that it
//! reads. So both sides cannot fall out of step.

use std::hint::select_unpredictable;

/// Codes one bit at a time.
pub trait Coder {
    /// Code `bit`, which is 1 with probability `p / 65536` (0 < p < 65536). A decoder ignores `bit`.
    fn bit(&mut self, p: u32, bit: bool) -> bool;
}

/// Writes bits. Carryless: the bytes that both ends of the interval share are final. They are written four at a time,
/// since a branch for each would cost more than the coding.
pub struct Encoder {
    low: u64,
    high: u64,
    out: Vec<u8>,
}

impl Encoder {
    pub fn new() -> Self {
        Self { low: 0, high: u64::MAX, out: Vec::new() }
    }

    /// The coded bytes. A decoder reads zeros after the end, so trailing zeros are left out.
    pub fn finish(mut self) -> Vec<u8> {
        // The number in the interval that ends in the most zeros.
        let mut value = self.high;
        for bits in (8..64).step_by(8) {
            let rounded = self.high & (u64::MAX << bits);
            if rounded < self.low {
                break;
            }
            value = rounded;
        }
        if self.low == 0 {
            value = 0;
        }
        self.out.extend(value.to_be_bytes());
        while self.out.last() == Some(&0) {
            self.out.pop();
        }
        self.out
    }
}

/// The point that divides the interval: bits that are 1 take the part up to it.
#[inline(always)]
fn split(low: u64, high: u64, p: u32) -> u64 {
    low + ((high - low) >> 16) * u64::from(p)
}

impl Coder for Encoder {
    #[inline(always)]
    fn bit(&mut self, p: u32, bit: bool) -> bool {
        let middle = split(self.low, self.high, p);
        self.high = select_unpredictable(bit, middle, self.high);
        self.low = select_unpredictable(bit, self.low, middle + 1);
        if (self.low ^ self.high) >> 32 == 0 {
            self.out.extend(((self.high >> 32) as u32).to_be_bytes());
            self.low <<= 32;
            self.high = self.high << 32 | 0xffff_ffff;
        }
        bit
    }
}

/// Reads what [`Encoder`] wrote; rubbish in gives rubbish out, never a failure.
pub struct Decoder<'a> {
    low: u64,
    high: u64,
    value: u64,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { low: 0, high: u64::MAX, value: 0, rest: bytes };
        decoder.shift();
        decoder.shift();
        decoder
    }

    #[inline(never)]
    fn shift(&mut self) {
        let next = if let Some((four, rest)) = self.rest.split_first_chunk::<4>() {
            self.rest = rest;
            u32::from_be_bytes(*four)
        } else {
            let mut four = [0; 4];
            four[..self.rest.len()].copy_from_slice(self.rest);
            self.rest = &[];
            u32::from_be_bytes(four)
        };
        self.value = self.value << 32 | u64::from(next);
    }
}

impl Coder for Decoder<'_> {
    #[inline(always)]
    fn bit(&mut self, p: u32, _: bool) -> bool {
        let middle = split(self.low, self.high, p);
        let bit = self.value <= middle;
        self.high = select_unpredictable(bit, middle, self.high);
        self.low = select_unpredictable(bit, self.low, middle + 1);
        if (self.low ^ self.high) >> 32 == 0 {
            self.low <<= 32;
            self.high = self.high << 32 | 0xffff_ffff;
            self.shift();
        }
        bit
    }
}

/// Steps of a probability after its first, second, ... bit: 65536 / (n + 1.5).
const STEPS: [u32; 256] = {
    let mut steps = [0; 256];
    let mut n = 0;
    while n < 256 {
        steps[n] = (131_072 / (2 * n + 3)) as u32;
        n += 1;
    }
    steps
};

/// The limit given to [`Bit::update`] where nothing else is said.
const LIMIT: u16 = 60;

/// An adaptive probability: fast at first, slower with every bit that it has seen.
#[derive(Clone, Copy)]
pub struct Bit {
    p: u16,
    seen: u16,
}

impl Default for Bit {
    fn default() -> Self {
        Self { p: 1 << 15, seen: 0 }
    }
}

impl Bit {
    /// The probability of a 1 in 65536ths, never certain.
    #[inline(always)]
    pub fn p(self) -> u32 {
        u32::from(self.p).clamp(24, 65_536 - 24)
    }

    /// Learn `bit`; the step never falls below the one after `limit` bits.
    #[inline(always)]
    pub fn update(&mut self, bit: bool, limit: u16) {
        let step = i64::from(STEPS[usize::from(self.seen & 255)]);
        let p = i64::from(self.p);
        self.p = (p + (((i64::from(bit) * 65_535 - p) * step) >> 16)) as u16;
        self.seen += u16::from(self.seen < limit);
    }

    /// Code a bit and learn it.
    #[inline(always)]
    pub fn code<C: Coder>(&mut self, coder: &mut C, bit: bool) -> bool {
        self.code_steady(coder, bit, LIMIT)
    }

    /// The same with a limit of its own: what hardly changes is worth more patience.
    #[inline(always)]
    pub fn code_steady<C: Coder>(&mut self, coder: &mut C, bit: bool, limit: u16) -> bool {
        let bit = coder.bit(self.p(), bit);
        self.update(bit, limit);
        bit
    }
}

/// Code the `count` low bits of `value`, the highest first, with `bits` as a binary tree (2^count nodes).
#[inline(always)]
pub fn tree<C: Coder>(coder: &mut C, bits: &mut [Bit], count: u32, value: u32) -> u32 {
    tree_steady(coder, bits, count, value, LIMIT)
}

/// The same with a limit of its own.
#[inline(always)]
pub fn tree_steady<C: Coder>(coder: &mut C, bits: &mut [Bit], count: u32, value: u32, limit: u16) -> u32 {
    let mut node = 1usize;
    for shift in (0..count).rev() {
        let bit = bits[node].code_steady(coder, value >> shift & 1 == 1, limit);
        node = node << 1 | usize::from(bit);
    }
    node as u32 - (1 << count)
}

/// Mantissa bits below the highest that [`Num`] models; the rest cost a bit each.
const MODELLED: u32 = 3;

/// An adaptive model of whole numbers: their length in bits, then the bits below the highest.
#[derive(Clone)]
pub struct Num {
    lengths: [Bit; 128],
    tops: Vec<Bit>,
}

impl Default for Num {
    fn default() -> Self {
        Self { lengths: [Bit::default(); 128], tops: vec![Bit::default(); 65 << MODELLED] }
    }
}

impl Num {
    /// Code `value`.
    pub fn code<C: Coder>(&mut self, coder: &mut C, value: u64) -> u64 {
        let length = tree(coder, &mut self.lengths, 7, 64 - value.leading_zeros()).min(64);
        if length < 2 {
            return u64::from(length);
        }
        let below = length - 1;
        let top = below.min(MODELLED);
        let rest = below - top;
        let nodes = &mut self.tops[(length as usize) << MODELLED..][..1 << MODELLED];
        let mut read =
            1 << top | u64::from(tree(coder, nodes, top, (value >> rest) as u32 & ((1 << top) - 1)));
        for shift in (0..rest).rev() {
            read = read << 1 | u64::from(coder.bit(1 << 15, value >> shift & 1 == 1));
        }
        read
    }
}

/// Signed numbers as unsigned ones, small ones small.
pub fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The reverse of [`zigzag`].
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
