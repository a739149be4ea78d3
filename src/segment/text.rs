//! Bytes of short strings, predicted from the bytes before them by several contexts whose opinions are mixed.

use super::coder::{Bit, Coder};

const INPUTS: usize = 5;
const LIMITS: [u16; INPUTS] = [250, 250, 200, 120, 120];

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
    tables: [Vec<Bit>; INPUTS],
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

fn hash(value: u64) -> u32 {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

impl Text {
    /// A model for about `expected` bytes: it decides on the size of the tables, 2^12 to 2^19 entries.
    pub fn new(expected: usize) -> Self {
        let bits = (expected.max(1) * 8).ilog2().clamp(12, 19);
        let table = |bits: u32| vec![Bit::default(); 1 << bits];
        Self {
            tables: [table(8), table(16), table(bits), table(bits), table(bits)],
            weights: vec![[1 << 14; INPUTS]; 256 * 3],
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
        let Context { history: h, word } = self.context;
        let bases = [
            0,
            ((h & 0xff) as u32) << 8,
            hash((h & 0xffff) + 1),
            hash((h & 0xff_ffff) | 1 << 40),
            hash(u64::from(word) << 8 | 2 << 42),
        ];
        let mut node = 1u32;
        for shift in (0..8).rev() {
            let mut index = [0usize; INPUTS];
            let mut input = [0i32; INPUTS];
            let mut sum = 0i32;
            let mut confident = 0;
            for i in 0..INPUTS {
                let table = &self.tables[i];
                let spread = if i < 2 { bases[i] | node } else { bases[i] ^ node.wrapping_mul(0x9e35_79b1) };
                // The high bits of the product mix best; the low ones hold the node for small tables.
                let at = if i < 2 { spread } else { spread ^ spread >> 15 } as usize & (table.len() - 1);
                let bit = table[at];
                index[i] = at;
                input[i] = i32::from(STRETCH[(bit.p() >> 4) as usize & 4095]);
                if i >= 3 && bit.seen() > 0 {
                    confident += usize::from(i == 3 || confident == 0);
                }
            }
            let weights = &mut self.weights[(confident << 8 | node as usize) % 768];
            for i in 0..INPUTS {
                sum += (input[i] * (weights[i] >> 2)) >> 14;
            }
            let p = squash(sum).clamp(32, 65_504);
            let bit = coder.bit(p, byte >> shift & 1 == 1);
            let error = (if bit { 65_535 } else { 0 }) - p as i32;
            for i in 0..INPUTS {
                weights[i] = (weights[i] + ((input[i] * error + (1 << 13)) >> 14)).clamp(-(1 << 19), 1 << 19);
                self.tables[i][index[i]].update(bit, LIMITS[i]);
            }
            node = node << 1 | u32::from(bit);
        }
        let byte = node as u8;
        self.context = self.context.then(byte);
        byte
    }
}
