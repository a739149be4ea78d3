//! What the fuzz targets share.

pub mod memory;
pub mod pictures;
pub mod records;
pub mod references;
