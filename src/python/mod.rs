//! The Python module `ypress._native`: checks arguments, releases the interpreter lock where it pays, calls the core.

mod buffer;
mod entry;
mod errors;
mod keep;
mod row;
mod segment;
mod yjs;

use pyo3::prelude::*;

/// The native half of ypress. Import `ypress`, not this.
#[pymodule(gil_used = false)]
#[allow(non_upper_case_globals)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const DEFAULT_MAX_SIZE: usize = crate::limits::DEFAULT_MAX_SIZE;
    #[pymodule_export]
    use super::keep::keep_forever;
    #[pymodule_export]
    use super::row::{Compressor, RowInfo, compress, row_info};
    #[pymodule_export]
    use super::segment::{SegmentInfo, SegmentIterator, pack, segment_info, unpack};
    #[pymodule_export]
    use super::yjs::{Clocks, clock_ranges};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::entry::add(module)
    }
}
