//! Encodes long strings.

use std::ops::Range;

use super::finder::{Finder, MIN_MATCH, Match, find};
use super::{Blobs, END, LONG, PICTURE, SHORT, Slot, context};
use crate::segment::coder::{Coder, tree};
use crate::segment::picture;
use crate::segment::symbols::SymbolCoder;
use crate::segment::text::Text;

/// Literals up to this length are predicted byte by byte, longer ones mostly compressed together.
const SHORT_LITERALS: usize = 48;
/// The same where time matters less, if they look like text. Beyond it brotli does better.
const SHORT_TEXT: usize = 1024;
/// Every so many bytes of what is new, and of what was referred to, can be found again.
const STRIDE: usize = 4;
const KNOWN_STRIDE: usize = 64;
/// A reference takes the place of a picture if it is of at least such a part of it.
const PART: usize = 4;
/// What repeats in one string within so many bytes is left to the general compressor; its window may end not far beyond.
const OWN: usize = 1 << 16;

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
        let mut pictures = picture::find(if self.thorough { string } else { &[] });
        let mut next = pictures.next();
        let mut last = END;
        // Up to `indexed`, what is pending can be found already.
        let (mut at, mut pending, mut indexed) = (start, start, start);
        while at < end {
            while next.as_ref().is_some_and(|next| start + next.range.start < at) {
                next = pictures.next();
            }
            let picture = next.as_ref().map(|next| start + next.range.start..start + next.range.end);
            let stop = picture.as_ref().map_or(end, |picture| picture.start);
            let find = |at| find(blobs, finder, slot, start, pending, at);
            let found = match &picture {
                Some(picture) if at == stop => repeated(picture, find),
                Some(picture) => find(at).and_then(|found| before(found, picture)),
                None => find(at),
            };
            if let Some(Match { kind, source, from, length }) = found {
                self.literals(blobs, &mut last, start, pending, from);
                finder.index(&blobs.history, pending.max(indexed), from, STRIDE);
                finder.index(&blobs.history, from, from + length, KNOWN_STRIDE);
                tree(self.coder, &mut blobs.models.kinds[last as usize], 3, kind);
                let _ = blobs.reference(self.coder, kind, from, slot, source, length);
                last = kind;
                at = from + length;
                (pending, indexed) = (at, indexed.max(at));
            } else if let Some(this) = next.take_if(|_| at == stop) {
                next = pictures.next();
                if blobs.pictures().fits(&this) {
                    self.literals(blobs, &mut last, start, pending, at);
                    tree(self.coder, &mut blobs.models.kinds[last as usize], 3, PICTURE);
                    blobs.pictures().encode(self.coder, self.text_coder, self.literals, &this);
                    last = PICTURE;
                    at = start + this.range.end;
                    finder.index(&blobs.history, pending.max(indexed), at, STRIDE);
                    (pending, indexed) = (at, indexed.max(at));
                }
            } else {
                // What is long without a match is searched less closely; references reach back. An odd step comes by
                // every remainder of the stride.
                at = stop.min(at + 1 + ((at - pending) >> 7).min(6));
                if at - indexed > OWN {
                    finder.index(&blobs.history, indexed, at - OWN, STRIDE);
                    indexed = at - OWN;
                }
            }
        }
        self.literals(blobs, &mut last, start, pending, end);
        finder.index(&blobs.history, pending.max(indexed), end, STRIDE);
        tree(self.coder, &mut blobs.models.kinds[last as usize], 3, END);
        blobs.finish(slot, start);
    }
}

/// A reference in place of a picture that was there before, found with `find`. How they begin is much the same for all; of
/// what follows every [`STRIDE`]th byte could be found, and many still can.
fn repeated(picture: &Range<usize>, find: impl Fn(usize) -> Option<Match>) -> Option<Match> {
    let mut at = picture.start;
    while at <= picture.start + picture.len() / PART {
        let found = (at..at + STRIDE).find_map(&find);
        if let Some(found) = found.and_then(|found| again(found, picture)) {
            return Some(found);
        }
        at = found.map_or(0, |found| found.from + found.length).max(at + KNOWN_STRIDE);
    }
    None
}

/// A reference in place of a picture, if it is of much of it: what it does not cover costs more than otherwise.
fn again(found: Match, picture: &Range<usize>) -> Option<Match> {
    let end = picture.end.min(found.from + found.length);
    (found.from <= picture.start && PART * end.saturating_sub(picture.start) >= picture.len())
        .then_some(found)
}

/// As much of a reference as comes before a picture, or all of it if it takes the place of the picture.
fn before(found: Match, picture: &Range<usize>) -> Option<Match> {
    if found.from + found.length <= picture.start {
        return Some(found);
    }
    again(found, picture).or_else(|| {
        let length = picture.start.saturating_sub(found.from);
        (length >= MIN_MATCH).then_some(Match { length, ..found })
    })
}
