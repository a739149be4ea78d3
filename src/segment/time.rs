//! Timestamps: differences of what the f64 bits say, in units of the last place, or of whole micro- or milliseconds.

use super::coder::{Bit, Coder, tree_steady};

/// How the timestamps of a segment are turned into whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The bits of the f64.
    Bits = 0,
    /// Microseconds.
    Micro = 1,
    /// Milliseconds.
    Milli = 2,
}

impl Unit {
    fn scale(self) -> f64 {
        match self {
            Self::Bits => 1.0,
            Self::Micro => 1e6,
            Self::Milli => 1e3,
        }
    }

    /// The unit of a number in a segment.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Bits, Self::Micro, Self::Milli].into_iter().find(|unit| *unit as u8 == number)
    }

    /// The coarsest unit in which every timestamp is a whole number and comes back exactly.
    pub fn of(timestamps: impl Iterator<Item = f64> + Clone) -> Self {
        [Self::Milli, Self::Micro]
            .into_iter()
            .find(|unit| {
                timestamps.clone().all(|time| unit.back(unit.number(time)).to_bits() == time.to_bits())
            })
            .unwrap_or(Self::Bits)
    }

    /// The number that stands for `time`.
    pub fn number(self, time: f64) -> i64 {
        match self {
            Self::Bits => time.to_bits() as i64,
            _ => (time * self.scale()).round() as i64,
        }
    }

    /// The timestamp that `number` stands for.
    pub fn back(self, number: i64) -> f64 {
        match self {
            Self::Bits => f64::from_bits(number as u64),
            _ => number as f64 / self.scale(),
        }
    }
}

/// Bits without a model, the first in the lowest place of the first byte.
#[derive(Default)]
pub struct BitWriter {
    out: Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter {
    fn put(&mut self, value: u64, count: u32) {
        for shift in [0, 32] {
            let take = count.saturating_sub(shift).min(32);
            self.held |= (value >> shift & ((1 << take) - 1)) << self.count;
            self.count += take;
            while self.count >= 8 {
                self.out.push(self.held as u8);
                self.held >>= 8;
                self.count -= 8;
            }
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
        self.out
    }
}

/// Reads what [`BitWriter`] wrote, and zeros after it.
pub struct BitReader<'a> {
    rest: &'a [u8],
    held: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Self { rest, held: 0, count: 0 }
    }

    fn get(&mut self, count: u32) -> u64 {
        let mut value = 0;
        for shift in [0, 32] {
            let take = count.saturating_sub(shift).min(32);
            if self.count < take {
                if let Some((four, rest)) = self.rest.split_first_chunk::<4>() {
                    self.held |= u64::from(u32::from_le_bytes(*four)) << self.count;
                    self.count += 32;
                    self.rest = rest;
                } else {
                    while self.count < take {
                        let byte = self.rest.split_first().map_or(0, |(&byte, rest)| {
                            self.rest = rest;
                            byte
                        });
                        self.held |= u64::from(byte) << self.count;
                        self.count += 8;
                    }
                }
            }
            value |= (self.held & ((1 << take) - 1)) << shift;
            self.held >>= take;
            self.count -= take;
        }
        value
    }
}

/// Where the bits below the modelled ones go to, or come from.
pub trait Noise {
    /// Code the `count` low bits of `value`.
    fn bits(&mut self, value: u64, count: u32) -> u64;
}

impl Noise for BitWriter {
    fn bits(&mut self, value: u64, count: u32) -> u64 {
        self.put(value, count);
        value
    }
}

impl Noise for BitReader<'_> {
    fn bits(&mut self, _: u64, count: u32) -> u64 {
        self.get(count)
    }
}

/// Steps that differ from the step before by less than this are "steady".
const STEADY: i64 = 16;
/// Bits below the highest of a step that are modelled.
const TOP: u32 = 4;
/// Tokens: 0 is a steady step, 1 to 30 are the lengths in bits of a forward step, this is for any other step.
const OTHER: u32 = 31;

/// The limit of these models: how somebody types stays what it is.
const STEADFAST: u16 = 250;

/// The model of the steps from each number to the next.
pub struct Times {
    last: i64,
    step: i64,
    token: u32,
    tokens: [[Bit; 32]; 3],
    near: [Bit; 32],
    negative: Bit,
    lengths: [Bit; 128],
    tops: Vec<Bit>,
}

impl Times {
    /// Start from `first`.
    pub fn new(first: i64) -> Self {
        Self {
            last: first,
            step: 0,
            token: 0,
            tokens: [[Bit::default(); 32]; 3],
            near: [Bit::default(); 32],
            negative: Bit::default(),
            lengths: [Bit::default(); 128],
            tops: vec![Bit::default(); 65 << TOP],
        }
    }

    /// Code the next number.
    #[inline]
    pub fn code<C: Coder, N: Noise>(&mut self, coder: &mut C, noise: &mut N, number: i64) -> i64 {
        let step = number.wrapping_sub(self.last);
        let change = step.wrapping_sub(self.step);
        let size = step.unsigned_abs();
        let length = 64 - size.leading_zeros();
        let token = match length {
            _ if (-STEADY..STEADY).contains(&change) => 0,
            1..OTHER if step > 0 => length,
            _ => OTHER,
        };
        // What came before says little about the length, but tells clocks that tick from people who type.
        let nodes = &mut self.tokens[match self.token {
            0 => 0,
            OTHER => 1,
            _ => 2,
        }];
        self.token = tree_steady(coder, nodes, 5, token, STEADFAST);
        if self.token == 0 {
            let near =
                tree_steady(coder, &mut self.near, 5, change.wrapping_add(STEADY) as u32 & 31, STEADFAST);
            self.step = self.step.wrapping_add(i64::from(near) - STEADY);
        } else {
            let (mut length, mut negative) = (self.token, false);
            if length == OTHER {
                negative = self.negative.code_steady(coder, step < 0, STEADFAST);
                length =
                    tree_steady(coder, &mut self.lengths, 7, 64 - size.leading_zeros(), STEADFAST).min(64);
            }
            let size = self.size(coder, noise, length, size) as i64;
            self.step = if negative { size.wrapping_neg() } else { size };
        }
        self.last = self.last.wrapping_add(self.step);
        self.last
    }

    /// Code a size of `length` bits.
    #[inline(always)]
    fn size<C: Coder, N: Noise>(&mut self, coder: &mut C, noise: &mut N, length: u32, size: u64) -> u64 {
        let Some(below) = length.checked_sub(1) else { return 0 };
        let top = below.min(TOP);
        let rest = below - top;
        let nodes = &mut self.tops[(length as usize) << TOP..][..1 << TOP];
        let modelled = (size >> rest) as u32 & ((1 << top) - 1);
        let read = u64::from(tree_steady(coder, nodes, top, modelled, STEADFAST)) | 1 << top;
        read << rest | if rest > 0 { noise.bits(size & ((1 << rest) - 1), rest) } else { 0 }
    }
}
