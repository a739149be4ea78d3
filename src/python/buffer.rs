//! The bytes of any object that has the buffer protocol.

use std::mem::MaybeUninit;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::ffi;
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

/// New `bytes` of this length, written by `fill` in place. `PyBytes::new_with` would clear them first.
///
/// `fill` proves by the slice it returns that it has written all of the room.
pub fn new_bytes<'py>(
    py: Python<'py>,
    length: usize,
    fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> PyResult<&'a mut [u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = isize::try_from(length).map_err(|_| PyOverflowError::new_err("too large for bytes"))?;
    // SAFETY: a null pointer asks for `size` bytes that are not initialised. What comes back is a new reference to bytes,
    // or null with an exception set.
    let bytes = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size))?
            .cast_into_unchecked::<PyBytes>()
    };
    // SAFETY: nothing else has seen the object yet, so its memory, of `length` bytes, may be written; it lives until
    // `bytes` is dropped. If `fill` fails, that happens here and nobody ever reads what was not written.
    let room = unsafe {
        std::slice::from_raw_parts_mut(
            ffi::PyBytes_AsString(bytes.as_ptr()).cast::<MaybeUninit<u8>>(),
            length,
        )
    };
    let filled = fill(room)?.len();
    debug_assert_eq!(filled, length);
    Ok(bytes)
}
