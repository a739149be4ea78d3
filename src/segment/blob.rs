//! Long strings: what was in an earlier one is referred to, the rest is collected for a general compressor.

use super::coder::{Bit, Coder, Num, tree, unzigzag, zigzag};
use super::symbols::SymbolCoder;
use super::text::{Context, Text};
use super::yjs::{Irregular, Walk};

/// What a long string is used for, so that the last one of the same use is at hand: 0 to [`SLOTS`] - 1.
pub type Slot = u8;

pub const TEXT: Slot = 0;
pub const OTHER: Slot = 1;
pub const UPDATE: Slot = 2;
pub const METADATA: Slot = 3;
/// The first of the slots for values by key.
pub const VALUES: Slot = 4;
pub const SLOTS: usize = 36;

const END: u32 = 0;
const SHORT: u32 = 1;
const LONG: u32 = 2;
const SAME_SLOT: u32 = 3;
const NEAR: u32 = 4;
const FAR: u32 = 5;

/// Literals up to this length are predicted byte by byte, longer ones mostly compressed together.
const SHORT_LITERALS: usize = 48;
/// The same where time matters less, if they look like text. Beyond it brotli does better.
const SHORT_TEXT: usize = 1024;
/// The shortest reference.
const MIN_MATCH: usize = 12;
/// The shortest reference to somewhere that has to be spelled out.
const MIN_FAR: usize = 24;
const HASHED: usize = 16;
/// Every so many bytes of what is new, and of what was referred to, can be found again.
const STRIDE: usize = 4;
const KNOWN_STRIDE: usize = 64;
/// What repeats in one string within so many bytes is left to the general compressor; its window may end not far beyond.
const OWN: usize = 1 << 16;

/// Numbers of tokens.
struct Models {
    kinds: [[Bit; 8]; 6],
    to_end: [Bit; 6],
    lengths: Num,
    literals: Num,
    near: Num,
    far: Num,
}

impl Models {
    fn new() -> Self {
        Self {
            kinds: Default::default(),
            to_end: Default::default(),
            lengths: Num::default(),
            literals: Num::default(),
            near: Num::default(),
            far: Num::default(),
        }
    }
}

/// The strings so far, and where references may point.
pub struct Blobs {
    history: Vec<u8>,
    starts: Vec<usize>,
    slots: [(usize, usize); SLOTS],
    /// Where the last reference ended.
    cursor: usize,
    models: Models,
}

impl Blobs {
    pub fn new() -> Self {
        Self {
            history: Vec::new(),
            starts: Vec::new(),
            slots: [(0, 0); SLOTS],
            cursor: 0,
            models: Models::new(),
        }
    }

    /// The end of the string that `at` lies in; none for the one that is being built.
    fn end_of(&self, at: usize) -> Option<usize> {
        let next = self.starts.partition_point(|&start| start <= at);
        self.starts.get(next).copied()
    }

    fn begin(&mut self, slot: Slot) -> usize {
        let start = self.history.len();
        self.starts.push(start);
        self.cursor = self.slots[usize::from(slot)].0;
        start
    }

    fn finish(&mut self, slot: Slot, start: usize) {
        self.slots[usize::from(slot)] = (start, self.history.len());
    }

    /// Code one reference of `length` bytes from `source` on; `here` is where it goes. Returns its source and length.
    fn reference<C: Coder>(
        &mut self,
        coder: &mut C,
        kind: u32,
        here: usize,
        slot: Slot,
        source: usize,
        length: usize,
    ) -> Walk<(usize, usize)> {
        let source = match kind {
            SAME_SLOT => self.slots[usize::from(slot)].0,
            NEAR => {
                let delta = (source as i64).wrapping_sub(self.cursor as i64);
                let delta = unzigzag(self.models.near.code(coder, zigzag(delta)));
                (self.cursor as i64).wrapping_add(delta) as usize
            }
            _ => here.wrapping_sub(self.models.far.code(coder, here.wrapping_sub(source) as u64) as usize),
        };
        if source >= here {
            return Err(Irregular);
        }
        let end = self.end_of(source);
        let whole = end.is_some_and(|end| source + length == end);
        let length = match end {
            Some(end) if self.models.to_end[kind as usize].code(coder, whole) => end - source,
            _ => self.models.lengths.code(coder, length as u64) as usize,
        };
        self.cursor = source.saturating_add(length);
        Ok((source, length))
    }

