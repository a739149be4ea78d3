//! Yjs updates, as far as their structure goes: which structs of which client they hold, never what is in those.
//!
//! Packing and storing treat updates as opaque bytes. This is for the questions that need more: whether the history of
//! a document is complete, and what of a document it lacks.

mod clocks;
mod content;
mod ranges;
mod read;
#[cfg(test)]
mod tests;
mod update;

pub use clocks::{Clocks, pairs};
pub use ranges::{ClientRanges, Ranges};
pub use update::{Id, Section, Update};
