//! Symbols predicted from contexts: what followed in several of them is mixed, from the most general to the most special,
//! by how well each did in situations of the kind.

use wide::u16x8;

use super::symbols::{Lanes, SymbolCoder, flat};

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

/// How much of the mixture a context takes at first, in 65536ths, by the experience of its line.
const START: [u16; EXPERIENCES] = {
    const BY_ROW: [usize; 4] = [20_000, 26_000, 39_000, 46_000];
    let mut weights = [0; EXPERIENCES];
    let mut at = 0;
    while at < EXPERIENCES {
        // What has seen nothing has nothing to say.
        let seen = at % (1 << SEEN);
        weights[at] = if seen == 0 { 0 } else { (BY_ROW[at >> SEEN] * (seen + 1) / (seen + 2)) as u16 };
        at += 1;
    }
    weights
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

/// Predicts symbols from N contexts.
pub struct Mixer<const N: usize> {
    lines: Vec<Line>,
    weights: Vec<Weights<N>>,
}

/// How much of the mixture each context takes, by the experience of its line.
type Weights<const N: usize> = [[u16; EXPERIENCES]; N];

/// Where the line of a context is.
#[derive(Debug, Clone, Copy)]
pub struct At {
    pub line: usize,
    /// Tells contexts in the same line apart: nine bits.
    pub check: u16,
}

impl<const N: usize> Mixer<N> {
    /// With so many lines and sets of weights.
    pub fn new(lines: usize, sets: usize) -> Self {
        Self { lines: vec![Line([0; 16]); lines], weights: vec![[START; N]; sets] }
    }

    /// Code a symbol. `at` says where its contexts are, from the most general to the most special, and `set` the set of
    /// weights.
    #[inline(always)]
    pub fn symbol<C: SymbolCoder>(&mut self, coder: &mut C, at: [At; N], set: usize, symbol: u8) -> u8 {
        let weights = &mut self.weights[set];
        // By context: the experience of its line, and the mixture with it.
        let (mut experience, mut mixtures) = ([0usize; N], [[0u16; 16]; N]);
        let mut mixture = lanes(EVEN);
        for number in 0..N {
            let line = &self.lines[at[number].line];
            let tag = line.0[0];
            let its = tag >> EXPERIENCE == at[number].check & (u16::MAX >> EXPERIENCE);
            experience[number] = if its { usize::from(tag) & (EXPERIENCES - 1) } else { 0 };
            mixture = mixed(mixture, line, weights[number][experience[number]]);
            mixtures[number] = flat(mixture);
        }
        let (starts, floor) = (portion(mixture, 0u16.wrapping_sub(16 * LEAST)), lanes(FLOOR));
        let symbol = coder.symbol([starts[0] + floor[0], starts[1] + floor[1]], symbol) & 15;

        let above = lanes(ABOVE[usize::from(symbol)].0);
        let mut before = EVEN[1];
        for number in 0..N {
            let share = share(&mixtures[number], symbol);
            let better = share > before;
            before = share;
            let held = experience[number] & (EXPERIENCES - 1);
            adapt(&mut weights[number][held], better);
            let tag = at[number].check << EXPERIENCE | u16::from(NEXT[usize::from(better)][held]);
            self.lines[at[number].line].learn(above, held, tag);
        }
        symbol
    }
}

/// `weight` 65536ths of the line in place of as much of the mixture.
#[inline(always)]
fn mixed(mixture: Lanes, line: &Line, weight: u16) -> Lanes {
    let (less, more) = (portion(mixture, weight), portion(without_tag(lanes(line.0)), weight));
    [mixture[0] - less[0] + more[0], mixture[1] - less[1] + more[1]]
}

/// The share of a symbol in a mixture.
#[inline(always)]
fn share(mixture: &[u16; 16], symbol: u8) -> u16 {
    let symbol = usize::from(symbol & 15);
    // What follows the last share starts at 65536, which is 0 here.
    let end = if symbol == 15 { 0 } else { mixture[(symbol + 1) & 15] };
    end.wrapping_sub(mixture[symbol])
}

impl Line {
    /// Lanes above the symbol go towards 65536, the others towards 0: by the same formula on their complement.
    #[inline(always)]
    fn learn(&mut self, above: Lanes, experience: usize, tag: u16) {
        let [low, high] = lanes(self.0);
        let flipped = [low ^ above[0], high ^ above[1]];
        let less = portion(flipped, STEPS[experience]);
        let learnt = [(flipped[0] - less[0]) ^ above[0], (flipped[1] - less[1]) ^ above[1]];
        self.0 = flat(with_tag(learnt, tag));
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
fn adapt(weight: &mut u16, more: bool) {
    let flip = 0u16.wrapping_sub(u16::from(more));
    let flipped = *weight ^ flip;
    *weight = (flipped - (flipped >> PATIENCE)) ^ flip;
}
