//! From a stream to its blocks.

use super::codes::{Code, Codes, DISTANCES, END, LENGTHS};
use super::writing::Writer;
use super::{Block, Header, Spelled, Token, item};
use crate::segment::yjs::{Irregular, Walk};

/// Bits, the lowest of each byte first.
struct Bits<'a> {
    rest: &'a [u8],
    held: u64,
    count: u32,
}

impl Bits<'_> {
    /// The next bits, at most 16, without taking them; zeros after the end.
    fn peek(&mut self) -> u16 {
        while self.count < 16
            && let Some((&byte, rest)) = self.rest.split_first()
        {
            self.rest = rest;
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
        }
        self.held as u16
    }

    fn skip(&mut self, count: u32) -> Walk {
        self.count = self.count.checked_sub(count).ok_or(Irregular)?;
        self.held >>= count;
        Ok(())
    }

    fn take(&mut self, count: u32) -> Walk<u16> {
        let value = self.peek() & ((1u32 << count) - 1) as u16;
        self.skip(count)?;
        Ok(value)
    }

    fn symbol(&mut self, table: &Table) -> Walk<u16> {
        let (symbol, length) = table.0[usize::from(self.peek() & 0x7fff)];
        if length == 0 {
            return Err(Irregular);
        }
        self.skip(u32::from(length))?;
        Ok(symbol)
    }
}

/// The symbol and the length of its code, by the next 15 bits.
struct Table(Vec<(u16, u8)>);

impl Table {
    fn new(codes: &[Code]) -> Self {
        let mut table = vec![(0, 0); 1 << 15];
        for (symbol, code) in codes.iter().enumerate().filter(|(_, code)| code.length > 0) {
            for entry in table[usize::from(code.bits)..].iter_mut().step_by(1 << code.length) {
                *entry = (symbol as u16, code.length);
            }
        }
        Self(table)
    }
}

/// The blocks of the stream that `bytes` begin with, and its length, if [`Writer`] brings it back. It may have so many
/// tokens and unfold to so many bytes.
pub fn read(bytes: &[u8], most_tokens: usize, most_plain: usize) -> Walk<(Vec<Block>, usize)> {
    let mut bits = Bits { rest: bytes, held: 0, count: 0 };
    let mut writer = Writer::new(bytes.len());
    let (mut blocks, mut tokens, mut plain) = (Vec::<Block>::new(), 0, 0);
    while blocks.last().is_none_or(|block| !block.header.last) {
        let mut block = Block { header: header(&mut bits)?, tokens: Vec::new() };
        let codes = Codes::of(&block.header)?;
        writer.header(&block.header)?;
        let (literals, distances) = (Table::new(&codes.literals), Table::new(&codes.distances));
        while let Some(token) = token(&mut bits, &literals, &distances)? {
            let reaches = !matches!(token, Token::Copy { distance, .. } if usize::from(distance) > plain);
            tokens += 1;
            plain += token.plain();
            if !reaches || tokens > most_tokens || plain > most_plain {
                return Err(Irregular);
            }
            writer.token(&codes, token)?;
            block.tokens.push(token);
        }
        writer.end(&codes)?;
        blocks.push(block);
    }
    let again = writer.finish();
    if bytes.starts_with(&again) { Ok((blocks, again.len())) } else { Err(Irregular) }
}

fn header(bits: &mut Bits<'_>) -> Walk<Header> {
    let last = bits.take(1)? == 1;
    let mut header = Header { last, spelled: None };
    match bits.take(2)? {
        1 => return Ok(header),
        2 => (),
        _ => return Err(Irregular),
    }
    let mut spelled = Spelled::default();
    for (count, of) in spelled.counts.iter_mut().zip([5, 5, 4]) {
        *count = bits.take(of)? as u8;
    }
    for at in 0..spelled.of_lengths() {
        spelled.lengths[at] = bits.take(3)? as u8;
    }
    let table = Table::new(&spelled.codes_of_lengths()?);
    let mut lengths = 0;
    while lengths < spelled.expected() {
        let symbol = bits.symbol(&table)? as u8;
        let (more, least) = item(symbol);
        let more = bits.take(more)? as u8;
        lengths += least + usize::from(more);
        spelled.items.push((symbol, more));
    }
    header.spelled = Some(spelled);
    Ok(header)
}

/// The next token; none at the end of the block.
fn token(bits: &mut Bits<'_>, literals: &Table, distances: &Table) -> Walk<Option<Token>> {
    let symbol = usize::from(bits.symbol(literals)?);
    if symbol <= END {
        return Ok((symbol < END).then_some(Token::Literal(symbol as u8)));
    }
    let &(base, more) = LENGTHS.get(symbol - END - 1).ok_or(Irregular)?;
    let length = base + bits.take(more)?;
    let &(base, more) = DISTANCES.get(usize::from(bits.symbol(distances)?)).ok_or(Irregular)?;
    Ok(Some(Token::Copy { length, distance: base + bits.take(more)? }))
}
