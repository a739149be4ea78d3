//! Core errors as Python exceptions. The classes are Python's own (`ypress.errors`), so that they pickle.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::error::Error;

static CORRUPT_DATA: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TOO_LARGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static UNSUPPORTED_FORMAT: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Make `ypress.errors.<name>(message, *details)`.
fn raise<D>(cell: &PyOnceLock<Py<PyType>>, name: &str, arguments: D) -> PyErr
where
    D: for<'py> IntoPyObject<'py> + Send + Sync,
    D: pyo3::PyErrArguments + 'static,
{
    Python::attach(|py| match cell.import(py, "ypress.errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), arguments),
        Err(error) => error,
    })
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Corrupt { format, offset, .. } => {
                raise(&CORRUPT_DATA, "CorruptData", (message, format, offset))
            }
            Error::TooLarge { format, size, limit } => {
                raise(&TOO_LARGE, "TooLarge", (message, format, size, limit))
            }
            Error::Unsupported { format, version } => {
                raise(&UNSUPPORTED_FORMAT, "UnsupportedFormat", (message, format, version))
            }
            Error::Level { .. } => PyValueError::new_err(message),
            Error::Compress { .. } => PyRuntimeError::new_err(message),
        }
    }
}
