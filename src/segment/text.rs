//! Bytes of short strings, predicted from the bytes before them: for each half of a byte, what followed in several
//! contexts is mixed, from the shortest to the longest, by how well each did in situations of the kind.

use wide::u16x8;

use super::symbols::{Lanes, SymbolCoder, flat};

/// Contexts of a byte: none, the last byte, the last two, the last four.
const CONTEXTS: usize = 4;

/// What followed in a context: for the symbols 1 to 15, the share of 65536 that is below them. In the place of symbol 0,
/// whose is 0, is a tag: a check against other contexts in the same line, and the experience.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Line([u16; 16]);

/// The bits of a tag that are the experience of a line: in the lowest [`SEEN`], how many symbols it has seen; above, how
/// often in a row it made the prediction better.
const EXPERIENCE: u32 = 7;
const SEEN: u32 = 5;
const MOST_SEEN: usize = 30;
const EXPERIENCES: usize = 1 << EXPERIENCE;

/// The experience after one more symbol, by whether the line made the prediction better.
static NEXT: [[u8; EXPERIENCES]; 2] = {
    let mut next = [[0; EXPERIENCES]; 2];
    let mut at = 0;
    while at < EXPERIENCES {
        let seen = at % (1 << SEEN);
        let row = at >> SEEN;
        let more = if seen < MOST_SEEN { seen + 1 } else { MOST_SEEN };
        next[0][at] = (more | if at == 0 { 1 << SEEN } else { 0 }) as u8;
        next[1][at] = (more | (if row < 3 { row + 1 } else { 3 }) << SEEN) as u8;
        at += 1;
    }
    next
};

/// How much of itself a line gives up for the symbol, by its experience: all at first, then 1 / (seen + 1.2).
static STEPS: [u16; EXPERIENCES] = {
    let mut steps = [u16::MAX; EXPERIENCES];
    let mut at = 0;
    while at < EXPERIENCES {
        let seen = at % (1 << SEEN);
        if seen > 0 {
            steps[at] = (5 * 65_536 / (5 * seen + 6)) as u16;
        }
        at += 1;
    }
    steps
};

/// How much of the mixture a context takes, in 65536ths, by the experience of its line.
type Weights = [[u16; EXPERIENCES]; CONTEXTS];

const START: Weights = {
    const BY_ROW: [usize; 4] = [20_000, 26_000, 39_000, 46_000];
    let mut weights = [0; EXPERIENCES];
    let mut at = 0;
    while at < EXPERIENCES {
        // What has seen nothing has nothing to say.
        let seen = at % (1 << SEEN);
        weights[at] = if seen == 0 { 0 } else { (BY_ROW[at >> SEEN] * (seen + 1) / (seen + 2)) as u16 };
        at += 1;
    }
    [weights; CONTEXTS]
};

/// Weights learn at this rate, as a shift.
const PATIENCE: u32 = 6;

/// The least share of a symbol.
const LEAST: u16 = 16;
const FLOOR: [u16; 16] = multiples(LEAST);
const EVEN: [u16; 16] = multiples(4096);

const fn multiples(of: u16) -> [u16; 16] {
    let mut all = [0; 16];
    let mut at = 0;
    while at < 16 {
        all[at] = of * at as u16;
        at += 1;
    }
    all
}

/// By symbol: ones in the lanes of those above. What is in the place of the tag does not matter; if it were always the
/// same, the compiler would put the lanes together one by one.
static ABOVE: [Line; 16] = {
    let mut above = [Line([0; 16]); 16];
    let mut symbol = 0;
    while symbol < 16 {
        above[symbol].0[0] = symbol as u16;
        let mut at = symbol + 1;
        while at < 16 {
            above[symbol].0[at] = u16::MAX;
            at += 1;
        }
        symbol += 1;
    }
    above
};

#[inline(always)]
const fn lanes(all: [u16; 16]) -> Lanes {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = all;
    [u16x8::new([a, b, c, d, e, f, g, h]), u16x8::new([i, j, k, l, m, n, o, p])]
}

/// `part` 65536ths of each lane.
#[inline(always)]
fn portion(of: Lanes, part: u16) -> Lanes {
    let part = u16x8::splat(part);
    [of[0].mul_keep_high(part), of[1].mul_keep_high(part)]
}

/// The model; see the module.
pub struct Text {
    /// For the context of nothing.
    first: [Line; 32],
    lines: Vec<Line>,
    weights: Vec<Weights>,
    context: Context,
}

/// What a byte follows: the bytes before it, the nearest lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context(u32);

impl Context {
    /// A beginning: of what, `number` says.
    pub const fn start(number: u8) -> Self {
        Self(number as u32)
    }

    /// The context after one more byte.
    #[inline(always)]
    pub fn then(self, byte: u8) -> Self {
        Self(self.0 << 8 | u32::from(byte))
    }

