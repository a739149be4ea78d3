//! From the bytes of an update to its shape and its arguments.

use std::collections::HashMap;

use super::blob::Slot;
use super::codec::{
    BLOB, Follows, LONG, NEW_CLIENT, NEW_WORD, OLD_CLIENT, SHORT, SINGLE, WORD, slot, utf16_length,
};
use super::coder::zigzag;
use super::shape::LONGEST;
use super::state::{Id, State};
use super::yjs::{self, Elements, Irregular, Kind, Use, Walk};
use crate::varint;

/// What an update holds beside its shape.
pub enum Argument<'a> {
    Number(Kind, u64),
    Client(u64),
    Rank(u64),
    Raw(&'a [u8]),
    Short(bool, Follows, &'a [u8]),
    Blob(Slot, &'a [u8]),
}

/// Reads the primitive elements.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Walk<u8> {
        let (&byte, rest) = self.rest.split_first().ok_or(Irregular)?;
        self.rest = rest;
        Ok(byte)
    }

    #[inline]
    fn number(&mut self) -> Walk<u64> {
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(u64::from(byte));
        }
        let (value, length) = varint::read(self.rest).map_err(|_| Irregular)?;
        self.rest = &self.rest[length..];
        Ok(value)
    }

    fn string(&mut self) -> Walk<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| Irregular)?;
        self.raw(length)
    }

    fn raw(&mut self, length: usize) -> Walk<&'a [u8]> {
        let (raw, rest) = self.rest.split_at_checked(length).ok_or(Irregular)?;
        self.rest = rest;
        Ok(raw)
    }

    /// lib0's signed number: magnitude << 1 | negative. The first byte holds its sign and six bits.
    fn signed(&mut self) -> Walk<u64> {
        let first = self.byte()?;
        let mut magnitude = u64::from(first & 0x3f);
        if first & 0x80 != 0 {
            let high = self.number()?;
            if high == 0 || high >= 1 << 57 {
                return Err(Irregular);
            }
            magnitude |= high << 6;
        }
        Ok(magnitude << 1 | u64::from(first >> 6 & 1))
    }
}

/// Whether the bytes are an update that can be taken apart.
struct Check<'a> {
    reader: Reader<'a>,
    state: &'a State,
    /// How much longer the shape may become.
    room: usize,
}

impl Check<'_> {
    fn use_up(&mut self, bytes: usize) -> Walk {
        self.room = self.room.checked_sub(bytes).ok_or(Irregular)?;
        Ok(())
    }
}

/// Whether `bytes` is an update that can be taken apart, from its first byte to its last.
pub fn regular(bytes: &[u8], state: &State) -> bool {
    let mut check = Check { reader: Reader { rest: bytes }, state, room: LONGEST };
    yjs::update(&mut check).is_ok() && check.reader.rest.is_empty()
}

impl Elements for Check<'_> {
    fn state(&self) -> &State {
        self.state
    }

    fn state_mut(&mut self) -> Option<&mut State> {
        None
    }

    fn count(&mut self) -> Walk<u64> {
        let count = self.reader.number()?;
        self.use_up(varint::len(count))?;
        Ok(count)
    }

    fn byte(&mut self) -> Walk<u8> {
        self.use_up(1)?;
        self.reader.byte()
    }

    fn client(&mut self) -> Walk<u32> {
        self.use_up(1)?;
        self.reader.number().map(|_| 0)
    }

    fn number(&mut self, _: Kind, _: &[u64]) -> Walk<u64> {
        self.use_up(1)?;
        self.reader.number()
    }

    fn id(&mut self, _: Kind, _: &[Id]) -> Walk<Id> {
        self.use_up(2)?;
        self.reader.number()?;
        Ok(Id { client: 0, clock: self.reader.number()? })
    }

    fn string(&mut self, usage: Use, _: Option<Id>, _: Id) -> Walk<u64> {
        self.use_up(if usage == Use::Word { 3 } else { 1 })?;
        self.reader.string().map(|_| 1)
    }

    fn raw(&mut self, length: usize) -> Walk {
        self.reader.raw(length).map(|_| ())
    }

    fn signed(&mut self) -> Walk {
        self.reader.signed().map(|_| ())
    }
}

/// The strings that may be referred to, by what they say.
pub type Words = HashMap<Box<[u8]>, u32>;

