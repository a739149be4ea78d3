//! The grammar of a Yjs update (version 1), walked in the same way by those who read one and by who writes one.
//!
//! Every element is asked for with guesses of its value, made from what is known of the document. What the elements
//! are and how often they come is the update's *shape*; what was not guessed are its *arguments*.

use super::state::{Id, State};

/// Nothing that this module can describe, or a shape that makes no sense.
pub struct Irregular;

pub type Walk<T = ()> = Result<T, Irregular>;

/// The statistics that a number belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Clock = 0,
    Origin = 1,
    RightOrigin = 2,
    Parent = 3,
    Length = 4,
    DeleteClock = 5,
    DeleteLength = 6,
    Signed = 7,
}

/// The number of [`Kind`]s.
pub const KINDS: usize = 8;

/// What a string is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Names, keys and short values, which come again.
    Word,
    /// Typed text.
    Text,
    /// Anything else, such as JSON or binary content.
    Other,
}

/// One side of the walk. What is returned is what the update holds.
pub trait Elements {
    fn state(&self) -> &State;
    /// The state to change, unless the walk is only a check.
    fn state_mut(&mut self) -> Option<&mut State>;
    /// A variable-length number that is part of the shape.
    fn count(&mut self) -> Walk<u64>;
    /// A byte that is part of the shape.
    fn byte(&mut self) -> Walk<u8>;
    /// A client; its number.
    fn client(&mut self) -> Walk<u32>;
    /// A number, probably one of the guesses (at least one, at most four).
    fn number(&mut self, kind: Kind, guesses: &[u64]) -> Walk<u64>;
    /// An item, probably one of the guesses.
    fn id(&mut self, kind: Kind, guesses: &[Id]) -> Walk<Id>;
    /// A string with its length before it. `before`: the item that precedes text. Its length in UTF-16 code units.
    fn string(&mut self, usage: Use, before: Option<Id>, this: Id) -> Walk<u64>;
    /// `length` bytes (at most eight) of a number.
    fn raw(&mut self, length: usize) -> Walk;
    /// A signed number as lib0 writes it.
    fn signed(&mut self) -> Walk;
}

const DEPTH: u32 = 12;

/// Walk one update.
pub fn update<E: Elements>(e: &mut E) -> Walk {
    for _ in 0..e.count()? {
        let structs = e.count()?;
        let client = e.client()?;
        let guess = e.state().clock(client);
        let mut clock = e.number(Kind::Clock, &[guess])?;
        for _ in 0..structs {
            let length = item(e, Id { client, clock })?;
            clock = clock.wrapping_add(length);
        }
    }
    for _ in 0..e.count()? {
        let client = e.client()?;
        for range in 0..e.count()? {
            let State { caret, right, deleted, .. } = e.state();
            let (caret, right, deleted) = (caret.clock, right.clock, deleted.clock);
            let guesses = if range == 0 { [caret, right, deleted] } else { [deleted, caret, right] };
            let clock = e.number(Kind::DeleteClock, &guesses)?;
            let up_to = |end: u64| end.wrapping_sub(clock);
            let guesses = [1, up_to(caret.wrapping_add(1)), up_to(right), up_to(deleted)];
            let length = e.number(Kind::DeleteLength, &guesses)?;
            if let Some(state) = e.state_mut() {
                state.deleted(Id { client, clock }, length);
            }
        }
    }
    Ok(())
}

/// One struct at `this`; how many clocks it takes.
fn item<E: Elements>(e: &mut E, this: Id) -> Walk<u64> {
    let info = e.byte()?;
    let kind = info & 31;
    if kind == 0 || kind == 10 {
        let length = e.number(Kind::Length, &[1])?;
        if let Some(state) = e.state_mut() {
            state.pass(this.client, this.clock.wrapping_add(length));
        }
        return Ok(length);
    }
    let (mut left, mut right) = (None, None);
    if info & 0x80 != 0 {
        let guesses = [e.state().caret, this.before(), e.state().deleted.before(), e.state().right];
        left = Some(e.id(Kind::Origin, &guesses)?);
    }
    if info & 0x40 != 0 {
        let state = e.state();
        let near = left.map_or(state.right, |left| state.right_of(left));
        let guesses = [near, state.right, left.unwrap_or(state.caret).after(1), state.deleted];
        right = Some(e.id(Kind::RightOrigin, &guesses)?);
    }
    if info & 0xc0 == 0 {
        match e.byte()? {
            1 => {
                e.string(Use::Word, None, this)?;
            }
            0 => {
                let state = e.state();
                let guesses = [state.parent, state.types[0], state.types[1]];
                let parent = e.id(Kind::Parent, &guesses)?;
                if let Some(state) = e.state_mut() {
                    state.parent = parent;
                }
            }
            _ => return Err(Irregular),
        }
        if info & 0x20 != 0 {
            e.string(Use::Word, None, this)?;
        }
    }
    let length = content(e, kind, left, this)?;
    if let Some(state) = e.state_mut() {
        state.inserted(this, length, left, right);
        if kind == 7 {
            state.types = [this, state.types[0]];
        }
    }
    Ok(length)
}

/// The content of an item; how many clocks it takes.
fn content<E: Elements>(e: &mut E, kind: u8, left: Option<Id>, this: Id) -> Walk<u64> {
    match kind {
        1 => e.number(Kind::Length, &[1]),
        2 => {
            let count = e.count()?;
            for _ in 0..count {
                e.string(Use::Other, None, this)?;
            }
            Ok(count)
        }
        3 | 5 => e.string(Use::Other, None, this).map(|_| 1),
        4 => e.string(Use::Text, left, this),
        6 => {
            e.string(Use::Word, None, this)?;
            e.string(Use::Word, None, this)?;
            Ok(1)
        }
        7 => match e.byte()? {
            0 | 1 | 2 | 4 | 6 => Ok(1),
            3 | 5 => e.string(Use::Word, None, this).map(|_| 1),
            _ => Err(Irregular),
        },
        8 => {
            let count = e.count()?;
            for _ in 0..count {
                any(e, this, DEPTH)?;
            }
            Ok(count)
        }
        9 => {
            e.string(Use::Other, None, this)?;
            any(e, this, DEPTH)?;
            Ok(1)
        }
        _ => Err(Irregular),
    }
}

/// A plain value.
fn any<E: Elements>(e: &mut E, this: Id, depth: u32) -> Walk {
    if depth == 0 {
        return Err(Irregular);
    }
    match e.byte()? {
        127 | 126 | 121 | 120 => Ok(()),
        125 => e.signed(),
        124 => e.raw(4),
        123 | 122 => e.raw(8),
        119 => e.string(Use::Word, None, this).map(|_| ()),
        118 => {
            for _ in 0..e.count()? {
                e.string(Use::Word, None, this)?;
                any(e, this, depth - 1)?;
            }
            Ok(())
        }
        117 => {
            for _ in 0..e.count()? {
                any(e, this, depth - 1)?;
            }
            Ok(())
        }
        116 => e.string(Use::Other, None, this).map(|_| ()),
        _ => Err(Irregular),
    }
}
