//! The models of a segment, and the parts of an update that they code alike in both directions.

use super::blob::{Blobs, Slot, VALUES};
use super::coder::{Bit, Coder, Num, tree};
use super::shape::Shapes;
use super::state::{Id, State};
use super::symbols::SymbolCoder;
use super::text::{Context, Text};
use super::yjs::{Irregular, KINDS, Kind, Use, Walk};

/// Strings from this length on are handled by [`Blobs`].
pub const LONG: usize = 48;

/// How a string appears in a shape.
pub const WORD: u8 = 0;
pub const NEW_WORD: u8 = 1;
pub const BLOB: u8 = 2;
pub const SINGLE: u8 = 3;
pub const SHORT: u8 = 4;

/// How a client appears in a shape: how recently it was used, below this; or as new; or by a larger rank.
pub const NEW_CLIENT: u8 = 16;
pub const OLD_CLIENT: u8 = 17;

/// What typed text follows, by the item that it follows. Of fixed size, like the links of [`State`].
struct Places(Vec<(Id, Context)>);

impl Places {
    fn new(updates: usize) -> Self {
        let bits = (updates * 2).max(1).ilog2().clamp(6, 16);
        Self(vec![(Id { client: u32::MAX, clock: u64::MAX }, Context::default()); 1 << bits])
    }

    fn slot(&self, id: Id) -> usize {
        // Clocks that follow each other lie side by side.
        (id.clock ^ u64::from(id.client).wrapping_mul(0x9e37_79b9)) as usize & (self.0.len() - 1)
    }

    fn get(&self, id: Id) -> Option<Context> {
        let (owner, context) = self.0[self.slot(id)];
        (owner == id).then_some(context)
    }

    fn set(&mut self, id: Id, context: Context) {
        let slot = self.slot(id);
        self.0[slot] = (id, context);
    }
}

/// See the module.
pub struct Codec {
    pub state: State,
    pub shapes: Shapes,
    pub text: Text,
    pub blobs: Blobs,
    numbers: Vec<Num>,
    clients: Num,
    ranks: Num,
    words: Num,
    raws: Vec<Bit>,
    last_raw: [u8; 8],
    places: Places,
    uniform_metadata: Bit,
    same_metadata: Bit,
    has_metadata: Bit,
}

impl Codec {
    /// For `updates` updates of `bytes` bytes.
    pub fn new(updates: usize, bytes: usize) -> Self {
        Self {
            state: State::new(updates),
            shapes: Shapes::new(),
            text: Text::new((2 * updates + 1024).min(bytes)),
            blobs: Blobs::new(),
            numbers: vec![Num::default(); KINDS],
            clients: Num::default(),
            ranks: Num::default(),
            words: Num::default(),
            raws: vec![Bit::default(); 8 * 256],
            last_raw: [0; 8],
            places: Places::new(updates),
            uniform_metadata: Bit::default(),
            same_metadata: Bit::default(),
            has_metadata: Bit::default(),
        }
    }

    pub fn number<C: Coder>(&mut self, coder: &mut C, kind: Kind, number: u64) -> u64 {
        self.numbers[kind as usize].code(coder, number)
    }

    pub fn client<C: Coder>(&mut self, coder: &mut C, client: u64) -> u64 {
        self.clients.code(coder, client)
    }

    pub fn rank<C: Coder>(&mut self, coder: &mut C, rank: u64) -> u64 {
        self.ranks.code(coder, rank)
    }

    /// The bytes of a number (at most eight), much like those of the one before.
    pub fn raw<C: Coder>(&mut self, coder: &mut C, bytes: &[u8]) -> [u8; 8] {
        for ((last, nodes), &byte) in self.last_raw.iter_mut().zip(self.raws.chunks_mut(256)).zip(bytes) {
            *last ^= tree(coder, nodes, 8, u32::from(byte ^ *last)) as u8;
        }
        self.last_raw
    }

    /// Whether all metadata is the same as the first.
    pub fn uniform_metadata<C: Coder>(&mut self, coder: &mut C, uniform: bool) -> bool {
        self.uniform_metadata.code(coder, uniform)
    }

    /// Whether there is the same metadata as before; else whether there is any.
    pub fn metadata<C: Coder>(&mut self, coder: &mut C, same: bool, any: bool) -> (bool, bool) {
        let same = self.same_metadata.code(coder, same);
        (same, same || self.has_metadata.code(coder, any))
    }

    /// Append a short string to `out`. `length` is 1 or to be coded.
    #[allow(clippy::too_many_arguments)]
    pub fn short<C: Coder, T: SymbolCoder>(
        &mut self,
        coder: &mut C,
        text: &mut T,
        single: bool,
        follows: Follows,
        wanted: &[u8],
        out: &mut Vec<u8>,
    ) -> Walk {
        let length = if single { 1 } else { self.words.code(coder, wanted.len() as u64) as usize };
        if length >= LONG {
            return Err(Irregular);
        }
        let before = match follows {
            Follows::Start(number) => Context::start(number),
            Follows::Item { before, .. } => before
                .and_then(|before| self.places.get(before))
                .unwrap_or_else(|| if before.is_some() { self.text.context() } else { Context::start(0) }),
        };
        self.text.follow(before);
        for at in 0..length {
            out.push(self.text.byte(text, wanted.get(at).copied().unwrap_or(0)));
            if let Follows::Item { this, .. } = follows {
                self.places.set(this.after(at as u64), self.text.context());
            }
        }
        Ok(())
    }
}

/// What a short string follows.
#[derive(Debug, Clone, Copy)]
pub enum Follows {
    /// Nothing; the number tells uses apart.
    Start(u8),
    /// The text of an item.
    Item { before: Option<Id>, this: Id },
}

impl Follows {
    pub fn of(usage: Use, before: Option<Id>, this: Id) -> Self {
        match usage {
            Use::Text => Self::Item { before, this },
            Use::Word => Self::Start(1),
            Use::Other => Self::Start(2),
        }
    }
}

/// The slot of a long string that comes after the word `key`.
pub fn slot(usage: Use, key: u32) -> Slot {
    match usage {
        Use::Text => super::blob::TEXT,
        Use::Other => super::blob::OTHER,
        Use::Word => VALUES + (key % 32) as u8,
    }
}

/// The length in UTF-16 code units, in which Yjs counts clocks.
pub fn utf16_length(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(!(0x80..0xc0).contains(&byte)) + u64::from(byte >= 0xf0)).sum()
}
