//! A segment to its records.

use super::FORMAT;
use super::blob::{METADATA, UPDATE};
use super::codec::Codec;
use super::coder::Decoder;
use super::container::{self, Method, Parts, index_entry};
use super::emit::{Source, emit};
use super::pack::Record;
use super::symbols::SymbolDecoder;
use super::time::{BitReader, Times};
use super::yjs::{Irregular, Walk};
use crate::codec::{brotli, room, zstd};
use crate::error::{Error, Result};

/// Where the parts of a record lie.
#[derive(Debug, Clone, Copy)]
struct Entry {
    end: u32,
    metadata: Option<(u32, u32)>,
    timestamp: f64,
}

/// An unpacked segment: all of its records, checked.
#[derive(Debug, Default)]
pub struct Segment {
    updates: Vec<u8>,
    metadata: Vec<u8>,
    entries: Vec<Entry>,
}

impl Segment {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The record at `index`.
    pub fn get(&self, index: usize) -> Option<Record<'_>> {
        let entry = self.entries.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.entries[before].end);
        Some(Record {
            update: &self.updates[start as usize..entry.end as usize],
            metadata: entry.metadata.map(|(start, end)| &self.metadata[start as usize..end as usize]),
            timestamp: entry.timestamp,
        })
    }

    /// The records in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        (0..self.len()).map(|index| {
            // Every index below the length has a record.
            self.get(index).unwrap_or(Record { update: &[], metadata: None, timestamp: 0.0 })
        })
    }
}

/// Unpack `blob`, whose updates and metadata may be `max_size` bytes long. Nothing is returned before all of it is
/// decoded and checked.
///
/// # Errors
/// [`Error::TooLarge`] if it claims more than `max_size`; [`Error::Unsupported`] for a later version;
/// [`Error::Corrupt`] for anything that [`super::pack`] has not written.
pub fn unpack(blob: &[u8], max_size: usize) -> Result<Segment> {
    let (parts, start, claimed) = container::read(blob)?;
    if parts.raw_bytes > max_size {
        return Err(Error::TooLarge { format: FORMAT, size: parts.raw_bytes as u64, limit: max_size as u64 });
    }
    let literals = literals(&parts, blob.len() - parts.streams[4].len())?;
    let (segment, index) = decode(&parts, &literals)
        .map_err(|Irregular| Error::corrupt(FORMAT, start, "its content makes no sense"))?;
    if container::expected_check(blob, [&segment.updates, &segment.metadata, &index]) != claimed {
        return Err(Error::corrupt(FORMAT, 2, "the check does not match the content"));
    }
    Ok(segment)
}

fn literals(parts: &Parts<'_>, at: usize) -> Result<Vec<u8>> {
    let stored = parts.streams[4];
    let largest = match parts.method {
        Method::Zstd => zstd::largest_content(stored.len()),
        Method::Brotli => brotli::largest_content(stored.len()),
    };
    // What they can unfold to bounds the claim before memory is taken.
    if parts.literals as u64 > largest {
        return Err(Error::corrupt(FORMAT, at, "more literals than its bytes can hold"));
    }
    let mut literals = vec![0; parts.literals];
    if !stored.is_empty() {
        let decompress = match parts.method {
            Method::Zstd => zstd::decompress,
            Method::Brotli => brotli::decompress,
        };
        decompress(stored, room(&mut literals)).map_err(|error| error.shifted(at))?;
    }
    Ok(literals)
}

fn decode(parts: &Parts<'_>, literals: &[u8]) -> Walk<(Segment, Vec<u8>)> {
    let [structure, text, times_stream, noise, _] = parts.streams;
    let mut codec = Codec::new(parts.updates, parts.raw_bytes);
    let mut source = Source { structure: Decoder::new(structure), text: SymbolDecoder::new(text), literals };
    let unit = parts.unit;
    let mut times = Times::new(unit.number(parts.first));
    let (mut times_coder, mut noise) = (Decoder::new(times_stream), BitReader::new(noise));
    let (mut updates, mut metadatas, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut index, mut scratch) = (Vec::new(), Vec::new());
    let mut metadata = Some((0, 0));
    let mut room = parts.raw_bytes;
    let uniform = codec.uniform_metadata(&mut source.structure, false);
    for number in 0..parts.updates {
        let start = updates.len();
        let limit = start + room;
        let shape = codec.shapes.decode(&mut source.structure, &mut source.text)?;
        if shape.is_empty() {
            updates.extend_from_slice(blob(&mut codec, &mut source, UPDATE, room)?);
        } else {
            emit(&shape, &mut codec, &mut source, &mut updates, limit, &mut scratch)?;
        }
        let length = updates.len() - start;
        room = room.checked_sub(length).ok_or(Irregular)?;
        let (same, any) = match uniform && number > 0 {
            true => (true, true),
            false => codec.metadata(&mut source.structure, false, false),
        };
        if !same {
            metadata = None;
            if any {
                let start = metadatas.len();
                metadatas.extend_from_slice(blob(&mut codec, &mut source, METADATA, room)?);
                metadata = Some((start as u32, metadatas.len() as u32));
            }
        }
        let metadata_length = metadata.map(|(start, end)| (end - start) as usize);
        room = room.checked_sub(metadata_length.unwrap_or(0)).ok_or(Irregular)?;
        let timestamp = unit.back(times.code(&mut times_coder, &mut noise, 0));
        entries.push(Entry { end: updates.len() as u32, metadata, timestamp });
        index_entry(&mut index, length, metadata_length, timestamp);
    }
    let last = entries.last().map_or(0.0, |entry| entry.timestamp);
    if room != 0 || !source.literals.is_empty() || last.to_bits() != parts.last.to_bits() {
        return Err(Irregular);
    }
    Ok((Segment { updates, metadata: metadatas, entries }, index))
}

fn blob<'b>(codec: &'b mut Codec, source: &mut Source<'_>, slot: u8, room: usize) -> Walk<&'b [u8]> {
    let Codec { text, blobs, .. } = codec;
    let Source { structure, text: text_coder, literals } = source;
    blobs.decode(structure, text, text_coder, literals, slot, room)
}
