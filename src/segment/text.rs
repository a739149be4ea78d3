//! Bytes of short strings, predicted from the bytes before them by several contexts whose opinions are mixed.

use super::coder::{Bit, Coder};

const INPUTS: usize = 4;
/// 16384 is 1.
const START_WEIGHT: i32 = 6000;
const LIMITS: [u16; INPUTS] = [250, 120, 20, 20];

/// The 15 probabilities of half a byte in one context, in one cache line.
type Line = [Bit; 16];

/// ln(p / (1 - p)) in 256ths, for p in 4096ths: the reverse of [`squash`], so that only whole numbers are used.
static STRETCH: [i16; 4096] = {
    let mut table = [2047; 4096];
    let mut at = 0;
    let mut x = -2047;
    while x <= 2047 {
        let p = squash(x) as usize >> 4;
        while at <= p {
            table[at] = x as i16;
            at += 1;
        }
        x += 1;
    }
    table
};

/// 65536 / (1 + e^-(x / 256)), by interpolation between 33 points.
#[inline(always)]
const fn squash(x: i32) -> u32 {
    const POINTS: [u32; 34] = [
        22, 36, 59, 98, 161, 265, 437, 719, 1179, 1929, 3108, 4972, 7812, 11955, 17625, 24816, 32768, 40720,
        47911, 53581, 57724, 60564, 62428, 63607, 64357, 64817, 65099, 65271, 65375, 65438, 65477, 65500,
        65514, 65522,
    ];
    let x = (if x < -2047 {
        -2047
    } else if x > 2047 {
        2047
    } else {
        x
    } + 2048) as u32;
    let (index, part) = ((x >> 7) as usize, x & 127);
    (POINTS[index] * (128 - part) + POINTS[index + 1] * part) >> 7
}

/// The model; see the module.
pub struct Text {
    tables: [Vec<Line>; INPUTS],
    weights: Vec<[i32; INPUTS]>,
    context: Context,
}

/// What a byte follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// The bytes before, the nearest lowest.
    history: u64,
    /// A hash of the word that it continues.
    word: u32,
}

impl Context {
    /// A beginning: of what, `number` says.
    pub const fn start(number: u8) -> Self {
        Self { history: number as u64, word: 0 }
    }

    /// The context after one more byte.
    #[inline(always)]
    pub fn then(self, byte: u8) -> Self {
        let word = if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            self.word.wrapping_add(u32::from(byte) + 1).wrapping_mul(0x2f0b_4a27)
        } else {
            0
        };
        Self { history: self.history << 8 | u64::from(byte), word }
    }
}

/// Where the contexts are told apart.
#[inline(always)]
fn hash(value: u64, order: u64) -> u64 {
    (value ^ order << 58).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Text {
    /// A model for about `expected` bytes, which decides on the size of the tables: 2^6 to 2^14 lines.
    pub fn new(expected: usize) -> Self {
        let bits = expected.max(1).ilog2().clamp(6, 14);
        let table = |bits: u32| vec![Line::default(); 1 << bits];
        Self {
            tables: [table(bits.min(11)), table(bits), table(bits), table(bits)],
            weights: vec![[START_WEIGHT; INPUTS]; 2 * 256],
            context: Context::default(),
        }
    }

    /// The next bytes follow `context`.
    pub fn follow(&mut self, context: Context) {
        self.context = context;
    }

    /// What the next byte follows.
    pub fn context(&self) -> Context {
        self.context
    }

    /// Code one byte.
    #[inline]
    pub fn byte<C: Coder>(&mut self, coder: &mut C, byte: u8) -> u8 {
        let Context { history, word } = self.context;
        let hashes = [
            hash(history & 0xff, 1),
            hash(history & 0xffff, 2),
            hash(history & 0xff_ffff, 3),
            hash(u64::from(word) << 8 | history & 0xff, 4),
        ];
        let high = self.half(coder, hashes, 1, byte >> 4);
        let low = self.half(coder, hashes, 16 + high, byte & 15);
        let byte = high << 4 | low;
        self.context = self.context.then(byte);
        byte
    }

    /// Code four bits; `place` is 1 for the high half, 16 and the high half for the low one.
    #[inline(always)]
    fn half<C: Coder>(&mut self, coder: &mut C, hashes: [u64; INPUTS], place: u8, bits: u8) -> u8 {
        let [one, two, three, four] = &mut self.tables;
        let at = |table: &[Line], hash: u64| {
            (hash.wrapping_add(u64::from(place)).wrapping_mul(0xc2b2_ae3d_27d4_eb4f) >> 44) as usize
                & (table.len() - 1)
        };
        let places = [at(one, hashes[0]), at(two, hashes[1]), at(three, hashes[2]), at(four, hashes[3])];
        let mut lines =
            [&mut one[places[0]], &mut two[places[1]], &mut three[places[2]], &mut four[places[3]]];
        // The weights depend on the bits of this half, and on how well the longer contexts are known.
        let known = usize::from(lines[2][1].seen() > 0) + usize::from(lines[3][1].seen() > 1);
        let base = if place == 1 { 0 } else { 64 } + known * 16;
        let mut node = 1usize;
        for shift in (0..4).rev() {
            let mut inputs = [0i32; INPUTS];
            for (input, line) in inputs.iter_mut().zip(&lines) {
                *input = i32::from(STRETCH[(line[node & 15].p() >> 4) as usize & 4095]);
            }
            let weights = &mut self.weights[(base + node) & 511];
            let sum: i32 = inputs.iter().zip(&*weights).map(|(input, weight)| input * weight).sum();
            let p = squash(sum >> 14).clamp(32, 65_504);
            let bit = coder.bit(p, bits >> shift & 1 == 1);
            let error = (i32::from(bit) << 16) - p as i32;
            for (weight, input) in weights.iter_mut().zip(inputs) {
                *weight = (*weight + ((input * (error >> 2) + (1 << 13)) >> 14)).clamp(-(1 << 17), 1 << 17);
            }
            for (line, limit) in lines.iter_mut().zip(LIMITS) {
                line[node & 15].update(bit, limit);
            }
            node = node << 1 | usize::from(bit);
        }
        node as u8 & 15
    }
}
