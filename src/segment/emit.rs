//! From the shape of an update, and its arguments as they are decoded, to its bytes.

use super::codec::{
    BLOB, Codec, Follows, LONG, NEW_CLIENT, NEW_WORD, OLD_CLIENT, SHORT, SINGLE, WORD, slot, utf16_length,
};
use super::coder::{Decoder, unzigzag};
use super::state::{Id, State};
use super::symbols::SymbolDecoder;
use super::yjs::{self, Elements, Irregular, Kind, Use, Walk};
use crate::varint;

/// Where a segment is decoded from.
pub struct Source<'a> {
    pub structure: Decoder<'a>,
    pub text: SymbolDecoder<'a>,
    pub literals: &'a [u8],
}

/// Puts an update together.
struct Emitter<'a, 'b> {
    shape: &'b [u8],
    codec: &'b mut Codec,
    source: &'b mut Source<'a>,
    out: &'b mut Vec<u8>,
    /// The length that `out` may reach.
    limit: usize,
    key: u32,
    scratch: &'b mut Vec<u8>,
}

/// Append the update of `shape` to `out`, which must not become longer than `limit` and some bytes.
pub fn emit(
    shape: &[u8],
    codec: &mut Codec,
    source: &mut Source<'_>,
    out: &mut Vec<u8>,
    limit: usize,
    scratch: &mut Vec<u8>,
) -> Walk {
    let mut emitter = Emitter { shape, codec, source, out, limit, key: 0, scratch };
    yjs::update(&mut emitter)?;
    if emitter.shape.is_empty() { Ok(()) } else { Err(Irregular) }
}

#[inline(always)]
fn write(out: &mut Vec<u8>, number: u64) {
    if number < 0x80 {
        out.push(number as u8);
    } else {
        varint::write(out, number);
    }
}

impl Emitter<'_, '_> {
    #[inline(always)]
    fn next(&mut self) -> Walk<u8> {
        let (&byte, rest) = self.shape.split_first().ok_or(Irregular)?;
        self.shape = rest;
        Ok(byte)
    }

    fn next_number(&mut self) -> Walk<u64> {
        if let Some((&byte, rest)) = self.shape.split_first()
            && byte < 0x80
        {
            self.shape = rest;
            return Ok(u64::from(byte));
        }
        let (value, length) = varint::read(self.shape).map_err(|_| Irregular)?;
        self.shape = &self.shape[length..];
        Ok(value)
    }

    fn append(&mut self, length: usize) -> Walk {
        if length > self.limit.saturating_sub(self.out.len()) {
            return Err(Irregular);
        }
        varint::write(self.out, length as u64);
        Ok(())
    }

    fn argument(&mut self, kind: Kind, guess: u64) -> u64 {
        guess.wrapping_add(unzigzag(self.codec.number(&mut self.source.structure, kind, 0)) as u64)
    }
}

impl Elements for Emitter<'_, '_> {
    fn state(&self) -> &State {
        &self.codec.state
    }

    fn state_mut(&mut self) -> Option<&mut State> {
        Some(&mut self.codec.state)
    }

    #[inline]
    fn count(&mut self) -> Walk<u64> {
        let count = self.next_number()?;
        write(self.out, count);
        Ok(count)
    }

    #[inline]
    fn byte(&mut self) -> Walk<u8> {
        let byte = self.next()?;
        self.out.push(byte);
        Ok(byte)
    }

    #[inline]
    fn client(&mut self) -> Walk<u32> {
        let number = match self.next()? {
            NEW_CLIENT => {
                let client = self.codec.client(&mut self.source.structure, 0);
                self.codec.state.meet(client)
            }
            OLD_CLIENT => {
                let rank = self.codec.rank(&mut self.source.structure, 0);
                self.codec.state.recall(rank as usize).ok_or(Irregular)?
            }
            rank => self.codec.state.recall(usize::from(rank)).ok_or(Irregular)?,
        };
        write(self.out, self.codec.state.client(number));
        Ok(number)
    }

    #[inline]
    fn number(&mut self, kind: Kind, guesses: &[u64]) -> Walk<u64> {
        let number = match guesses.get(usize::from(self.next()?)) {
            Some(&guess) => guess,
            None => self.argument(kind, guesses[0]),
        };
        write(self.out, number);
        Ok(number)
    }

    #[inline]
    fn id(&mut self, kind: Kind, guesses: &[Id]) -> Walk<Id> {
        let id = match guesses.get(usize::from(self.next()?)) {
            Some(&guess) => {
                write(self.out, self.codec.state.client(guess.client));
                guess
            }
            None => {
                let client = self.client()?;
                let near = self.codec.state.nearby(client, guesses);
                Id { client, clock: self.argument(kind, near) }
            }
        };
        write(self.out, id.clock);
        Ok(id)
    }

    #[inline]
    fn string(&mut self, usage: Use, before: Option<Id>, this: Id) -> Walk<u64> {
        let how = self.next()?;
        let start = match how {
            WORD => {
                let number = self.next_number()?;
                self.key = number as u32;
                let length = self.codec.state.strings.get(number as usize).ok_or(Irregular)?.len();
                self.append(length)?;
                self.out.extend_from_slice(&self.codec.state.strings[number as usize]);
                return Ok(1);
            }
            BLOB => {
                let room = self.limit.saturating_sub(self.out.len());
                let Codec { text, blobs, .. } = &mut *self.codec;
                let Source { structure, text: text_coder, literals } = &mut *self.source;
                let slot = slot(usage, self.key);
                let blob = blobs.decode(structure, text, text_coder, literals, slot, room)?;
                varint::write(self.out, blob.len() as u64);
                let start = self.out.len();
                self.out.extend_from_slice(blob);
                start
            }
            NEW_WORD | SINGLE | SHORT => {
                let follows = Follows::of(usage, before, this);
                self.scratch.clear();
                let Source { structure, text, .. } = &mut *self.source;
                self.codec.short(structure, text, how == SINGLE, follows, &[], self.scratch)?;
                debug_assert!(self.scratch.len() < LONG);
                self.append(self.scratch.len())?;
                let start = self.out.len();
                self.out.extend_from_slice(self.scratch);
                if how == NEW_WORD {
                    self.codec.state.remember(self.scratch);
                }
                start
            }
            _ => return Err(Irregular),
        };
        Ok(if usage == Use::Text { utf16_length(&self.out[start..]) } else { 1 })
    }

    fn raw(&mut self, length: usize) -> Walk {
        let zeros = &[0; 8][..length];
        let raw = self.codec.raw(&mut self.source.structure, zeros);
        self.out.extend_from_slice(&raw[..length]);
        Ok(())
    }

    fn signed(&mut self) -> Walk {
        let signed = self.codec.number(&mut self.source.structure, Kind::Signed, 0);
        let magnitude = signed >> 1;
        let first = (magnitude & 0x3f) as u8 | ((signed & 1) as u8) << 6;
        let high = magnitude >> 6;
        self.out.push(first | if high > 0 { 0x80 } else { 0 });
        if high > 0 {
            varint::write(self.out, high);
        }
        Ok(())
    }
}
