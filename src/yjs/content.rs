//! The content of an item: how many clocks it takes, and what other structs it needs.

use super::read::Reader;
use super::update::Id;
use crate::error::Result;

const DELETED: u8 = 1;
const JSON: u8 = 2;
const BINARY: u8 = 3;
const STRING: u8 = 4;
const EMBED: u8 = 5;
const FORMAT: u8 = 6;
const TYPE: u8 = 7;
const ANY: u8 = 8;
const DOC: u8 = 9;
// Written by yrs only, and no longer by its newest versions.
const MOVE: u8 = 11;

const XML_ELEMENT: u8 = 3;
const XML_HOOK: u8 = 5;
// A link to other content; yrs only.
const WEAK: u8 = 7;

/// Step over the content of kind `kind`; `needs` gets the structs it refers to. Returns its length in clocks.
pub fn skip(reader: &mut Reader<'_>, kind: u8, needs: &mut impl FnMut(Id)) -> Result<u64> {
    match kind {
        DELETED => reader.number(),
        JSON => {
            let count = reader.number()?;
            for _ in 0..count {
                reader.buffer()?;
            }
            Ok(count)
        }
        BINARY | EMBED => reader.buffer().map(|_| 1),
        // Clocks count UTF-16 units, also in yrs, whatever unit the offsets of its interface have.
        STRING => reader.text().map(utf16_len),
        FORMAT => {
            reader.buffer()?;
            reader.buffer().map(|_| 1)
        }
        TYPE => skip_type(reader, needs).map(|()| 1),
        ANY => {
            let count = reader.number()?;
            for _ in 0..count {
                reader.skip_any()?;
            }
            Ok(count)
        }
        DOC => {
            reader.buffer()?;
            reader.skip_any().map(|()| 1)
        }
        MOVE => {
            let collapsed = reader.rest().first().is_some_and(|flags| flags & 1 != 0);
            reader.skip_signed()?;
            needs(Id::read(reader)?);
            if !collapsed {
                needs(Id::read(reader)?);
            }
            Ok(1)
        }
        kind => Err(reader.bad(format!("there is no content of kind {kind}"))),
    }
}

fn skip_type(reader: &mut Reader<'_>, needs: &mut impl FnMut(Id)) -> Result<()> {
    match reader.byte()? {
        0..=2 | 4 | 6 | 9 | 15 => Ok(()),
        XML_ELEMENT | XML_HOOK => reader.buffer().map(drop),
        WEAK => skip_weak(reader, needs),
        kind => Err(reader.bad(format!("there is no type of kind {kind}"))),
    }
}

fn skip_weak(reader: &mut Reader<'_>, needs: &mut impl FnMut(Id)) -> Result<()> {
    const QUOTE: u8 = 1;
    const START_UNBOUNDED: u8 = 1 << 3;
    const END_UNBOUNDED: u8 = 1 << 4;
    const ROOT: u8 = 1 << 5;
    let flags = reader.byte()?;
    let mut end = |reader: &mut Reader<'_>, unbounded: u8| -> Result<()> {
        if flags & unbounded != 0 && flags & ROOT != 0 {
            reader.buffer()?;
        } else {
            needs(Id::read(reader)?);
        }
        Ok(())
    };
    end(reader, START_UNBOUNDED)?;
    // A link to one element names it once.
    if flags & (QUOTE | END_UNBOUNDED) != 0 {
        end(reader, END_UNBOUNDED)?;
    }
    Ok(())
}

fn utf16_len(text: &str) -> u64 {
    text.bytes().map(|byte| u64::from(byte & 0xc0 != 0x80) + u64::from(byte >= 0xf0)).sum()
}
