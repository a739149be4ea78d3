//! Deflate streams (RFC 1951) as blocks of tokens, exactly: with the codes as they are spelled.
//!
//! A stream that [`read`] and [`Writer`] would not bring back bit for bit is none for us: stored blocks, a length of 258
//! as 227 and 31 more, bits after the end.

mod codes;
mod reading;
mod writing;

pub use codes::Codes;
pub use reading::read;
pub use writing::Writer;

/// What a stream consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    Literal(u8),
    /// A copy: `length` is 3 to 258, `distance` 1 to 32768.
    Copy {
        length: u16,
        distance: u16,
    },
}

impl Token {
    /// How many bytes it stands for.
    pub fn plain(self) -> usize {
        match self {
            Self::Literal(_) => 1,
            Self::Copy { length, .. } => usize::from(length),
        }
    }
}

/// Tokens under the same codes.
#[derive(Debug, Default)]
pub struct Block {
    pub header: Header,
    pub tokens: Vec<Token>,
}

/// How a block begins.
#[derive(Debug, Default, Clone)]
pub struct Header {
    pub last: bool,
    /// The codes, unless they are the fixed ones.
    pub spelled: Option<Spelled>,
}

/// Codes as a block spells them.
#[derive(Debug, Default, Clone)]
pub struct Spelled {
    /// How many lengths there are beyond 257 of literals and lengths, 1 of distances, 4 of lengths of lengths.
    pub counts: [u8; 3],
    /// The lengths of the codes of lengths, in the order of the stream.
    pub lengths: [u8; 19],
    /// Lengths of codes (0 to 15) or how often to repeat: 16 the last one, 17 and 18 zero; with the bits that follow.
    pub items: Vec<(u8, u8)>,
}

/// The bits that follow an item, and how many lengths it stands for, with all of these bits 0.
pub fn item(symbol: u8) -> (u32, usize) {
    match symbol {
        16 => (2, 3),
        17 => (3, 3),
        18 => (7, 11),
        _ => (0, 1),
    }
}

impl Spelled {
    /// How many lengths the items must stand for.
    pub fn expected(&self) -> usize {
        usize::from(self.counts[0]) + usize::from(self.counts[1]) + 258
    }

    /// How many lengths of lengths there are.
    pub fn of_lengths(&self) -> usize {
        usize::from(self.counts[2] & 15) + 4
    }
}
