use super::*;
use crate::varint;
use proptest::prelude::*;

/// An update of one client, its structs given by length, and skipped where `held` is false.
fn garbage(client: u64, structs: &[(u64, bool)]) -> Vec<u8> {
    let mut out = vec![1];
    for number in [structs.len() as u64, client, 0] {
        varint::write(&mut out, number);
    }
    for &(length, held) in structs {
        out.push(if held { 0 } else { 10 });
        varint::write(&mut out, length);
    }
    out.push(0);
    out
}

#[allow(clippy::panic)]
fn parse(bytes: &[u8]) -> Update {
    Update::parse(bytes).unwrap_or_else(|error| panic!("{error}: {bytes:?}"))
}

/// The clocks of the first client, as pairs.
fn structs(bytes: &[u8]) -> Vec<(u64, u64)> {
    parse(bytes).sections[0].structs.iter().map(|range| (range.start, range.end)).collect()
}

proptest! {
    /// Whatever the bytes, there is an answer; and what is taken for an update is read to its end.
    #[test]
    fn hostile_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), small in any::<bool>()) {
        if small {
            bytes.iter_mut().for_each(|byte| *byte &= 0x8f);
        }
        if let Ok(update) = Update::parse(&bytes) {
            let mut clocks = Clocks::default();
            clocks.add(&update);
            prop_assert_eq!(clocks.missing(&bytes), Ok(None));
            prop_assert!(clocks.add(&update) || !clocks.gaps().is_empty() || update.sections.len() > 1);
            if let Some(closing) = clocks.closing() {
                clocks.add(&parse(&closing));
                prop_assert_eq!(clocks.closing(), None);
            }
            bytes.push(0);
            prop_assert!(Update::parse(&bytes).is_err());
        }
    }

    /// Gaps are what was skipped, and closing them leaves none.
    #[test]
    fn gaps_and_closing(
        client in 0u64..1 << 53,
        structs in proptest::collection::vec((1u64..300, any::<bool>()), 1..20),
    ) {
        let bytes = garbage(client, &structs);
        let mut clocks = Clocks::default();
        let complete = clocks.add(&parse(&bytes));
        let held = structs.iter().rposition(|&(_, held)| held).map_or(0, |last| last + 1);
        let skipped = structs[..held].iter().filter(|&&(_, held)| !held).map(|&(length, _)| length).sum::<u64>();
        let gaps = pairs(&clocks.gaps());
        let missing = gaps.iter().flat_map(|(_, gaps)| gaps).map(|(start, end)| end - start).sum::<u64>();
        prop_assert_eq!(missing, skipped);
        prop_assert_eq!(complete, skipped == 0);
        for cut in 0..bytes.len() {
            prop_assert!(Update::parse(&bytes[..cut]).is_err());
        }
        if let Some(closing) = clocks.closing() {
            clocks.add(&parse(&closing));
        }
        prop_assert!(clocks.gaps().is_empty());
    }
}

#[test]
fn nesting_takes_no_stack() {
    // A million arrays, each in the other, as the content of one item.
    let mut bytes = vec![1, 1, 7, 0, 8, 1, 1, b'a', 1];
    bytes.extend(std::iter::repeat_n([117, 1], 1_000_000).flatten());
    bytes.extend([126, 0]);
    assert_eq!(structs(&bytes), [(0, 1)]);
}

#[test]
fn counts_are_not_trusted() {
    let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    for before in
        [&[][..], &[1], &[0], &[0, 1, 7], &[1, 1, 7, 0, 8, 1, 1, b'a'], &[1, 1, 7, 0, 4, 1, 1, b'a']]
    {
        assert!(Update::parse(&[before, &most[..]].concat()).is_err());
    }
    // A length that carries the clock beyond what JavaScript can count.
    assert!(Update::parse(&[&[1, 1, 7, 1, 0][..], &most, &[0]].concat()).is_err());
}

#[test]
fn clocks_are_utf16_units() {
    let text = "a\u{e9}\u{20ac}\u{1f600}";
    let mut bytes = vec![1, 1, 7, 0, 4, 1, 1, b't', text.len() as u8];
    bytes.extend(text.as_bytes());
    bytes.push(0);
    assert_eq!(structs(&bytes), [(0, 5)]);
}

#[test]
fn a_gap_that_something_needs_stays() {
    // Client 7 from clock 2 on; its item has clock 0 as its left neighbour.
    let mut clocks = Clocks::default();
    assert!(!clocks.add(&parse(&[1, 1, 7, 2, 0x81, 7, 0, 1, 0])));
    assert_eq!(pairs(&clocks.gaps()), [(7, vec![(0, 2)])]);
    assert_eq!(pairs(&clocks.awaited()), [(7, vec![(0, 1)])]);
    assert_eq!(clocks.closing(), None);
    // Once it has arrived, the rest can be closed.
    assert!(clocks.add(&parse(&[1, 1, 7, 0, 0, 1, 0])));
    assert_eq!(clocks.closing().as_deref(), Some(&[1, 1, 7, 1, 0, 1, 0][..]));
}

#[test]
fn only_what_is_missing() {
    let mut clocks = Clocks::default();
    clocks.add(&parse(&[1, 1, 7, 0, 0, 5, 1, 7, 1, 0, 3]));
    // Known structs of 7, new ones of 9, and of the deletions 3..5 are new.
    let update = [2, 1, 9, 0, 0, 2, 1, 7, 0, 0, 5, 1, 7, 1, 0, 5];
    assert_eq!(clocks.missing(&update), Ok(Some(vec![1, 1, 9, 0, 0, 2, 1, 7, 1, 3, 2])));
    clocks.add(&parse(&update));
    assert_eq!(clocks.missing(&update), Ok(None));
    assert_eq!(clocks.state_vector(), [2, 7, 5, 9, 2]);
}
