//! Compact, safe history for pycrdt stores.
//!
//! * [`frame`]: one stored value: an update, compressed where that pays.
//! * [`segment`]: many consecutive updates of one document in one blob.
//! * [`foreign`]: values that other programs compressed.
//! * [`codec`]: the compression methods, one file each.
//! * [`yjs`]: what a history of Yjs updates holds and lacks.
//!
//! Only the `python` module, behind the feature of that name, knows of Python.

pub mod codec;
pub mod error;
pub mod foreign;
pub mod frame;
pub mod limits;
pub mod segment;
pub mod varint;
pub mod yjs;

#[cfg(feature = "python")]
mod python;
