//! What the tokens of a picture are predicted from.
//!
//! Copies are rare where a picture is busy, and literals are what the filter left, so both are predicted from the place
//! in the line. A distance tells which of the places with the same three bytes zlib found: the bytes are cheaper than
//! the distance, and most often the nearest place is the one.

use super::deflate::{Header, Spelled, Token, item};
use super::window::{LARGEST_PIXEL, REACH, Window};
use crate::segment::coder::{Bit, Coder, Num, tree};
use crate::segment::mixer::{At, Mixer};
use crate::segment::symbols::SymbolCoder;
use crate::segment::yjs::{Irregular, Walk};

/// Where a copy comes from: the last four distances, or one of three that are always at hand, or elsewhere.
const KNOWN: usize = 7;
const LAST: usize = 4;
const ELSEWHERE: u32 = KNOWN as u32;

/// Of the filter byte, and of the bytes of a pixel.
const LANES: usize = 1 + LARGEST_PIXEL;

/// The contexts of a byte: what the filter predicts; the byte before and whether it is that before it, too. Each has a
/// line for the high half and one for each low half.
const PREDICTED: usize = LANES << 8;
const BEFORE: usize = LANES << 9;
const HALVES: usize = 17;

/// The models; they go on from one picture to the next.
pub struct Model {
    literals: Mixer<2>,
    is_copy: Vec<Bit>,
    sources: Vec<Bit>,
    earlier: Vec<Bit>,
    far: Num,
    lengths: Vec<Bit>,
    headers: Headers,
}

/// What the next token of a picture follows.
pub struct Recent {
    window: Window,
    distances: [usize; LAST],
    /// A bit for each token, 1 for a copy, the last one lowest.
    copies: u32,
    /// Of the last token, if it was a copy.
    length: usize,
}

impl Recent {
    pub fn new(window: Window) -> Self {
        let (line, pixel) = window.geometry();
        Self { window, distances: [line, pixel, 1, 2 * line], copies: 0, length: 0 }
    }

    /// How many bytes the tokens stand for.
    pub fn plain(&self) -> usize {
        self.window.len()
    }

    fn known(&self) -> [usize; KNOWN] {
        let [a, b, c, d] = self.distances;
        let (line, pixel) = self.window.geometry();
        [a, b, c, d, 1, pixel, line]
    }
}

impl Model {
    pub fn new() -> Self {
        Self {
            literals: Mixer::new((PREDICTED + BEFORE) * HALVES, 4 * LANES),
            is_copy: vec![Bit::default(); 1 << 16],
            sources: vec![Bit::default(); 1 << 11],
            earlier: vec![Bit::default(); 1 << 7],
            far: Num::default(),
            lengths: vec![Bit::default(); 1 << 16],
            headers: Headers::default(),
        }
    }

    /// Code the header of a block, and how many tokens it has.
    pub fn header<C: Coder>(
        &mut self,
        coder: &mut C,
        header: &Header,
        tokens: usize,
    ) -> Walk<(Header, usize)> {
        self.headers.code(coder, header, tokens)
    }

    /// Code a token. Fails for a distance that goes too far.
    #[inline(always)]
    pub fn token<C: Coder, S: SymbolCoder>(
        &mut self,
        coder: &mut C,
        symbols: &mut S,
        recent: &mut Recent,
        token: Token,
    ) -> Walk<Token> {
        let lane = usize::from(recent.window.place().lane);
        let at = recent.copies as usize & 0xff | lane << 8 | recent.length.min(15) << 12;
        let is_copy = self.is_copy[at].code(coder, matches!(token, Token::Copy { .. }));
        if is_copy {
            let (length, distance) = match token {
                Token::Copy { length, distance } => (length, distance),
                Token::Literal(_) => (3, 1),
            };
            return self.copy(coder, symbols, recent, lane, usize::from(length), usize::from(distance));
        }
        let byte = if let Token::Literal(byte) = token { byte } else { 0 };
        let byte = self.byte(symbols, &mut recent.window, false, byte);
        recent.copies <<= 1;
        recent.length = 0;
        Ok(Token::Literal(byte))
    }

    /// Code a byte that goes to the window.
    #[inline(always)]
    fn byte<S: SymbolCoder>(&mut self, symbols: &mut S, window: &mut Window, copied: bool, byte: u8) -> u8 {
        let place = window.place();
        let lane = usize::from(place.lane);
        let (last, same) = (window.back(1), window.back(1) == window.back(2));
        let predicted = lane << 8 | usize::from(place.predicted);
        let before = PREDICTED + (lane << 9 | usize::from(same) << 8 | usize::from(last));
        let at = |half| [predicted, before].map(|place| At { line: place * HALVES + half, check: 0 });
        let set = lane << 2 | usize::from(copied) << 1;
        let high = self.literals.symbol(symbols, at(0), set, byte >> 4);
        let low = self.literals.symbol(symbols, at(1 + usize::from(high)), set | 1, byte & 15);
        let byte = high << 4 | low;
        window.push(place, byte);
        byte
    }