    /// Decode one string of at most `limit` bytes: where it lies in the history.
    pub fn decode<C: Coder, T: SymbolCoder>(
        &mut self,
        coder: &mut C,
        text: &mut Text,
        text_coder: &mut T,
        literals: &mut &[u8],
        slot: Slot,
        limit: usize,
    ) -> Walk<&[u8]> {
        let start = self.begin(slot);
        let mut last = END;
        loop {
            let kind = tree(coder, &mut self.models.kinds[last as usize], 3, 0);
            let room = limit - (self.history.len() - start);
            match kind {
                END => break,
                SHORT => {
                    let length = self.models.literals.code(coder, 0) as usize;
                    if length > room || length == 0 {
                        return Err(Irregular);
                    }
                    text.follow(context(&self.history[start..]));
                    for _ in 0..length {
                        self.history.push(text.byte(text_coder, 0));
                    }
                }
                LONG => {
                    let length = self.models.literals.code(coder, 0) as usize;
                    if length > room || length == 0 {
                        return Err(Irregular);
                    }
                    let (taken, rest) = literals.split_at_checked(length).ok_or(Irregular)?;
                    self.history.extend_from_slice(taken);
                    *literals = rest;
                }
                SAME_SLOT | NEAR | FAR => {
                    let here = self.history.len();
                    let (source, length) = self.reference(coder, kind, here, slot, 0, 0)?;
                    if length > room || length == 0 {
                        return Err(Irregular);
                    }
                    if source + length <= here {
                        self.history.extend_from_within(source..source + length);
                    } else {
                        for at in source..source + length {
                            self.history.push(self.history[at]);
                        }
                    }
                }
                _ => return Err(Irregular),
            }
            last = kind;
        }
        self.finish(slot, start);
        Ok(&self.history[start..])
    }
}

/// The context of what follows `before`.
fn context(before: &[u8]) -> Context {
    before[before.len().saturating_sub(8)..]
        .iter()
        .fold(Context::start(3), |context, &byte| context.then(byte))
}

/// Finds what was there before.
pub struct Finder {
    table: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Finder {
    /// For about `expected` bytes.
    pub fn new(expected: usize) -> Self {
        let bits = (expected.max(1) / 2).max(1).ilog2().clamp(8, 20);
        Self { table: vec![NOWHERE; 1 << bits] }
    }

    #[inline(always)]
    fn slot(&self, bytes: &[u8; HASHED]) -> usize {
        let (low, high) = bytes.split_at(8);
        let word = |part: &[u8]| part.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        let mixed = word(low).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ word(high).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(29);
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.table.len() - 1)
    }

    fn find(&self, history: &[u8], at: usize) -> Option<usize> {
        let bytes = history.get(at..)?.first_chunk::<HASHED>()?;
        let found = self.table[self.slot(bytes)];
        (found != NOWHERE && (found as usize) < at && history[found as usize..].first_chunk() == Some(bytes))
            .then_some(found as usize)
    }

    fn index(&mut self, history: &[u8], from: usize, to: usize, stride: usize) {
        for at in (from.next_multiple_of(stride)..to).step_by(stride) {
            let Some(bytes) = history[at..].first_chunk::<HASHED>() else { break };
            let slot = self.slot(bytes);
            self.table[slot] = at as u32;
        }
    }
}

/// How many bytes from `a` and from `b` on are equal, with `b` up to `end`.
fn common(history: &[u8], a: usize, b: usize, end: usize) -> usize {
    let length = end - b;
    let (left, right) = (&history[a..], &history[b..end]);
    let mut at = 0;
    while let (Some(x), Some(y)) = (left[at..].first_chunk::<32>(), right[at..].first_chunk::<32>()) {
        if x != y {
            break;
        }
        at += 32;
    }
    at + left[at..].iter().zip(&right[at..]).take(length - at).take_while(|(x, y)| x == y).count()
}

/// Where encoded strings go.
pub struct Sink<'a, C, T> {
    pub coder: &'a mut C,
    pub text: &'a mut Text,
    pub text_coder: &'a mut T,
    pub literals: &'a mut Vec<u8>,
    /// Whether to predict long literals too.
    pub thorough: bool,
}

