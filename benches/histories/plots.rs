//! Outputs with pictures: PNG files in base64, as a notebook holds them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::{Document, Random, Row, varint};

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
/// The bytes of a pixel: red, green, blue, alpha.
const PIXEL: usize = 4;

/// Lines of pixels: curves with soft edges on white.
fn drawn(random: &mut Random) -> Vec<u8> {
    let mut pixels = vec![255; WIDTH * HEIGHT * PIXEL];
    for _ in 0..3 {
        let colour: [u64; 3] = [(); 3].map(|()| random.below(256));
        let (mut y, mut slope) = (random.below(HEIGHT as u64) as f64, 0.0);
        for x in 0..WIDTH {
            slope += random.below(1000) as f64 / 2500.0 - 0.2;
            y = (y + slope).clamp(0.0, HEIGHT as f64 - 2.0);
            for (line, part) in [(y as usize, 1.0 - y % 1.0), (y as usize + 1, y % 1.0)] {
                let at = (line * WIDTH + x) * PIXEL;
                for (byte, colour) in pixels[at..at + 3].iter_mut().zip(colour) {
                    *byte = (f64::from(*byte) * (1.0 - part) + colour as f64 * part) as u8;
                }
            }
        }
    }
    pixels
}

/// Each line with a filter: by turns what is left of it, what is above, and a mean of both.
fn filtered(pixels: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut above = &[0; WIDTH * PIXEL][..];
    for (number, line) in pixels.chunks(WIDTH * PIXEL).enumerate() {
        let filter = 1 + (number % 3) as u8;
        out.push(filter);
        for (at, byte) in line.iter().enumerate() {
            let left = if at < PIXEL { 0 } else { line[at - PIXEL] };
            let predicted = match filter {
                1 => left,
                2 => above[at],
                _ => ((u16::from(left) + u16::from(above[at])) / 2) as u8,
            };
            out.push(byte.wrapping_sub(predicted));
        }
        above = line;
    }
    out
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

fn png(random: &mut Random) -> Vec<u8> {
    let lines = filtered(&drawn(random));
    let mut stream = Vec::with_capacity(lines.len());
    let mut compress = Compress::new(Compression::new(6), true);
    let done = compress.compress_vec(&lines, &mut stream, FlushCompress::Finish);
    assert!(done.is_ok_and(|status| status == flate2::Status::StreamEnd));
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [(WIDTH as u32).to_be_bytes(), (HEIGHT as u32).to_be_bytes()].concat();
    chunk(&mut file, b"IHDR", &[&size[..], &[8, 6, 0, 0, 0]].concat());
    for piece in stream.chunks(8192) {
        chunk(&mut file, b"IDAT", piece);
    }
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Cells that draw are run one after the other.
pub fn plots(count: u64) -> Document {
    let (mut random, client) = (Random(3), 0x1234_5678_9abc);
    let row = |step: u64| {
        let text = BASE64_STANDARD.encode(png(&mut random)).into_bytes();
        let text = [text.chunks(76).collect::<Vec<_>>().join(&b'\n'), b"\n".to_vec()].concat();
        let mut update = vec![1, 1];
        varint(&mut update, client);
        varint(&mut update, step);
        update.extend(b"\x08\x01\x07outputs\x01\x76\x01\x09image/png\x77");
        varint(&mut update, text.len() as u64);
        update.extend(text);
        update.push(0);
        Row { update, metadata: Some(vec![]), timestamp: 1.7e9 + step as f64 }
    };
    (0..count).map(row).collect()
}
