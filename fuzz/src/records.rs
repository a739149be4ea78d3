//! Histories of documents, made of a fuzzer's bytes: partly any bytes, partly what resembles a session.

use arbitrary::Arbitrary;
use ypress::segment::Record;

use crate::pictures::Picture;

/// How a record is made; what is relative refers to the records before it.
#[derive(Debug, Arbitrary)]
pub struct Step {
    update: Update,
    metadata: Metadata,
    time: Time,
}

#[derive(Debug, Arbitrary)]
enum Update {
    Any(Vec<u8>),
    Empty,
    /// One string typed behind the last one, as Yjs writes it.
    Typed {
        client: u8,
        text: String,
    },
    /// One string with numbers of any size in its place.
    Odd {
        numbers: [u64; 4],
        info: u8,
        text: String,
    },
    Deleted {
        client: u8,
        clock: u16,
        length: u8,
    },
    /// An earlier update with a byte changed and something put in.
    Again {
        back: u8,
        at: u16,
        byte: u8,
        more: Vec<u8>,
    },
    /// A picture in base64 with some text around it.
    Picture(Picture),
    /// Bytes again and again.
    Long {
        period: Vec<u8>,
        length: u16,
    },
}

#[derive(Debug, Arbitrary)]
enum Metadata {
    Same,
    None,
    Any(Vec<u8>),
}

#[derive(Debug, Arbitrary)]
enum Time {
    Same,
    Millis(u16),
    Micros(u32),
    Step(f64),
    Any(u64),
}

/// A record that owns its bytes.
pub type Row = (Vec<u8>, Option<Vec<u8>>, f64);

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn string(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// The records of a script.
pub fn rows(steps: &[Step]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut clock = 0;
    let mut time = 1_700_000_000.0;
    for step in steps {
        let mut update = Vec::new();
        match &step.update {
            Update::Any(bytes) => update.clone_from(bytes),
            Update::Empty => update.extend([0, 0]),
            Update::Typed { client, text } => {
                update.extend([1, 1]);
                number(&mut update, u64::from(*client) * 77_777);
                number(&mut update, clock);
                update.push(0x84);
                number(&mut update, u64::from(*client) * 77_777);
                number(&mut update, clock.saturating_sub(1));
                string(&mut update, text);
                update.push(0);
                clock += text.encode_utf16().count() as u64;
            }
            Update::Odd { numbers, info, text } => {
                update.extend([1, 1]);
                numbers[..2].iter().for_each(|&value| number(&mut update, value));
                update.push(*info);
                numbers[2..].iter().for_each(|&value| number(&mut update, value));
                string(&mut update, text);
                update.push(0);
            }
            Update::Deleted { client, clock, length } => {
                update.extend([0, 1]);
                number(&mut update, u64::from(*client) * 77_777);
                update.push(1);
                number(&mut update, u64::from(*clock));
                update.push(length & 0x7f);
            }
            Update::Again { back, at, byte, more } => {
                if let Some((earlier, ..)) = rows.iter().rev().nth(usize::from(*back)) {
                    update.clone_from(earlier);
                }
                let at = usize::from(*at) % (update.len() + 1);
                if let Some(place) = update.get_mut(at) {
                    *place = *byte;
                }
                update.splice(at..at, more.iter().copied());
            }
            Update::Picture(picture) => update = picture.text(),
            Update::Long { period, length } if !period.is_empty() => {
                update.extend(period.iter().cycle().take(usize::from(*length)));
            }
            Update::Long { .. } => {}
        }
        let metadata = match &step.metadata {
            Metadata::Same => rows.last().and_then(|(_, metadata, _)| metadata.clone()),
            Metadata::None => None,
            Metadata::Any(bytes) => Some(bytes.clone()),
        };
        time = match step.time {
            Time::Same => time,
            Time::Millis(millis) => time + f64::from(millis) / 1e3,
            Time::Micros(micros) => time + f64::from(micros) / 1e6,
            Time::Step(step) => time + step,
            Time::Any(bits) => f64::from_bits(bits),
        };
        rows.push((update, metadata, time));
    }
    rows
}

/// The same as [`ypress::segment::pack`] takes them.
pub fn borrowed(rows: &[Row]) -> Vec<Record<'_>> {
    rows.iter()
        .map(|(update, metadata, timestamp)| Record {
            update,
            metadata: metadata.as_deref(),
            timestamp: *timestamp,
        })
        .collect()
}
