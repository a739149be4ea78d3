//! The bytes of any object that has the buffer protocol.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// `data` itself when it is `bytes`, else a copy of its bytes in C order.
///
/// The copy is made under the interpreter lock, so a `bytearray` that another thread changes is seen at one moment.
pub fn as_bytes<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    Ok(PyMemoryView::from(data)?.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}
