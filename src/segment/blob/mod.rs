//! Long strings: what was in an earlier one is referred to, the rest is collected for a general compressor.

mod finder;
mod sink;

use super::coder::{Bit, Coder, Num, tree, unzigzag, zigzag};
use super::picture::Pictures;
use super::symbols::SymbolCoder;
use super::text::{Context, Text};
use super::yjs::{Irregular, Walk};
pub use finder::Finder;
pub use sink::Sink;

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
const PICTURE: u32 = 6;

/// Numbers of tokens.
struct Models {
    kinds: [[Bit; 8]; 7],
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
    /// Made for the first one.
    pictures: Option<Box<Pictures>>,
}

impl Blobs {
    pub fn new() -> Self {
        Self {
            history: Vec::new(),
            starts: Vec::new(),
            slots: [(0, 0); SLOTS],
            cursor: 0,
            models: Models::new(),
            pictures: None,
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

    fn pictures(&mut self) -> &mut Pictures {
        self.pictures.get_or_insert_with(|| Box::new(Pictures::new()))
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
                PICTURE => {
                    let text = self.pictures().decode(coder, text_coder, literals, room)?;
                    self.history.extend_from_slice(&text);
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