/// Takes an update apart that was found to be regular.
pub struct Parser<'a, 'b> {
    reader: Reader<'a>,
    state: &'b mut State,
    words: &'b mut Words,
    shape: &'b mut Vec<u8>,
    arguments: &'b mut Vec<Argument<'a>>,
    key: u32,
}

/// Take `bytes` apart into `shape` and `arguments`.
pub fn parse<'a>(
    bytes: &'a [u8],
    state: &mut State,
    words: &mut Words,
    shape: &mut Vec<u8>,
    arguments: &mut Vec<Argument<'a>>,
) -> Walk {
    shape.clear();
    arguments.clear();
    yjs::update(&mut Parser { reader: Reader { rest: bytes }, state, words, shape, arguments, key: 0 })
}

impl Elements for Parser<'_, '_> {
    fn state(&self) -> &State {
        self.state
    }

    fn state_mut(&mut self) -> Option<&mut State> {
        Some(self.state)
    }

    fn count(&mut self) -> Walk<u64> {
        let count = self.reader.number()?;
        varint::write(self.shape, count);
        Ok(count)
    }

    fn byte(&mut self) -> Walk<u8> {
        let byte = self.reader.byte()?;
        self.shape.push(byte);
        Ok(byte)
    }

    fn client(&mut self) -> Walk<u32> {
        let client = self.reader.number()?;
        if let Some(rank) = self.state.rank(client) {
            if rank < usize::from(NEW_CLIENT) {
                self.shape.push(rank as u8);
            } else {
                self.shape.push(OLD_CLIENT);
                self.arguments.push(Argument::Rank(rank as u64));
            }
            return self.state.recall(rank).ok_or(Irregular);
        }
        self.shape.push(NEW_CLIENT);
        self.arguments.push(Argument::Client(client));
        Ok(self.state.meet(client))
    }

    #[inline]
    fn number(&mut self, kind: Kind, guesses: &[u64]) -> Walk<u64> {
        let number = self.reader.number()?;
        let guess = guesses.iter().position(|&guess| guess == number);
        self.shape.push(guess.unwrap_or(guesses.len()) as u8);
        if guess.is_none() {
            self.arguments.push(Argument::Number(kind, zigzag(number.wrapping_sub(guesses[0]) as i64)));
        }
        Ok(number)
    }

    #[inline]
    fn id(&mut self, kind: Kind, guesses: &[Id]) -> Walk<Id> {
        let before = self.reader.rest;
        let client = self.reader.number()?;
        let clock = self.reader.number()?;
        let guess = guesses.iter().position(|g| g.clock == clock && self.state.client(g.client) == client);
        if let Some(guess) = guess {
            self.shape.push(guess as u8);
            return Ok(guesses[guess]);
        }
        self.shape.push(guesses.len() as u8);
        self.reader.rest = before;
        let client = self.client()?;
        let clock = self.reader.number()?;
        let near = self.state.nearby(client, guesses);
        self.arguments.push(Argument::Number(kind, zigzag(clock.wrapping_sub(near) as i64)));
        Ok(Id { client, clock })
    }

    fn string(&mut self, usage: Use, before: Option<Id>, this: Id) -> Walk<u64> {
        let string = self.reader.string()?;
        let long = string.len() >= LONG;
        if usage == Use::Word && !long {
            if let Some(&word) = self.words.get(string) {
                self.shape.push(WORD);
                varint::write(self.shape, u64::from(word));
                self.key = word;
                return Ok(1);
            }
            if self.state.remember(string) {
                self.words.insert(string.into(), self.state.strings.len() as u32 - 1);
            }
        }
        if long {
            self.shape.push(BLOB);
            self.arguments.push(Argument::Blob(slot(usage, self.key), string));
        } else {
            let single = usage == Use::Text && string.len() == 1;
            self.shape.push(match usage {
                Use::Word => NEW_WORD,
                _ if single => SINGLE,
                _ => SHORT,
            });
            self.arguments.push(Argument::Short(single, Follows::of(usage, before, this), string));
        }
        Ok(if usage == Use::Text { utf16_length(string) } else { 1 })
    }

    fn raw(&mut self, length: usize) -> Walk {
        let raw = self.reader.raw(length)?;
        self.arguments.push(Argument::Raw(raw));
        Ok(())
    }

    fn signed(&mut self) -> Walk {
        let signed = self.reader.signed()?;
        self.arguments.push(Argument::Number(Kind::Signed, signed));
        Ok(())
    }
}
