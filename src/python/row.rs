//! Single values: `compress`, `decompress`, `row_info`.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::buffer::as_bytes;
use crate::codec::Codec;
use crate::error::Error;
use crate::foreign;
use crate::frame::{self, Value};
use crate::limits::{DEFAULT_MAX_SIZE, DETACH_FROM};

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A buffer that grew beyond this is given back after use.
const KEEP_SCRATCH: usize = 1 << 20;

/// The codec of a name and level.
pub fn codec_of(name: &str, level: Option<i32>) -> PyResult<Codec> {
    match Codec::new(name, level) {
        Some(codec) => Ok(codec?),
        None => {
            let names = Codec::NAMES.join(", ");
            Err(PyValueError::new_err(format!("no codec is called {name:?}; there are: {names}")))
        }
    }
}

/// Compress one value; see `ypress.compress` in the stub.
#[pyfunction]
#[pyo3(signature = (data, /, codec = Some("zstd"), level = None))]
pub fn compress<'py>(
    data: &Bound<'py, PyAny>,
    codec: Option<&str>,
    level: Option<i32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let codec = codec.map(|name| codec_of(name, level)).transpose()?;
    let data = as_bytes(data)?;
    let (py, raw) = (data.py(), data.as_bytes());
    if (codec.is_none() || raw.len() < frame::SMALLEST) && !frame::must_escape(raw) {
        return Ok(data);
    }
    // Taken out of its cell, not borrowed: another Python thread may run while the lock is released.
    let mut scratch = SCRATCH.take();
    let framed = if raw.len() < DETACH_FROM {
        frame::compress(raw, codec, &mut scratch)
    } else {
        py.detach(|| frame::compress(raw, codec, &mut scratch))
    };
    let value = match framed {
        Ok(Some(length)) => Ok(PyBytes::new(py, &scratch[..length])),
        Ok(None) => Ok(data.clone()),
        Err(error) => Err(error.into()),
    };
    if scratch.len() <= KEEP_SCRATCH {
        SCRATCH.set(scratch);
    }
    value
}

/// Decompress one value; see `ypress.decompress` in the stub.
#[pyfunction]
#[pyo3(signature = (data, /, *, max_size = DEFAULT_MAX_SIZE))]
pub fn decompress<'py>(data: &Bound<'py, PyAny>, max_size: usize) -> PyResult<Bound<'py, PyBytes>> {
    let data = as_bytes(data)?;
    let (py, stored) = (data.py(), data.as_bytes());
    match frame::parse(stored)? {
        Value::Untagged => match foreign_content(py, stored, max_size)? {
            Some((_, content)) => Ok(PyBytes::new(py, &content)),
            None => Ok(data),
        },
        Value::Verbatim(content) => Ok(PyBytes::new(py, content)),
        Value::Compressed(frame) => {
            let length = frame.content_length(max_size)?;
            let mut result = Ok(());
            let content = PyBytes::new_with(py, length, |out| {
                result = if length < DETACH_FROM {
                    frame.decompress_into(out)
                } else {
                    py.detach(|| frame.decompress_into(out))
                };
                Ok(())
            })?;
            result?;
            Ok(content)
        }
    }
}

fn foreign_content(
    py: Python<'_>,
    stored: &[u8],
    max_size: usize,
) -> Result<Option<(foreign::Container, Vec<u8>)>, Error> {
    if foreign::Container::claimed(stored).is_none() {
        return Ok(None);
    }
    py.detach(|| foreign::decode(stored, max_size))
}

/// What a stored value is; see `ypress.row_info` in the stub.
#[pyclass(frozen, get_all, eq, module = "ypress")]
#[derive(PartialEq)]
pub struct RowInfo {
    /// `raw`, `verbatim`, `zstd`, `lz4`, `brotli`, `zstd-frame`, `lz4-frame`, `gzip` or `zlib`.
    kind: &'static str,
    /// The length of the value as it is stored.
    stored_size: usize,
    /// The length of the update in it.
    raw_size: u64,
}

#[pymethods]
impl RowInfo {
    fn __repr__(&self) -> String {
        let Self { kind, stored_size, raw_size } = self;
        format!("RowInfo(kind={kind:?}, stored_size={stored_size}, raw_size={raw_size})")
    }
}

/// Look at one value; see `ypress.row_info` in the stub.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub fn row_info(data: &Bound<'_, PyAny>) -> PyResult<RowInfo> {
    let data = as_bytes(data)?;
    let stored = data.as_bytes();
    let stored_size = stored.len();
    let (kind, raw_size) = match frame::parse(stored)? {
        Value::Verbatim(content) => ("verbatim", content.len() as u64),
        Value::Compressed(frame) => (frame.method.name(), frame.raw_length),
        Value::Untagged => match foreign_content(data.py(), stored, DEFAULT_MAX_SIZE)? {
            Some((container, content)) => (container.name(), content.len() as u64),
            None => ("raw", stored_size as u64),
        },
    };
    Ok(RowInfo { kind, stored_size, raw_size })
}
