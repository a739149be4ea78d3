//! The bytes of any object that has the buffer protocol.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// `data` itself when it is `bytes`, else a copy of its bytes in C order.
///
/// The copy is made under the interpreter lock, so a `bytearray` that another thread changes is seen at one moment.
pub fn as_bytes<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let view = PyMemoryView::from(data).map_err(|error| {
        // Python's own message speaks of memoryview, which the caller has not asked for.
        if !error.is_instance_of::<PyTypeError>(data.py()) {
            return error;
        }
        let kind = data.get_type().name().map_or_else(|_| String::from("this"), |name| name.to_string());
        PyTypeError::new_err(format!("data must be bytes or have the buffer protocol, not {kind}"))
    })?;
    Ok(view.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}
