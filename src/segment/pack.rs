//! Records to a segment.

use std::ops::RangeInclusive;

use super::blob::{Finder, METADATA, Sink, UPDATE};
use super::codec::Codec;
use super::coder::Encoder;
use super::container::{self, Method, Parts, index_entry};
use super::parse::{self, Argument, Words};
use super::symbols::SymbolEncoder;
use super::time::{BitWriter, Times, Unit};
use super::{FORMAT, MAX_BYTES, MAX_UPDATES};
use crate::codec::{brotli, zstd};
use crate::error::{Error, Result};

/// The levels that [`pack`] takes: those of zstd, which compresses what is new in long strings.
pub const LEVELS: RangeInclusive<i32> = 1..=19;
/// Faster than compressing row by row; 19 is for history that is rewritten once.
pub const DEFAULT_LEVEL: i32 = 1;
/// From this level on, longer texts are predicted byte by byte, which takes longer to read too, and few literals are
/// compressed by brotli: its dictionary of words makes them a fifth smaller.
const THOROUGH: i32 = 9;
/// So many literals at most: brotli takes a second for about half a megabyte.
const FEW_LITERALS: usize = 128 << 10;
/// From this level on, so are more literals, if zstd makes them smaller than pictures in base64 can be made.
const SLOW: i32 = 15;
const BROTLI_QUALITY: i32 = 11;

/// One update of a document's history.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its bytes; any.
    pub update: &'a [u8],
    /// The metadata stored beside it; none and empty differ.
    pub metadata: Option<&'a [u8]>,
    /// When it was written, in seconds since the epoch; any bit pattern is kept.
    pub timestamp: f64,
}

struct Packer<'a> {
    codec: Codec,
    finder: Finder,
    words: Words,
    structure: Encoder,
    text: SymbolEncoder,
    literals: Vec<u8>,
    shape: Vec<u8>,
    arguments: Vec<Argument<'a>>,
    scratch: Vec<u8>,
    thorough: bool,
}

impl<'a> Packer<'a> {
    fn update(&mut self, update: &'a [u8]) {
        let mut shape = std::mem::take(&mut self.shape);
        let mut arguments = std::mem::take(&mut self.arguments);
        let regular = parse::regular(update, &self.codec.state)
            && parse::parse(update, &mut self.codec.state, &mut self.words, &mut shape, &mut arguments)
                .is_ok();
        if regular {
            self.codec.shapes.encode(&mut self.structure, &mut self.text, &shape);
            for argument in arguments.drain(..) {
                self.argument(argument);
            }
        } else {
            self.codec.shapes.encode(&mut self.structure, &mut self.text, &[]);
            self.argument(Argument::Blob(UPDATE, update));
        }
        self.shape = shape;
        self.arguments = arguments;
    }

    fn argument(&mut self, argument: Argument<'_>) {
        let coder = &mut self.structure;
        match argument {
            Argument::Number(kind, number) => {
                self.codec.number(coder, kind, number);
            }
            Argument::Client(client) => {
                self.codec.client(coder, client);
            }
            Argument::Rank(rank) => {
                self.codec.rank(coder, rank);
            }
            Argument::Raw(raw) => {
                self.codec.raw(coder, raw);
            }
            Argument::Short(single, follows, string) => {
                self.scratch.clear();
                let _ = self.codec.short(coder, &mut self.text, single, follows, string, &mut self.scratch);
            }
            Argument::Blob(slot, string) => {
                let Codec { text, blobs, .. } = &mut self.codec;
                let literals = &mut self.literals;
                let mut sink =
                    Sink { coder, text, text_coder: &mut self.text, literals, thorough: self.thorough };
                sink.encode(blobs, &mut self.finder, slot, string);
            }
        }
    }
}