    /// Where the contexts of a byte, but the first, are told apart.
    #[inline(always)]
    fn hashes(self) -> [u32; CONTEXTS - 1] {
        let hash = |value: u32, number: u64| {
            ((u64::from(value) | number << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
        };
        [hash(self.0 & 0xff, 1), hash(self.0 & 0xffff, 2), hash(self.0, 3)]
    }

    /// The kind of the last byte: a letter, a digit, other ASCII, or not ASCII.
    #[inline(always)]
    fn kind(self) -> usize {
        static KINDS: [u8; 256] = {
            let mut kinds = [2; 256];
            let mut byte = 0;
            while byte < 256 {
                if (byte as u8).is_ascii_alphabetic() {
                    kinds[byte] = 0;
                } else if (byte as u8).is_ascii_digit() {
                    kinds[byte] = 1;
                } else if byte >= 0x80 {
                    kinds[byte] = 3;
                }
                byte += 1;
            }
            kinds
        };
        usize::from(KINDS[(self.0 & 0xff) as usize])
    }
}

impl Text {
    /// A model for about `expected` bytes, which decides on the number of lines: 2^10 to 2^16.
    pub fn new(expected: usize) -> Self {
        let bits = (expected.max(1).ilog2() + 3).clamp(10, 16);
        Self {
            first: [Line([0; 16]); 32],
            lines: vec![Line([0; 16]); 1 << bits],
            weights: vec![START; 8],
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
    pub fn byte<C: SymbolCoder>(&mut self, coder: &mut C, byte: u8) -> u8 {
        let hashes = self.context.hashes();
        let weights = 2 * self.context.kind();
        let high = self.half(coder, hashes, 0, weights, byte >> 4);
        let low = self.half(coder, hashes, 16 + high, weights + 1, byte & 15);
        let byte = high << 4 | low;
        self.context = self.context.then(byte);
        byte
    }

    /// Code half a byte; `place` is 0 for the high half, 16 and the high half for the low one.
    #[inline(always)]
    fn half<C: SymbolCoder>(
        &mut self,
        coder: &mut C,
        hashes: [u32; CONTEXTS - 1],
        place: u8,
        weights: usize,
        symbol: u8,
    ) -> u8 {
        let weights = &mut self.weights[weights];
        let last = self.lines.len() - 1;
        let spread = u32::from(place).wrapping_mul(0x9e37_79b1);
        // By context: the line, the bits that prove that it is the context's, and the experience that it has.
        let mut at = [usize::from(place & 31); CONTEXTS];
        let mut checks = [0u16; CONTEXTS];
        let mut experience = [0usize; CONTEXTS];
        for (number, &hash) in hashes.iter().enumerate() {
            at[number + 1] = ((hash ^ spread) >> 9) as usize & last;
            checks[number + 1] = (hash as u16) << EXPERIENCE;
        }
        // The mixtures of no, one, two, ... contexts, one after the other, and a 0 behind the last.
        let mut mixtures = [0u16; 16 * (CONTEXTS + 1) + 16];
        mixtures[..16].copy_from_slice(&EVEN);
        let mut mixture = lanes(EVEN);
        for number in 0..CONTEXTS {
            let line = if number == 0 { &self.first[at[0] & 31] } else { &self.lines[at[number] & last] };
            let tag = line.0[0];
            let its = tag >> EXPERIENCE == checks[number] >> EXPERIENCE;
            experience[number] = if its { usize::from(tag) & (EXPERIENCES - 1) } else { 0 };
            let weight = weights[number][experience[number]];
            let (less, more) = (portion(mixture, weight), portion(without_tag(lanes(line.0)), weight));
            mixture = [mixture[0] - less[0] + more[0], mixture[1] - less[1] + more[1]];
            mixtures[16 * number + 16..16 * number + 32].copy_from_slice(&flat(mixture));
        }
        let (starts, floor) = (portion(mixture, 0u16.wrapping_sub(16 * LEAST)), lanes(FLOOR));
        let symbol = coder.symbol([starts[0] + floor[0], starts[1] + floor[1]], symbol) & 15;

        let above = lanes(ABOVE[usize::from(symbol)].0);
        let mut before = EVEN[1];
        for number in 0..CONTEXTS {
            let place = 16 * number + 16 + usize::from(symbol);
            let share = mixtures[place + 1].wrapping_sub(mixtures[place]);
            let better = share > before;
            before = share;
            let held = experience[number] & (EXPERIENCES - 1);
            let weight = &mut weights[number][held];
            *weight = towards(*weight, better);
            let tag = checks[number] | u16::from(NEXT[usize::from(better)][held]);
            let line =
                if number == 0 { &mut self.first[at[0] & 31] } else { &mut self.lines[at[number] & last] };
            // Lanes above the symbol go towards 65536, the others towards 0: by the same formula on their complement.
            let [low, high] = lanes(line.0);
            let flipped = [low ^ above[0], high ^ above[1]];
            let less = portion(flipped, STEPS[held]);
            let learnt = [(flipped[0] - less[0]) ^ above[0], (flipped[1] - less[1]) ^ above[1]];
            line.0 = flat(with_tag(learnt, tag));
        }
        symbol
    }
}

#[inline(always)]
fn without_tag([low, high]: Lanes) -> Lanes {
    const MASK: u16x8 = u16x8::new([0, !0, !0, !0, !0, !0, !0, !0]);
    [low & MASK, high]
}

/// The lanes with `tag` in the place of the first.
#[inline(always)]
fn with_tag([mut low, high]: Lanes, tag: u16) -> Lanes {
    low.as_mut_array()[0] = tag;
    [low, high]
}

/// A 64th of the way towards 65536 or 0.
#[inline(always)]
fn towards(weight: u16, more: bool) -> u16 {
    let flip = 0u16.wrapping_sub(u16::from(more));
    let flipped = weight ^ flip;
    (flipped - (flipped >> PATIENCE)) ^ flip
}
