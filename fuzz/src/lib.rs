//! What the fuzz targets share.

pub mod memory;
pub mod records;
pub mod references;