/// Pack `records` into one blob. `level` is how hard the new parts of long strings are compressed, see [`LEVELS`].
///
/// # Errors
/// [`Error::Level`]; [`Error::TooLarge`] for more than [`MAX_UPDATES`] records or [`MAX_BYTES`] bytes.
pub fn pack(records: &[Record<'_>], level: i32) -> Result<Vec<u8>> {
    if !LEVELS.contains(&level) {
        return Err(Error::Level { codec: FORMAT, range: "levels 1 to 19", level });
    }
    let raw_bytes = records
        .iter()
        .map(|record| record.update.len() + record.metadata.map_or(0, <[u8]>::len))
        .fold(0usize, usize::saturating_add);
    for (size, limit) in [(raw_bytes, MAX_BYTES), (records.len(), MAX_UPDATES)] {
        if size > limit {
            return Err(Error::TooLarge { format: FORMAT, size: size as u64, limit: limit as u64 });
        }
    }
    let unit = Unit::of(records.iter().map(|record| record.timestamp));
    let first = records.first().map_or(0.0, |record| record.timestamp);
    let last = records.last().map_or(0.0, |record| record.timestamp);
    let mut packer = Packer {
        codec: Codec::new(records.len(), raw_bytes),
        finder: Finder::new(raw_bytes),
        words: Words::default(),
        structure: Encoder::new(),
        text: SymbolEncoder::default(),
        literals: Vec::new(),
        shape: Vec::new(),
        arguments: Vec::new(),
        scratch: Vec::new(),
        thorough: level >= THOROUGH,
    };
    let (mut times, mut times_coder, mut noise) =
        (Times::new(unit.number(first)), Encoder::new(), BitWriter::default());
    let (mut updates, mut metadatas, mut index) = (Vec::new(), Vec::new(), Vec::new());
    updates.reserve_exact(records.iter().map(|record| record.update.len()).sum());
    index.reserve_exact(records.len() * 16);
    let mut metadata = Some(&[][..]);
    let uniform = records.windows(2).all(|pair| pair[0].metadata == pair[1].metadata);
    packer.codec.uniform_metadata(&mut packer.structure, uniform);
    for (number, record) in records.iter().enumerate() {
        packer.update(record.update);
        updates.extend_from_slice(record.update);
        let same = record.metadata == metadata;
        if number == 0 || !uniform {
            packer.codec.metadata(&mut packer.structure, same, record.metadata.is_some());
        }
        if !same && let Some(bytes) = record.metadata {
            packer.argument(Argument::Blob(METADATA, bytes));
            metadatas.extend_from_slice(bytes);
        }
        metadata = record.metadata;
        times.code(&mut times_coder, &mut noise, unit.number(record.timestamp));
        index_entry(&mut index, record.update.len(), record.metadata.map(<[u8]>::len), record.timestamp);
    }
    let raw_literals = packer.literals;
    let (method, literals) = compress_literals(&raw_literals, level)?;
    let (structure, text) = (packer.structure.finish(), packer.text.finish());
    let (times, noise) = (times_coder.finish(), noise.finish());
    let streams = [&structure[..], &text, &times, &noise, &literals];
    let parts = Parts {
        updates: records.len(),
        raw_bytes,
        unit,
        first,
        last,
        streams,
        literals: raw_literals.len(),
        method,
    };
    Ok(container::write(&parts, [&updates, &metadatas, &index]))
}

/// The literals compressed, and with what.
fn compress_literals(raw: &[u8], level: i32) -> Result<(Method, Vec<u8>)> {
    let mut best = (Method::Zstd, Vec::new());
    if raw.is_empty() {
        return Ok(best);
    }
    let gave_up =
        || Error::Compress { codec: FORMAT, problem: "the compressor gave up on the literals".into() };
    let length = zstd::compress(raw, level, &mut best.1, 0, usize::MAX)?.ok_or_else(gave_up)?;
    best.1.truncate(length);
    let few = level >= THOROUGH && raw.len() <= FEW_LITERALS;
    let worth_it = level >= SLOW && raw.len() <= container::MAX_BROTLI && best.1.len() < raw.len() / 10 * 7;
    if few || worth_it {
        // Only what is smaller counts, so its room is what zstd took.
        let mut out = Vec::new();
        if let Some(length) = brotli::compress(raw, BROTLI_QUALITY, &mut out, 0, best.1.len())? {
            out.truncate(length);
            best = (Method::Brotli, out);
        }
    }
    Ok(best)
}
