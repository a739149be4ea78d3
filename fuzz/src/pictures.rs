//! PNG files in base64, made of a fuzzer's bytes: the pixels, or the deflate stream itself.

use arbitrary::Arbitrary;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::{Compress, Compression, Crc, FlushCompress};

/// How a picture is made.
#[derive(Debug, Arbitrary)]
pub struct Picture {
    before: String,
    width: u8,
    depth: u8,
    colour: u8,
    stream: Stream,
    chunk: u16,
    breaks: u8,
    /// Which byte of the text to change, and how.
    change: Option<(u16, u8)>,
    after: String,
}

#[derive(Debug, Arbitrary)]
enum Stream {
    Any(Vec<u8>),
    /// Compressed pixels: a sequence again and again, with a byte of it changed each time.
    Pixels {
        period: Vec<u8>,
        length: u16,
        changes: Vec<(u8, u8)>,
        level: u8,
    },
}

impl Stream {
    fn deflated(&self) -> Vec<u8> {
        let Self::Pixels { period, length, changes, level } = self else {
            let Self::Any(bytes) = self else { unreachable!() };
            return bytes.clone();
        };
        let mut period = period.clone();
        let mut pixels = Vec::new();
        let mut changes = changes.iter().cycle();
        while !period.is_empty() && pixels.len() < usize::from(*length) {
            pixels.extend_from_slice(&period);
            if let Some(&(at, byte)) = changes.next() {
                let at = usize::from(at) % period.len();
                period[at] = byte;
            }
        }
        let mut compress = Compress::new(Compression::new(u32::from(level % 10)), false);
        let mut out = Vec::with_capacity(2 * pixels.len() + 100);
        compress.compress_vec(&pixels, &mut out, FlushCompress::Finish).unwrap();
        out
    }
}

impl Picture {
    /// The text.
    pub fn text(&self) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let header = [0, 0, 0, self.width, 0, 0, 0, 1, self.depth, self.colour, 0, 0, 0];
        chunk(&mut file, b"IHDR", &header);
        let data = [&[0x78, 0x9c], &self.stream.deflated()[..], &[1, 2, 3, 4]].concat();
        for piece in data.chunks(usize::from(self.chunk.max(1))) {
            chunk(&mut file, b"IDAT", piece);
        }
        chunk(&mut file, b"IEND", &[]);
        let mut text = BASE64_STANDARD.encode(file).into_bytes();
        if self.breaks > 0 {
            text = text.chunks(usize::from(self.breaks)).collect::<Vec<_>>().join(&b'\n');
        }
        if let Some((at, byte)) = self.change {
            let at = usize::from(at) % text.len();
            text[at] = byte;
        }
        [self.before.as_bytes(), &text, self.after.as_bytes()].concat()
    }
}

fn chunk(file: &mut Vec<u8>, kind: &[u8], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend(content);
    let mut crc = Crc::new();
    crc.update(&file[start..]);
    file.extend(crc.sum().to_be_bytes());
}