    fn copy<C: Coder, S: SymbolCoder>(
        &mut self,
        coder: &mut C,
        symbols: &mut S,
        recent: &mut Recent,
        lane: usize,
        length: usize,
        distance: usize,
    ) -> Walk<Token> {
        let known = recent.known();
        let source = known.iter().position(|&known| known == distance).unwrap_or(KNOWN);
        let nodes = &mut self.sources[(lane << 4 | recent.copies as usize & 15) << 3..][..8];
        let source = tree(coder, nodes, 3, source as u32);
        let last = recent.copies & 1;
        let (distance, copied) = if source == ELSEWHERE {
            let window = &recent.window;
            // A decoder takes these bytes from where it will find them.
            let three = [0, 1, 2].map(|at| window.ahead(distance, at));
            for byte in three {
                self.byte(symbols, &mut recent.window, true, byte);
            }
            (self.earlier(coder, &recent.window, known, distance), 3)
        } else {
            (known[source as usize], 0)
        };
        let nodes = &mut self.lengths[(source as usize) << 13 | (last as usize) << 12 | lane << 8..][..256];
        let length = 3 + tree(coder, nodes, 8, length as u32 - 3) as usize;
        if distance > REACH || distance == 0 || distance > recent.window.len() - copied {
            return Err(Irregular);
        }
        recent.window.copy(distance, length - copied);
        let forget = (source as usize).min(LAST - 1);
        recent.distances[..=forget].rotate_right(1);
        recent.distances[0] = distance;
        recent.copies = recent.copies << 1 | 1;
        recent.length = length;
        Ok(Token::Copy { length: length as u16, distance: distance as u16 })
    }

    /// Code a distance to where the last three bytes were before, which is not one of `known`.
    fn earlier<C: Coder>(
        &mut self,
        coder: &mut C,
        window: &Window,
        known: [usize; KNOWN],
        distance: usize,
    ) -> usize {
        let (_, pixel) = window.geometry();
        let candidates = window.earlier().filter(|candidate| !known.contains(candidate));
        for (rank, candidate) in candidates.enumerate() {
            let before = if window.back(4) != window.back(4 + candidate) {
                0
            } else if window.back(5) != window.back(5 + candidate) {
                1
            } else {
                2
            };
            let at = rank.min(15) | before << 4 | usize::from(candidate % pixel == 0) << 6;
            if self.earlier[at].code(coder, candidate == distance) {
                return candidate;
            }
        }
        self.far.code(coder, distance as u64).min(u64::from(u32::MAX)) as usize
    }
}

/// How blocks begin.
struct Headers {
    last: Bit,
    spelled: Bit,
    tokens: Num,
    counts: [[Bit; 32]; 3],
    lengths: Vec<[Bit; 8]>,
    /// By the item before.
    items: Vec<[Bit; 32]>,
    more: [[Bit; 128]; 3],
}

impl Default for Headers {
    fn default() -> Self {
        Self {
            last: Bit::default(),
            spelled: Bit::default(),
            tokens: Num::default(),
            counts: [[Bit::default(); 32]; 3],
            lengths: vec![[Bit::default(); 8]; 19],
            items: vec![[Bit::default(); 32]; 19],
            more: [[Bit::default(); 128]; 3],
        }
    }
}

impl Headers {
    fn code<C: Coder>(&mut self, coder: &mut C, header: &Header, tokens: usize) -> Walk<(Header, usize)> {
        let last = self.last.code(coder, header.last);
        let tokens = self.tokens.code(coder, tokens as u64);
        let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
        if !self.spelled.code(coder, header.spelled.is_some()) {
            return Ok((Header { last, spelled: None }, tokens));
        }
        let nothing = Spelled::default();
        let given = header.spelled.as_ref().unwrap_or(&nothing);
        let mut spelled = Spelled::default();
        for (at, bits) in [5, 5, 4].into_iter().enumerate() {
            spelled.counts[at] = tree(coder, &mut self.counts[at], bits, given.counts[at].into()) as u8;
        }
        for at in 0..spelled.of_lengths() {
            spelled.lengths[at] = tree(coder, &mut self.lengths[at], 3, given.lengths[at].into()) as u8;
        }
        let (mut before, mut lengths) = (0, 0);
        for at in 0.. {
            if lengths >= spelled.expected() {
                break;
            }
            let (symbol, bits) = given.items.get(at).copied().unwrap_or_default();
            let symbol = tree(coder, &mut self.items[before], 5, symbol.into()) as u8;
            if symbol > 18 {
                return Err(Irregular);
            }
            before = usize::from(symbol);
            let (more, least) = item(symbol);
            let bits = match more {
                0 => 0,
                _ => tree(coder, &mut self.more[before - 16], more, bits.into()) as u8,
            };
            lengths += least + usize::from(bits);
            spelled.items.push((symbol, bits));
        }
        Ok((Header { last, spelled: Some(spelled) }, tokens))
    }
}
