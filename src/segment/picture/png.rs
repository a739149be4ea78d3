//! From the text of a picture to its tokens, and back.

use std::ops::Range;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use base64::{Engine, alphabet};
use flate2::Crc;

use super::deflate::{self, Block};
use super::window::{LARGEST_PIXEL, LONGEST_LINE};
use super::{MOST_PLAIN, MOST_TOKENS};
use crate::segment::yjs::{Irregular, Walk};

/// What PNG files begin with, as far as it shows in base64.
const MAGIC: &[u8] = b"iVBORw0KGgo";
/// Less than this is not worth the trouble.
const LEAST: usize = 512;
/// The most characters that pad the last group.
const PADDING: usize = 2;
/// So many times a text may be read in search of pictures.
const PATIENCE: usize = 4;
/// The bytes of a chunk's length and type, and of the header of the zlib stream.
const BEGIN: usize = 10;
/// The bytes of Adler-32, the end of a zlib stream.
pub const SUM: usize = 4;

/// A picture in base64 that comes back from this, byte for byte.
#[derive(Debug)]
pub struct Picture {
    /// Where it lies in the text.
    pub range: Range<usize>,
    /// After how many characters there is a line break; 0 for none.
    pub breaks: usize,
    /// The bytes up to the deflate stream.
    pub head: Vec<u8>,
    pub blocks: Vec<Block>,
    /// How many bytes the tokens stand for.
    pub plain: usize,
    /// Adler-32.
    pub sum: Vec<u8>,
    /// What comes after the last chunk with data.
    pub tail: Vec<u8>,
    /// How many bytes a line of the picture has with its filter, and a pixel.
    pub line: usize,
    pub pixel: usize,
}

/// The pictures in `text`, in order, each read when it is asked for.
pub fn find(text: &[u8]) -> impl Iterator<Item = Picture> {
    let mut at = 0;
    // What looks like a picture and is none is read up to its end, which may be far. Text made to be full of it is not
    // worth the time.
    let mut patience = PATIENCE * text.len();
    std::iter::from_fn(move || {
        while let Some(start) = magic(text, at) {
            at = start + MAGIC.len();
            let (breaks, end) = extent(text, start);
            patience = patience.checked_sub(end - start)?;
            if let Ok(picture) = read(text, start..end, breaks) {
                at = picture.range.end;
                return Some(picture);
            }
        }
        None
    })
}

/// After how many characters there are line breaks in what begins at `start`, 0 for none, and where it may end.
fn extent(text: &[u8], start: usize) -> (usize, usize) {
    let line = |from: usize| text[from..].iter().take_while(|byte| is_digit(byte)).count();
    let length = line(start);
    let mut end = start + length;
    if text.get(end) != Some(&b'\n') {
        return (0, text.len().min(end + PADDING));
    }
    while text.get(end) == Some(&b'\n') {
        let next = line(end + 1);
        end += 1 + next;
        if next != length {
            break;
        }
    }
    (length, text.len().min(end + PADDING))
}

/// Where [`MAGIC`] comes next, from `at` on (R. N. Horspool, "Practical fast searching in strings", 1980).
fn magic(text: &[u8], mut at: usize) -> Option<usize> {
    // How far it may be moved on, by the byte that its last one stands against.
    const SKIP: [u8; 256] = {
        let mut skip = [MAGIC.len() as u8; 256];
        let mut at = 0;
        while at < MAGIC.len() - 1 {
            skip[MAGIC[at] as usize] = (MAGIC.len() - 1 - at) as u8;
            at += 1;
        }
        skip
    };
    loop {
        let window = text.get(at..at + MAGIC.len())?;
        if window == MAGIC {
            return Some(at);
        }
        at += usize::from(SKIP[usize::from(window[MAGIC.len() - 1])]);
    }
}

/// The picture that begins where `range` does, and ends at its end or before.
fn read(text: &[u8], range: Range<usize>, breaks: usize) -> Walk<Picture> {
    let (start, text) = (range.start, &text[range]);
    let bytes = decoded(text, breaks)?;
    let file = File::of(&bytes)?;
    let (blocks, deflated) = deflate::read(&file.data[2..], MOST_TOKENS, MOST_PLAIN)?;
    let (deflated, sum) = file.data[2..].split_at(deflated);
    let tokens: usize = blocks.iter().map(|block| block.tokens.len()).sum();
    let plain: usize = blocks.iter().flat_map(|block| &block.tokens).map(|token| token.plain()).sum();
    // A photograph has next to no copies, and a literal of it can hardly be predicted.
    if deflated.len() < LEAST || sum.len() != SUM || 10 * tokens > 9 * plain {
        return Err(Irregular);
    }
    // Unless it ends as a picture does, whole groups of characters are left of what is there.
    let whole = file.after.start..file.after.start.next_multiple_of(3);
    for tail in [file.after, whole].into_iter().filter_map(|range| bytes.get(range)) {
        let again = self::text(breaks, file.head, deflated, sum, tail, text.len())?;
        if text.starts_with(&again) {
            return Ok(Picture {
                range: start..start + again.len(),
                breaks,
                head: file.head.to_vec(),
                blocks,
                plain,
                sum: sum.to_vec(),
                tail: tail.to_vec(),
                line: file.line,
                pixel: file.pixel,
            });
        }
    }
    Err(Irregular)
}

