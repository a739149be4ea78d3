//! The hot paths, one call each, for an instrument that counts instructions: see `scripts/instructions.sh`.
//!
//! Without an argument it prints the names of the cases; with one it makes ready what that case needs and runs it,
//! first to warm up and then inside of `ypress_measured`.
#![allow(clippy::unwrap_used)]

mod histories;

use std::hint::black_box;

use histories::{plots, printing, records, typing};
use ypress::codec::{Codec, room};
use ypress::foreign;
use ypress::frame::{Value, compress, parse};
use ypress::segment::{pack, unpack};
use ypress::yjs::{Clocks, Update};

/// What is counted: nothing before it and nothing behind.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn ypress_measured(work: &mut Work) {
    work();
}

type Work<'a> = dyn FnMut() + 'a;
type Run<'a> = dyn FnMut(&mut Work) + 'a;
type Ready<'a> = dyn Fn(&mut Run) + 'a;

const SMALL: usize = 200;
const MEDIUM: usize = 17_000;
const CODECS: [Codec; 3] = [Codec::Zstd(3), Codec::Lz4, Codec::Brotli(4)];
const TYPED: usize = 2_000;
const PRINTED: u64 = 100;
const DRAWN: u64 = 4;

/// Text like that of a notebook.
fn text(size: usize) -> Vec<u8> {
    let mut text: Vec<u8> = printing(8).into_iter().flat_map(|row| row.update).collect();
    text.extend(typing(size).into_iter().flat_map(|row| row.update));
    text.truncate(size);
    text
}

fn stored(raw: &[u8], codec: Codec) -> Vec<u8> {
    let mut out = Vec::new();
    let length = compress(raw, Some(codec), &mut out).unwrap().unwrap();
    out.truncate(length);
    out
}

fn read(stored: &[u8], content: &mut [u8]) -> usize {
    match parse(black_box(stored)).unwrap() {
        Value::Compressed(frame) => frame.decompress_into(room(content)).unwrap().len(),
        Value::Verbatim(content) => content.len(),
        Value::Untagged => stored.len(),
    }
}

/// Calls `visit` with the name of each case and a function that makes it ready and hands over its work.
fn cases(visit: &mut dyn FnMut(String, &Ready)) {
    visit("keystroke, compress".into(), &|run| {
        let raw = &typing(50)[49].update;
        let mut out = Vec::new();
        run(&mut || drop(black_box(compress(black_box(raw), Some(CODECS[0]), &mut out))));
    });
    visit("keystroke, read".into(), &|run| {
        let raw = &typing(50)[49].update;
        run(&mut || assert!(read(raw, &mut []) > 0));
    });
    for codec in CODECS {
        for size in [SMALL, MEDIUM] {
            let name = format!("{} {size} bytes", codec.parts().0);
            visit(format!("{name}, compress"), &|run| {
                let (raw, mut out) = (text(size), Vec::new());
                run(&mut || assert!(compress(black_box(&raw), Some(codec), &mut out).unwrap().is_some()));
            });
            visit(format!("{name}, read"), &|run| {
                let (stored, mut content) = (stored(&text(size), codec), vec![0; size]);
                run(&mut || assert_eq!(read(&stored, &mut content), size));
            });
        }
    }
    visit(format!("zlib {MEDIUM} bytes, read"), &|run| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, &text(MEDIUM)).unwrap();
        let value = encoder.finish().unwrap();
        run(&mut || assert!(foreign::decode(black_box(&value), 1 << 20).unwrap().is_some()));
    });
    for (name, history) in [("typed", typing(TYPED)), ("printed", printing(PRINTED)), ("drawn", plots(DRAWN))]
    {
        for level in [1, 10] {
            visit(format!("{} {name}, pack at level {level}", history.len()), &|run| {
                let records = records(&history);
                run(&mut || drop(black_box(pack(black_box(&records), level).unwrap())));
            });
            visit(format!("{} {name}, unpack from level {level}", history.len()), &|run| {
                let blob = pack(&records(&history), level).unwrap();
                run(&mut || drop(black_box(unpack(black_box(&blob), usize::MAX).unwrap())));
            });
        }
        visit(format!("{} {name}, clocks", history.len()), &|run| {
            run(&mut || {
                let mut clocks = Clocks::default();
                for row in black_box(&history) {
                    clocks.add(&Update::parse(&row.update).unwrap());
                }
                black_box(clocks);
            });
        });
    }
}

fn main() {
    // Cargo passes options of its own.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    cases(&mut |name, ready| match &wanted {
        None => println!("{name}"),
        Some(wanted) if *wanted == name => ready(&mut |work| {
            work();
            ypress_measured(work);
        }),
        Some(_) => {}
    });
}
