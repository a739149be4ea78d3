//! Histories of documents, the same every time.

mod plots;

pub use plots::plots;
use ypress::segment::Record;

/// A record that owns its bytes.
pub struct Row {
    pub update: Vec<u8>,
    pub metadata: Option<Vec<u8>>,
    pub timestamp: f64,
}

/// The rows of a document.
pub type Document = Vec<Row>;

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % limit
    }
}

fn varint(out: &mut Vec<u8>, number: u64) {
    ypress::varint::write(out, number);
}

/// Someone types words into a text, goes elsewhere now and then, and takes characters back.
pub fn typing(updates: usize) -> Document {
    const WORDS: [&str; 12] =
        ["the", "value", "import", "of", "return", "a", "numpy", "plot", "is", "for", "data", "and"];
    let (mut random, mut time, client) = (Random(1), 1.7e9, 0x1234_5678_9abc);
    let (mut clock, mut left, mut word) = (0u64, None, "".chars());
    let mut document = Vec::new();
    while document.len() < updates {
        time += 0.05 + random.below(1 << 20) as f64 * 4e-7;
        let mut update = Vec::new();
        if clock > 0 && random.below(15) == 0 {
            update.extend([0, 1]);
            varint(&mut update, client);
            update.push(1);
            varint(&mut update, clock - 1);
            update.push(1);
        } else {
            if random.below(40) == 0 && clock > 0 {
                left = Some(random.below(clock));
            }
            let letter = word.next().unwrap_or_else(|| {
                word = WORDS[random.below(12) as usize].chars();
                ' '
            });
            update.extend([1, 1]);
            varint(&mut update, client);
            varint(&mut update, clock);
            match left {
                None => update.extend(b"\x04\x01\x06source"),
                Some(left) => {
                    update.push(0x84);
                    varint(&mut update, client);
                    varint(&mut update, left);
                }
            }
            update.extend([1, letter as u8, 0]);
            left = Some(clock);
            clock += 1;
        }
        document.push(Row { update, metadata: Some(vec![]), timestamp: time });
    }
    document
}

/// An output that is replaced by a longer one again and again.
pub fn printing(prints: u64) -> Document {
    let (mut random, mut text, client) = (Random(2), Vec::new(), 0x1234_5678_9abc);
    let row = |step: u64, random: &mut Random, text: &mut Vec<u8>| {
        text.extend(format!("step {step}: loss={:.5}\n", random.below(1 << 30) as f64 / 1e9).bytes());
        let mut update = vec![1, 1];
        varint(&mut update, client);
        varint(&mut update, step + 1);
        update.push(0x88);
        varint(&mut update, client);
        varint(&mut update, step);
        update.extend(b"\x01\x76\x02\x04name\x77\x06stdout\x04text\x77");
        varint(&mut update, text.len() as u64);
        update.extend(&*text);
        update.push(1);
        varint(&mut update, client);
        update.push(1);
        varint(&mut update, step);
        update.push(1);
        Row { update, metadata: Some(vec![]), timestamp: 1.7e9 + step as f64 * 0.05 }
    };
    (0..prints).map(|step| row(step, &mut random, &mut text)).collect()
}

/// The same as `pack` takes them.
pub fn records(document: &[Row]) -> Vec<Record<'_>> {
    document
        .iter()
        .map(|row| Record {
            update: &row.update,
            metadata: row.metadata.as_deref(),
            timestamp: row.timestamp,
        })
        .collect()
}
