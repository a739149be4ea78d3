//! Pictures: PNG files in base64, as notebooks hold the output of plots.
//!
//! They are compressed already, by deflate: as tokens, under codes that know nothing of what a picture is. Here the
//! tokens are predicted from what is around them, and the codes are written again. Nothing is decided anew, so that the
//! very same bytes come back whichever program wrote them, as long as they can be written from their tokens.

mod deflate;
mod model;
mod png;
mod window;

use super::coder::{Coder, Num};
use super::symbols::SymbolCoder;
use super::yjs::{Irregular, Walk};
use deflate::{Block, Codes, Header, Token, Writer};
use model::{Model, Recent};
pub use png::{Picture, find};
use window::Window;

/// So many bytes the tokens of all pictures in a segment may stand for: they can be a thousand times as many as the
/// tokens take.
const MOST_PLAIN: usize = 1 << 28;
/// So many tokens are held in memory.
const MOST_TOKENS: usize = 1 << 22;

/// The pictures of a segment.
pub struct Pictures {
    model: Model,
    numbers: Numbers,
    /// How many more bytes tokens may stand for.
    plain: usize,
}

#[derive(Default)]
struct Numbers {
    breaks: Num,
    head: Num,
    tail: Num,
    line: Num,
    pixel: Num,
}

impl Pictures {
    pub fn new() -> Self {
        Self { model: Model::new(), numbers: Numbers::default(), plain: MOST_PLAIN }
    }

    /// Whether the picture may be encoded, too.
    pub fn fits(&self, picture: &Picture) -> bool {
        picture.plain <= self.plain
    }

    /// Encode `picture`, which must fit. Its bytes that are no tokens go to `literals`.
    pub fn encode<C: Coder, S: SymbolCoder>(
        &mut self,
        coder: &mut C,
        symbols: &mut S,
        literals: &mut Vec<u8>,
        picture: &Picture,
    ) {
        literals.extend_from_slice(&picture.head);
        literals.extend_from_slice(&picture.sum);
        literals.extend_from_slice(&picture.tail);
        let numbers = &mut self.numbers;
        for (model, number) in [
            (&mut numbers.breaks, picture.breaks),
            (&mut numbers.head, picture.head.len()),
            (&mut numbers.tail, picture.tail.len()),
            (&mut numbers.line, picture.line),
            (&mut numbers.pixel, picture.pixel),
        ] {
            model.code(coder, number as u64);
        }
        // What was read is within all limits.
        let written = self.blocks(coder, symbols, &picture.blocks, (picture.line, picture.pixel), usize::MAX);
        debug_assert!(written.is_ok(), "a picture that was read could not be written");
    }

    /// Decode the text of a picture, of at most `limit` bytes.
    pub fn decode<C: Coder, S: SymbolCoder>(
        &mut self,
        coder: &mut C,
        symbols: &mut S,
        literals: &mut &[u8],
        limit: usize,
    ) -> Walk<Vec<u8>> {
        let numbers = &mut self.numbers;
        let [breaks, head, tail, line, pixel] = [
            &mut numbers.breaks,
            &mut numbers.head,
            &mut numbers.tail,
            &mut numbers.line,
            &mut numbers.pixel,
        ]
        .map(|number| usize::try_from(number.code(coder, 0)).unwrap_or(usize::MAX));
        let mut take = |length: usize| {
            let (taken, rest) = literals.split_at_checked(length).ok_or(Irregular)?;
            *literals = rest;
            Ok(taken)
        };
        let (head, sum, tail) = (take(head)?, take(png::SUM)?, take(tail)?);
        let deflated = self.blocks(coder, symbols, &[], (line, pixel), limit)?;
        png::text(breaks, head, &deflated, sum, tail, limit)
    }

    /// Code the blocks of a deflate stream, of at most `limit` bytes.
    fn blocks<C: Coder, S: SymbolCoder>(
        &mut self,
        coder: &mut C,
        symbols: &mut S,
        given: &[Block],
        (line, pixel): (usize, usize),
        limit: usize,
    ) -> Walk<Vec<u8>> {
        let nothing = Header::default();
        let mut recent = Recent::new(Window::new(line, pixel));
        let mut writer = Writer::new(limit);
        for at in 0.. {
            let given = given.get(at);
            let (header, count) = given.map_or((&nothing, 0), |block| (&block.header, block.tokens.len()));
            let (header, count) = self.model.header(coder, header, count)?;
            let codes = Codes::of(&header)?;
            writer.header(&header)?;
            for at in 0..count {
                let token = given.map_or(Token::Literal(0), |block| block.tokens[at]);
                let token = self.model.token(coder, symbols, &mut recent, token)?;
                writer.token(&codes, token)?;
                if recent.plain() > self.plain {
                    return Err(Irregular);
                }
            }
            writer.end(&codes)?;
            if header.last {
                break;
            }
        }
        self.plain -= recent.plain();
        Ok(writer.finish())
    }
}
