//! Objects that must never be finalised.

use pyo3::prelude::*;

/// Keep an object until the process is gone, whatever the interpreter does at its end; see the stub.
#[pyfunction]
#[pyo3(signature = (kept, /))]
pub fn keep_forever(kept: Py<PyAny>) {
    std::mem::forget(kept);
}