/// Whether words and lines alternate with spaces; pictures in base64 have none, or one every 77th byte.
fn looks_like_text(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| byte.is_ascii_whitespace()).count() * 32 >= bytes.len()
}

impl<C: Coder, T: SymbolCoder> Sink<'_, C, T> {
    fn literals(&mut self, blobs: &mut Blobs, last: &mut u32, start: usize, from: usize, to: usize) {
        if from == to {
            return;
        }
        let length = to - from;
        let bytes = &blobs.history[from..to];
        let predict =
            length <= SHORT_LITERALS || self.thorough && length <= SHORT_TEXT && looks_like_text(bytes);
        let kind = if predict { SHORT } else { LONG };
        tree(self.coder, &mut blobs.models.kinds[*last as usize], 3, kind);
        blobs.models.literals.code(self.coder, length as u64);
        if kind == SHORT {
            self.text.follow(context(&blobs.history[start..from]));
            for &byte in bytes {
                self.text.byte(self.text_coder, byte);
            }
        } else {
            self.literals.extend_from_slice(bytes);
        }
        *last = kind;
    }

    /// Encode `string`.
    pub fn encode(&mut self, blobs: &mut Blobs, finder: &mut Finder, slot: Slot, string: &[u8]) {
        let start = blobs.begin(slot);
        blobs.history.extend_from_slice(string);
        let end = blobs.history.len();
        let mut last = END;
        // Up to `indexed`, what is pending can be found already.
        let (mut at, mut pending, mut indexed) = (start, start, start);
        while at < end {
            let Some((kind, source, from, length)) = find(blobs, finder, slot, start, pending, at) else {
                // What is long without a match, such as a picture, is searched less closely; references reach back.
                // An odd step comes by every remainder of the stride.
                at += 1 + ((at - pending) >> 7).min(6);
                if at.min(end) - indexed > OWN {
                    finder.index(&blobs.history, indexed, at.min(end) - OWN, STRIDE);
                    indexed = at.min(end) - OWN;
                }
                continue;
            };
            self.literals(blobs, &mut last, start, pending, from);
            finder.index(&blobs.history, pending.max(indexed), from, STRIDE);
            finder.index(&blobs.history, from, from + length, KNOWN_STRIDE);
            tree(self.coder, &mut blobs.models.kinds[last as usize], 3, kind);
            let _ = blobs.reference(self.coder, kind, from, slot, source, length);
            last = kind;
            at = from + length;
            (pending, indexed) = (at, indexed.max(at));
        }
        self.literals(blobs, &mut last, start, pending, end);
        finder.index(&blobs.history, pending.max(indexed), end, STRIDE);
        tree(self.coder, &mut blobs.models.kinds[last as usize], 3, END);
        blobs.finish(slot, start);
    }
}

/// A reference for the bytes at `at`: its kind, its source, where it begins (it may reach back into the pending
/// literals) and its length.
fn find(
    blobs: &Blobs,
    finder: &Finder,
    slot: Slot,
    start: usize,
    pending: usize,
    at: usize,
) -> Option<(u32, usize, usize, usize)> {
    let history = &blobs.history;
    let end = history.len();
    if at == start {
        let (source, stop) = blobs.slots[usize::from(slot)];
        if source < stop && stop <= start {
            let length = common(history, source, at, end.min(at + stop - source));
            if length >= MIN_MATCH {
                return Some((SAME_SLOT, source, at, length));
            }
        }
    }
    // After a change of some bytes, what follows is often where the last reference would go on: right there if
    // bytes were inserted, as many bytes further if they were replaced.
    for source in [blobs.cursor, blobs.cursor + (at - pending)] {
        if source + 8 <= start && at + 8 <= end && history[source..source + 8] == history[at..at + 8] {
            let length = common(history, source, at, end);
            if length >= MIN_MATCH {
                return Some((NEAR, source, at, length));
            }
        }
    }
    let found = finder.find(history, at)?;
    let mut length = common(history, found, at, end);
    let back = history[..found].iter().rev().zip(history[pending..at].iter().rev());
    let back = back.take_while(|(x, y)| x == y).count();
    length += back;
    let source = found - back;
    let near = source.abs_diff(blobs.cursor) < 1 << 12;
    (length >= MIN_FAR).then_some((if near { NEAR } else { FAR }, source, at - back, length))
}