fn is_digit(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// What the text stands for, as far as all lines are of one length.
fn decoded(text: &[u8], breaks: usize) -> Walk<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let mut digits = Vec::with_capacity(text.len());
    let length = if breaks == 0 { text.len() } else { breaks };
    for line in text.chunks(length + 1) {
        let end = line.iter().take(length).take_while(|byte| is_digit(byte)).count();
        digits.extend_from_slice(&line[..end]);
        if end < length || line.last() != Some(&b'\n') {
            break;
        }
    }
    // One character alone is less than a byte.
    digits.truncate(digits.len() - usize::from(digits.len() % 4 == 1));
    LENIENT.decode(&digits).map_err(|_| Irregular)
}

/// The parts of a file.
struct File<'a> {
    /// Up to the deflate stream.
    head: &'a [u8],
    /// The zlib stream, out of all its chunks.
    data: Vec<u8>,
    /// Where the chunks after it lie.
    after: Range<usize>,
    line: usize,
    pixel: usize,
}

/// A chunk's type, its content, and where it ends.
fn chunk(bytes: &[u8], at: usize) -> Walk<(&[u8], &[u8], usize)> {
    let length =
        u32::from_be_bytes(*bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Irregular)?) as usize;
    let content = bytes.get(at + 8..at + 8 + length).ok_or(Irregular)?;
    Ok((&bytes[at + 4..at + 8], content, at + 8 + length + 4))
}

impl<'a> File<'a> {
    fn of(bytes: &'a [u8]) -> Walk<Self> {
        let (kind, header, mut at) = chunk(bytes, 8)?;
        if kind != b"IHDR" || header.len() != 13 {
            return Err(Irregular);
        }
        let width = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        let channels = match header[9] {
            2 => 3,
            4 => 2,
            6 => 4,
            _ => 1,
        };
        let bits = u64::from(header[8]) * channels;
        let line = (u64::from(width) * bits).div_ceil(8) + 1;
        let (mut head, mut data) = (None, Vec::new());
        while let Ok((kind, content, end)) = chunk(bytes, at) {
            if kind == b"IDAT" {
                head.get_or_insert(bytes.get(..at + BEGIN).ok_or(Irregular)?);
                data.extend_from_slice(content);
            } else if head.is_some() {
                break;
            }
            at = end;
        }
        let head = head.ok_or(Irregular)?;
        if data.len() < 2 {
            return Err(Irregular);
        }
        let start = at;
        while let Ok((kind, _, end)) = chunk(bytes, at) {
            at = end;
            if kind == b"IEND" {
                break;
            }
        }
        Ok(Self {
            head,
            data,
            after: start..at,
            line: line.min(LONGEST_LINE as u64) as usize,
            pixel: (bits.div_ceil(8) as usize).min(LARGEST_PIXEL),
        })
    }
}

/// The text of a picture, of at most `limit` bytes.
pub fn text(
    breaks: usize,
    head: &[u8],
    deflated: &[u8],
    sum: &[u8],
    tail: &[u8],
    limit: usize,
) -> Walk<Vec<u8>> {
    let at = head.len().checked_sub(BEGIN).ok_or(Irregular)?;
    let size = u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    if size < 2 {
        return Err(Irregular);
    }
    let data = [&head[at + 8..], deflated, sum].concat();
    let mut file = head[..at].to_vec();
    for (number, piece) in data.chunks(size).enumerate() {
        let start = file.len() + 4;
        let length = if number == 0 { size } else { piece.len() };
        file.extend((length as u32).to_be_bytes());
        file.extend(b"IDAT");
        file.extend(piece);
        let mut crc = Crc::new();
        crc.update(&file[start..]);
        file.extend(crc.sum().to_be_bytes());
        if file.len() > limit {
            return Err(Irregular);
        }
    }
    file.extend(tail);
    let digits = BASE64_STANDARD.encode(&file).into_bytes();
    let text = match breaks {
        0 => digits,
        _ if digits.len() + digits.len() / breaks > limit + 1 => return Err(Irregular),
        _ => digits.chunks(breaks).collect::<Vec<_>>().join(&b'\n'),
    };
    if text.len() > limit { Err(Irregular) } else { Ok(text) }
}
