//! Timestamps: differences of what the f64 bits say, in units of the last place, or of whole micro- or milliseconds.

use super::coder::{Bit, Coder, tree};

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

/// Differences from the one before that differ from the difference before by less than this are "steady".
const STEADY: i64 = 16;
const TOP: u32 = 4;

/// The model of the differences.
pub struct Times {
    last: i64,
    step: i64,
    length: usize,
    was_steady: usize,
    steady: [Bit; 2],
    near: [Bit; 32],
    lengths: Vec<Bit>,
    negative: [Bit; 65],
    tops: Vec<Bit>,
}

impl Times {
    /// Start from `first`.
    pub fn new(first: i64) -> Self {
        Self {
            last: first,
            step: 0,
            length: 0,
            was_steady: 0,
            steady: [Bit::default(); 2],
            near: [Bit::default(); 32],
            lengths: vec![Bit::default(); 65 * 128],
            negative: [Bit::default(); 65],
            tops: vec![Bit::default(); 65 << TOP],
        }
    }

    /// Code the next number.
    pub fn code<C: Coder, N: Noise>(&mut self, coder: &mut C, noise: &mut N, number: i64) -> i64 {
        let step = number.wrapping_sub(self.last);
        let change = step.wrapping_sub(self.step);
        let steady = (-STEADY..STEADY).contains(&change);
        let steady = self.steady[self.was_steady].code(coder, steady);
        self.was_steady = usize::from(steady);
        if steady {
            let near = tree(coder, &mut self.near, 5, (change.wrapping_add(STEADY)) as u32 & 31);
            self.step = self.step.wrapping_add(i64::from(near) - STEADY);
        } else {
            let size = step.unsigned_abs();
            // The length of the difference before says little about this one, but tells pauses from typing.
            let nodes = &mut self.lengths[self.length * 128..][..128];
            let length = tree(coder, nodes, 7, 64 - size.leading_zeros()).min(64);
            self.length = length as usize;
            let negative = self.negative[length as usize].code(coder, step < 0);
            let below = length.saturating_sub(1);
            let top = below.min(TOP);
            let rest = below - top;
            let nodes = &mut self.tops[(length as usize) << TOP..][..1 << TOP];
            let mut read = u64::from(tree(coder, nodes, top, (size >> rest) as u32 & ((1 << top) - 1)));
            read = if length == 0 { 0 } else { (read | 1 << top) << rest };
            if rest > 0 {
                read |= noise.bits(size & ((1 << rest) - 1), rest);
            }
            self.step = if negative { (read as i64).wrapping_neg() } else { read as i64 };
        }
        self.last = self.last.wrapping_add(self.step);
        self.last
    }
}
