//! Finds what was there before.

use super::{Blobs, FAR, NEAR, SAME_SLOT, Slot};

/// The shortest reference.
pub const MIN_MATCH: usize = 12;
/// The shortest reference to somewhere that has to be spelled out.
const MIN_FAR: usize = 24;
const HASHED: usize = 16;

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

    fn at(&self, history: &[u8], at: usize) -> Option<usize> {
        let bytes = history.get(at..)?.first_chunk::<HASHED>()?;
        let found = self.table[self.slot(bytes)];
        (found != NOWHERE && (found as usize) < at && history[found as usize..].first_chunk() == Some(bytes))
            .then_some(found as usize)
    }

    /// Let the bytes of `history` from `from` to `to` be found, every `stride`th of them.
    pub fn index(&mut self, history: &[u8], from: usize, to: usize, stride: usize) {
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

/// A reference that could be made.
#[derive(Debug, Clone, Copy)]
pub struct Match {
    pub kind: u32,
    pub source: usize,
    /// Where it goes; it may reach back into the pending literals.
    pub from: usize,
    pub length: usize,
}

/// A reference for the bytes at `at` in the string that begins at `start`, of which all from `pending` on is not encoded.
pub fn find(
    blobs: &Blobs,
    finder: &Finder,
    slot: Slot,
    start: usize,
    pending: usize,
    at: usize,
) -> Option<Match> {
    let history = &blobs.history;
    let end = history.len();
    if at == start {
        let (source, stop) = blobs.slots[usize::from(slot)];
        if source < stop && stop <= start {
            let length = common(history, source, at, end.min(at + stop - source));
            if length >= MIN_MATCH {
                return Some(Match { kind: SAME_SLOT, source, from: at, length });
            }
        }
    }
    // After a change of some bytes, what follows is often where the last reference would go on: right there if
    // bytes were inserted, as many bytes further if they were replaced.
    for source in [blobs.cursor, blobs.cursor + (at - pending)] {
        if source + 8 <= start && at + 8 <= end && history[source..source + 8] == history[at..at + 8] {
            let length = common(history, source, at, end);
            if length >= MIN_MATCH {
                return Some(Match { kind: NEAR, source, from: at, length });
            }
        }
    }
    let found = finder.at(history, at)?;
    let mut length = common(history, found, at, end);
    let back = history[..found].iter().rev().zip(history[pending..at].iter().rev());
    let back = back.take_while(|(x, y)| x == y).count();
    length += back;
    let source = found - back;
    let near = source.abs_diff(blobs.cursor) < 1 << 12;
    let kind = if near { NEAR } else { FAR };
    (length >= MIN_FAR).then_some(Match { kind, source, from: at - back, length })
}
