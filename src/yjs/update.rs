//! The structure of one update: which structs and deletions it holds, and which structs those need.

use std::ops::Range;

use super::content;
use super::read::{MAX_NUMBER, Reader};
use crate::error::Result;

pub(super) const GC: u8 = 0;
pub(super) const SKIP: u8 = 10;
const KIND: u8 = 0x1f;
const PARENT_SUB: u8 = 0x20;
const RIGHT_ORIGIN: u8 = 0x40;
const ORIGIN: u8 = 0x80;

/// The identity of a struct, or of one clock of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id {
    /// Who made it.
    pub client: u64,
    /// Its number among those the client made.
    pub clock: u64,
}

impl Id {
    /// Read one.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { client: reader.number()?, clock: reader.number()? })
    }
}

/// The structs of one client in an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The client.
    pub client: u64,
    /// The section in the update's bytes, its header included.
    pub bytes: Range<usize>,
    /// The clocks of its structs in the order they come, neighbours joined; what is skipped is left out.
    pub structs: Vec<Range<u64>>,
}

/// What an update holds. The contents themselves stay where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// The structs of each client.
    pub sections: Vec<Section>,
    /// The structs that others need as their neighbour, as their parent or as the target of a link.
    pub needs: Vec<Id>,
    /// Deleted clocks, in the order they come.
    pub deletions: Vec<(u64, Range<u64>)>,
}

impl Update {
    /// Read an update of encoding version 1.
    ///
    /// # Errors
    /// The bytes are no update, are cut off, have contents that are not known, or something follows the update.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let mut update = Self::default();
        for _ in 0..reader.number()? {
            let section = section(&mut reader, &mut update.needs)?;
            update.sections.push(section);
        }
        for _ in 0..reader.number()? {
            let client = reader.number()?;
            for _ in 0..reader.number()? {
                let clock = reader.number()?;
                let length = reader.number()?;
                let range = clock..end(&reader, clock, length)?;
                update.deletions.push((client, range));
            }
        }
        if reader.rest().is_empty() { Ok(update) } else { Err(reader.bad("something follows it")) }
    }
}

fn end(reader: &Reader<'_>, clock: u64, length: u64) -> Result<u64> {
    let end = clock + length;
    if end <= MAX_NUMBER { Ok(end) } else { Err(reader.bad("the clock exceeds 53 bits")) }
}

fn section(reader: &mut Reader<'_>, needs: &mut Vec<Id>) -> Result<Section> {
    let start = reader.offset();
    let count = reader.number()?;
    let client = reader.number()?;
    let mut clock = reader.number()?;
    let mut structs: Vec<Range<u64>> = Vec::new();
    for _ in 0..count {
        let info = reader.byte()?;
        let length = match info {
            GC | SKIP => reader.number()?,
            info => item(reader, info, needs)?,
        };
        let range = clock..end(reader, clock, length)?;
        clock = range.end;
        if info == SKIP || range.is_empty() {
            continue;
        }
        match structs.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => structs.push(range),
        }
    }
    Ok(Section { client, bytes: start..reader.offset(), structs })
}

fn item(reader: &mut Reader<'_>, info: u8, needs: &mut Vec<Id>) -> Result<u64> {
    if info & ORIGIN != 0 {
        needs.push(Id::read(reader)?);
    }
    if info & RIGHT_ORIGIN != 0 {
        needs.push(Id::read(reader)?);
    }
    // An item with a neighbour has that one's parent and key.
    if info & (ORIGIN | RIGHT_ORIGIN) == 0 {
        if reader.number()? == 1 {
            reader.buffer()?;
        } else {
            needs.push(Id::read(reader)?);
        }
        if info & PARENT_SUB != 0 {
            reader.buffer()?;
        }
    }
    content::skip(reader, info & KIND, &mut |id| needs.push(id))
}
