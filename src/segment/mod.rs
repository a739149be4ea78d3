//! Many consecutive updates of one document in one self-describing blob.
//!
//! [`pack`] and [`unpack`] are exact inverses for any bytes and any timestamps. What is small costs little because
//! updates are taken apart as far as they are what Yjs writes, and what can be guessed of them costs next to nothing;
//! what is anything else is stored all the same. `docs/format-segment.md` has the format byte by byte.

mod blob;
mod codec;
mod coder;
mod container;
mod emit;
mod mixer;
mod pack;
mod parse;
mod picture;
mod shape;
mod state;
mod symbols;
mod text;
mod time;
mod unpack;
mod yjs;

pub use container::{Info, info};
pub use pack::{DEFAULT_LEVEL, LEVELS, Record, pack};
pub use unpack::{Segment, unpack};

/// The version that [`pack`] writes.
pub const VERSION: u8 = 1;
/// The most updates in a segment.
pub const MAX_UPDATES: usize = 1 << 20;
/// The most bytes of updates and metadata in a segment.
pub const MAX_BYTES: usize = 1 << 31;

/// What errors call it.
const FORMAT: &str = "segment";
