//! Sets of clocks: sorted, disjoint, never touching ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of clocks of one client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<u64>>);

/// A set of clocks for each client; no client has an empty one.
pub type ClientRanges = BTreeMap<u64, Ranges>;

impl Ranges {
    /// The ranges in ascending order.
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first clock behind all of them.
    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |last| last.end)
    }

    /// How far the clocks go from 0 without a gap.
    pub fn contiguous(&self) -> u64 {
        self.0.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }

    /// Add a range; an empty one adds nothing.
    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        // Histories grow at their end, so that is where to look first.
        match self.0.last_mut() {
            None => return self.0.push(range),
            Some(last) if range.start > last.end => return self.0.push(range),
            Some(last) if range.start >= last.start => {
                last.end = last.end.max(range.end);
                return;
            }
            Some(_) => {}
        }
        let from = self.0.partition_point(|there| there.end < range.start);
        let to = self.0.partition_point(|there| there.start <= range.end);
        let (mut start, mut end) = (range.start, range.end);
        if let Some(touched) = self.0.get(from..to)
            && let (Some(first), Some(last)) = (touched.first(), touched.last())
        {
            start = start.min(first.start);
            end = end.max(last.end);
        }
        self.0.splice(from..to, std::iter::once(start..end));
    }

    /// Whether every clock of `range` is in the set.
    pub fn covers(&self, range: &Range<u64>) -> bool {
        range.is_empty() || self.at(range.start).is_some_and(|there| there.end >= range.end)
    }

    /// What of `range` is not in the set.
    pub fn missing(&self, range: &Range<u64>) -> Ranges {
        let mut missing = Ranges::default();
        let mut start = range.start;
        let first = self.0.partition_point(|there| there.end <= range.start);
        for there in self.0.iter().skip(first).take_while(|there| there.start < range.end) {
            missing.insert(start..there.start.max(start));
            start = there.end;
        }
        missing.insert(start..range.end.max(start));
        missing
    }

    /// Whether the set has a clock of `range`.
    pub fn meets(&self, range: &Range<u64>) -> bool {
        let index = self.0.partition_point(|there| there.end <= range.start);
        !range.is_empty() && self.0.get(index).is_some_and(|there| there.start < range.end)
    }

    fn at(&self, clock: u64) -> Option<&Range<u64>> {
        let index = self.0.partition_point(|there| there.end <= clock);
        self.0.get(index).filter(|there| there.start <= clock)
    }
}

/// Add `range` to the clocks of `client`.
pub fn insert(ranges: &mut ClientRanges, client: u64, range: Range<u64>) {
    if !range.is_empty() {
        ranges.entry(client).or_default().insert(range);
    }
}

/// What of `range` the client lacks.
pub fn missing(ranges: &ClientRanges, client: u64, range: &Range<u64>) -> Ranges {
    match ranges.get(&client) {
        Some(there) => there.missing(range),
        None => {
            let mut all = Ranges::default();
            all.insert(range.clone());
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn as_a_plain_set(
            parts in proptest::collection::vec((0u64..60, 0u64..9), 0..20),
            (start, length) in (0u64..60, 0u64..20),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, length) in parts {
                ranges.insert(start..start + length);
                set.extend(start..start + length);
            }
            let flat: Vec<u64> = ranges.as_slice().iter().cloned().flatten().collect();
            prop_assert_eq!(flat, set.iter().copied().collect::<Vec<_>>());
            prop_assert!(ranges.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
            let asked = start..start + length;
            prop_assert_eq!(ranges.covers(&asked), asked.clone().all(|clock| set.contains(&clock)));
            prop_assert_eq!(ranges.meets(&asked), asked.clone().any(|clock| set.contains(&clock)));
            let missing: Vec<u64> = ranges.missing(&asked).as_slice().iter().cloned().flatten().collect();
            prop_assert_eq!(missing, asked.filter(|clock| !set.contains(clock)).collect::<Vec<_>>());
            prop_assert_eq!(ranges.contiguous(), (0..).take_while(|clock| set.contains(clock)).count() as u64);
        }
    }
}
