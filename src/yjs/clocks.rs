//! What a history holds: the structs and deletions of all its updates, and what is missing between them.

use std::ops::Range;

use super::ranges::{self, ClientRanges, Ranges};
use super::update::{GC, SKIP, Update};
use crate::error::Result;
use crate::varint;

/// The structs of each client that a sequence of updates holds, by clock.
///
/// Readers differ when a client's clocks have a gap: Yjs holds back everything of that client behind the gap, and all
/// that depends on it, until the missing structs arrive; yrs only what directly depends on the missing ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks {
    present: ClientRanges,
    deleted: ClientRanges,
    /// Needed by a struct at a time when it was not present.
    awaited: ClientRanges,
}

impl Clocks {
    /// Add an update. Returns whether it fits on: no gap opens before its structs, and what they need, and what it
    /// deletes, is present. What did not fit once is not complained of again.
    pub fn add(&mut self, update: &Update) -> bool {
        let mut fits = true;
        for section in &update.sections {
            for structs in &section.structs {
                let there = self.present.entry(section.client).or_default();
                fits &= structs.start == 0 || there.covers(&(structs.start - 1..structs.start));
                there.insert(structs.clone());
            }
        }
        for need in &update.needs {
            let clock = need.clock..need.clock + 1;
            if !covers(&self.present, need.client, &clock) && !covers(&self.awaited, need.client, &clock) {
                fits = false;
                ranges::insert(&mut self.awaited, need.client, clock);
            }
        }
        for (client, deleted) in &update.deletions {
            fits &= covers(&self.present, *client, deleted) || covers(&self.deleted, *client, deleted);
            ranges::insert(&mut self.deleted, *client, deleted.clone());
        }
        fits
    }

    /// The clocks that are present.
    pub fn present(&self) -> &ClientRanges {
        &self.present
    }

    /// The clocks that are missing below the highest of their client.
    pub fn gaps(&self) -> ClientRanges {
        self.present
            .iter()
            .map(|(&client, there)| (client, there.missing(&(0..there.end()))))
            .filter(|(_, gaps)| !gaps.is_empty())
            .collect()
    }

    /// The clocks that structs need as their neighbour, parent or link target, and that are missing.
    pub fn awaited(&self) -> ClientRanges {
        let mut awaited = ClientRanges::new();
        for (&client, needed) in &self.awaited {
            for range in needed.as_slice() {
                for missing in ranges::missing(&self.present, client, range).as_slice() {
                    ranges::insert(&mut awaited, client, missing.clone());
                }
            }
        }
        awaited
    }

    /// How far each client's clocks go from 0 without a gap, as an encoded state vector.
    pub fn state_vector(&self) -> Vec<u8> {
        let known = self.present.iter().map(|(&client, there)| (client, there.contiguous()));
        let known: Vec<_> = known.filter(|&(_, clock)| clock > 0).collect();
        let mut out = Vec::new();
        varint::write(&mut out, known.len() as u64);
        for (client, clock) in known {
            varint::write(&mut out, client);
            varint::write(&mut out, clock);
        }
        out
    }

    /// The part of an update that is not here yet: the sections of clients with a struct that is missing, and the
    /// deletions that are missing. None when there is none.
    ///
    /// # Errors
    /// `bytes` is not an update; see [`Update::parse`].
    pub fn missing(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let update = Update::parse(bytes)?;
        let news = |client: u64, structs: &[Range<u64>]| {
            structs.iter().any(|range| !covers(&self.present, client, range))
        };
        let sections = update.sections.iter().filter(|section| news(section.client, &section.structs));
        let sections: Vec<_> = sections.collect();
        let mut deletions = ClientRanges::new();
        for (client, deleted) in &update.deletions {
            for range in ranges::missing(&self.deleted, *client, deleted).as_slice() {
                ranges::insert(&mut deletions, *client, range.clone());
            }
        }
        if sections.is_empty() && deletions.is_empty() {
            return Ok(None);
        }
        let mut out = Vec::new();
        varint::write(&mut out, sections.len() as u64);
        for section in sections {
            out.extend_from_slice(bytes.get(section.bytes.clone()).unwrap_or_default());
        }
        write_deletions(&mut out, &deletions);
        Ok(Some(out))
    }

    /// An update that closes gaps which no struct depends on, by structs that are deleted and collected. None when
    /// there is no such gap.
    ///
    /// The other gaps stay: a struct next to a collected one, or inside of one, is collected too, and its content lost.
    pub fn closing(&self) -> Option<Vec<u8>> {
        let awaited = self.awaited();
        let mut sections = 0;
        let mut body = Vec::new();
        for (client, gaps) in self.gaps() {
            let needed = awaited.get(&client);
            let free = |gap: &&Range<u64>| needed.is_none_or(|needed| !needed.meets(gap));
            let gaps: Vec<_> = gaps.as_slice().iter().filter(free).collect();
            let Some(first) = gaps.first() else { continue };
            // One section for a client, as readers expect; what lies between its gaps is skipped.
            sections += 1;
            for number in [gaps.len() as u64 * 2 - 1, client, first.start] {
                varint::write(&mut body, number);
            }
            let mut clock = first.start;
            for gap in gaps {
                if gap.start > clock {
                    body.push(SKIP);
                    varint::write(&mut body, gap.start - clock);
                }
                body.push(GC);
                varint::write(&mut body, gap.end - gap.start);
                clock = gap.end;
            }
        }
        let mut out = Vec::new();
        varint::write(&mut out, sections);
        out.extend_from_slice(&body);
        out.push(0);
        (sections > 0).then_some(out)
    }
}

fn covers(ranges: &ClientRanges, client: u64, range: &Range<u64>) -> bool {
    ranges.get(&client).map_or(range.is_empty(), |there| there.covers(range))
}

fn write_deletions(out: &mut Vec<u8>, deletions: &ClientRanges) {
    varint::write(out, deletions.len() as u64);
    for (&client, deleted) in deletions {
        varint::write(out, client);
        varint::write(out, deleted.as_slice().len() as u64);
        for range in deleted.as_slice() {
            varint::write(out, range.start);
            varint::write(out, range.end - range.start);
        }
    }
}

/// The ranges of each client as plain pairs of first clock and the clock behind the last.
pub fn pairs(ranges: &ClientRanges) -> Vec<(u64, Vec<(u64, u64)>)> {
    let flat = |ranges: &Ranges| ranges.as_slice().iter().map(|range| (range.start, range.end)).collect();
    ranges.iter().map(|(&client, ranges)| (client, flat(ranges))).collect()
}
