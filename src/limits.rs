//! Limits that keep hostile or damaged input from taking the machine's memory.

/// The largest content that is unfolded unless the caller says otherwise: 256 MiB.
///
/// A single Yjs update beyond this cannot come from a working collaboration server: a websocket message is limited to
/// tens of megabytes there, and a browser fails on far smaller notebooks. At the same time a server of 1 GB survives
/// one allocation of this size. Values above it are stored as they are (see [`crate::frame::compress`]), so that
/// nothing is written which a reader with default settings refuses.
pub const DEFAULT_MAX_SIZE: usize = 256 << 20;

/// Inputs from this size on are worked on with the interpreter lock released. Handing it over and taking it back costs a
/// fraction of a microsecond, less than the fastest codec takes for this much: `python benches/row_choices.py lock`.
pub const DETACH_FROM: usize = 4096;
