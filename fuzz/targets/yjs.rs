//! Any bytes as a history of Yjs updates: what it holds and lacks is found out, or refused with an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ypress::yjs::{Clocks, Update, pairs};

/// Two bytes of length, then an update, and so on.
fn updates(mut input: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&[low, high], rest) = input.split_first_chunk()?;
        let update;
        (update, input) = rest.split_at(usize::from(u16::from_le_bytes([low, high])).min(rest.len()));
        Some(update)
    })
}

fuzz_target!(|input: &[u8]| {
    let mut clocks = Clocks::default();
    for bytes in updates(input) {
        let Ok(update) = Update::parse(bytes) else {
            assert!(clocks.missing(bytes).is_err());
            continue;
        };
        let missing = clocks.missing(bytes).unwrap();
        if let Some(missing) = &missing {
            Update::parse(missing).unwrap();
        }
        clocks.add(&update);
        // Once it is there, nothing of it is missing.
        assert_eq!(clocks.missing(bytes).unwrap(), None);
    }
    pairs(clocks.present());
    pairs(&clocks.gaps());
    pairs(&clocks.awaited());
    clocks.state_vector();
    if let Some(closing) = clocks.closing() {
        Update::parse(&closing).unwrap();
    }
});
