//! Shapes of updates: each is spelled out once, then known by the shape that it followed before.

use std::collections::HashMap;
use std::rc::Rc;

use super::coder::{Bit, Coder, Num};
use super::symbols::SymbolCoder;
use super::text::{Context, Text};
use super::yjs::{Irregular, Walk};

/// The longest shape.
pub const LONGEST: usize = 255;
/// The most shapes that are remembered.
const REMEMBERED: usize = 4096;
const FOLLOWERS: usize = 7;
const CONTEXTS: usize = 4096;

/// The shape of an update that is not taken apart.
pub const OPAQUE: u32 = 0;

#[derive(Clone, Default)]
struct Followers {
    ids: [u32; FOLLOWERS],
    count: usize,
}

/// All shapes of a segment.
pub struct Shapes {
    list: Vec<Rc<[u8]>>,
    /// For the encoder only.
    numbers: HashMap<Rc<[u8]>, u32>,
    after: Vec<Followers>,
    first: Vec<Bit>,
    further: Vec<Bit>,
    known: Bit,
    number: Num,
    length: Num,
    spelling: Text,
    last: u32,
    before_last: u32,
}

impl Shapes {
    pub fn new() -> Self {
        Self {
            list: vec![Rc::default()],
            numbers: HashMap::from([(Rc::default(), OPAQUE)]),
            after: vec![Followers::default()],
            first: vec![Bit::default(); CONTEXTS],
            further: vec![Bit::default(); CONTEXTS],
            known: Bit::default(),
            number: Num::default(),
            length: Num::default(),
            spelling: Text::new(512),
            last: OPAQUE,
            before_last: OPAQUE,
        }
    }

    /// Encode `shape`.
    pub fn encode<C: Coder, T: SymbolCoder>(&mut self, coder: &mut C, text: &mut T, shape: &[u8]) {
        let number = self.numbers.get(shape).copied();
        let _ = self.code(coder, text, Some((shape, number)));
    }

    /// Decode a shape: its bytes.
    pub fn decode<C: Coder, T: SymbolCoder>(&mut self, coder: &mut C, text: &mut T) -> Walk<Rc<[u8]>> {
        self.code(coder, text, None)
    }

    fn code<C: Coder, T: SymbolCoder>(
        &mut self,
        coder: &mut C,
        text: &mut T,
        wanted: Option<(&[u8], Option<u32>)>,
    ) -> Walk<Rc<[u8]>> {
        let target = wanted.and_then(|(_, number)| number);
        let mixed =
            self.last.wrapping_mul(0x9e37).wrapping_add(self.before_last.wrapping_mul(0x85eb_ca6b) >> 9);
        let mut found = None;
        let followers = &self.after[self.last as usize];
        for rank in 0..followers.count {
            let bit = match rank {
                0 => &mut self.first[mixed as usize % CONTEXTS],
                _ => &mut self.further[(self.last as usize * 8 + rank) % CONTEXTS],
            };
            if bit.code(coder, target == Some(followers.ids[rank])) {
                found = Some((followers.ids[rank], rank));
                break;
            }
        }
        let number = if let Some((number, rank)) = found {
            let ids = &mut self.after[self.last as usize].ids;
            ids[rank / 2..=rank].rotate_right(1);
            number
        } else if self.known.code(coder, target.is_some()) {
            let number = self.number.code(coder, u64::from(target.unwrap_or(0)));
            if number >= self.list.len() as u64 {
                return Err(Irregular);
            }
            self.follow(number as u32);
            number as u32
        } else {
            let spelled = wanted.map_or(&[][..], |(shape, _)| shape);
            let length = self.length.code(coder, spelled.len() as u64) as usize;
            if length > LONGEST {
                return Err(Irregular);
            }
            self.spelling.follow(Context::start(0));
            let shape: Rc<[u8]> =
                (0..length).map(|i| self.spelling.byte(text, spelled.get(i).copied().unwrap_or(0))).collect();
            if self.list.len() == REMEMBERED {
                (self.before_last, self.last) = (self.last, OPAQUE);
                return Ok(shape);
            }
            let number = self.list.len() as u32;
            if wanted.is_some() {
                self.numbers.insert(shape.clone(), number);
            }
            self.list.push(shape);
            self.after.push(Followers::default());
            self.follow(number);
            number
        };
        (self.before_last, self.last) = (self.last, number);
        if wanted.is_some() {
            return Ok(Rc::default());
        }
        Ok(self.list[number as usize].clone())
    }

    /// `number` is now among those that may follow the last.
    fn follow(&mut self, number: u32) {
        let followers = &mut self.after[self.last as usize];
        if followers.count < FOLLOWERS {
            followers.count += 1;
        }
        let end = followers.count;
        // New ones enter in the middle: the frequent ones before it stay cheap.
        let at = (end - 1) / 2;
        followers.ids[at..end].rotate_right(1);
        followers.ids[at] = number;
    }
}
