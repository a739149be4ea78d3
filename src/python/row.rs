//! Single values: `compress`, `decompress`, `row_info`.

use std::cell::RefCell;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyTuple, PyType};

use super::buffer::{as_bytes, new_bytes};
use crate::codec::{Codec, copy_into};
use crate::error::Error;
use crate::foreign;
use crate::frame::{self, Value};
use crate::limits::{DEFAULT_MAX_SIZE, DETACH_FROM};

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A buffer that grew beyond this is given back after use.
const KEEP_SCRATCH: usize = 2 << 20;

/// The codec of a name and level.
pub fn codec_of(name: &str, level: Option<Level<'_>>) -> PyResult<Codec> {
    match Codec::new(name, level.as_ref().map(|level| level.number)) {
        Some(Ok(codec)) => Ok(codec),
        Some(Err(Error::Level { codec, range, .. })) => {
            let given = level.map_or_else(String::new, |level| format!("; got level {}", level.given));
            Err(PyValueError::new_err(format!("{codec} has {range}{given}")))
        }
        Some(Err(error)) => Err(error.into()),
        None => {
            let names = Codec::NAMES.join(", ");
            Err(PyValueError::new_err(format!("no codec is called {name:?}; there are: {names}")))
        }
    }
}

/// A level as it was given. One beyond `i32` is beyond the range of every codec, and so is `i32::MAX`.
pub struct Level<'py> {
    number: i32,
    given: Bound<'py, PyInt>,
}

impl<'py> FromPyObject<'_, 'py> for Level<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let given = integer(object, "level")?;
        let number = match given.extract::<i32>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => i32::MAX,
            number => number?,
        };
        Ok(Self { number, given })
    }
}

/// A limit in bytes; one beyond `usize` is no limit.
pub struct MaxSize(usize);

impl Default for MaxSize {
    fn default() -> Self {
        Self(DEFAULT_MAX_SIZE)
    }
}

impl<'py> FromPyObject<'_, 'py> for MaxSize {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let given = integer(object, "max_size")?;
        if given.lt(0)? {
            return Err(PyValueError::new_err(format!(
                "max_size is a number of bytes, at least 0; got {given}"
            )));
        }
        Ok(Self(given.extract().unwrap_or(usize::MAX)))
    }
}

/// A bool is an int to Python, but never meant as a number here.
fn integer<'py>(object: Borrowed<'_, 'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyInt>> {
    match object.cast::<PyInt>() {
        Ok(integer) if !object.is_instance_of::<PyBool>() => Ok(integer.to_owned()),
        _ => Err(PyTypeError::new_err(format!("{name} must be an int, not {}", object.get_type().name()?))),
    }
}

/// Compress one value; see `ypress.compress` in the stub.
#[pyfunction]
#[pyo3(
    signature = (data, /, codec = Some("zstd"), level = None),
    text_signature = "(data, /, codec='zstd', level=None)"
)]
pub fn compress<'py>(
    data: &Bound<'py, PyAny>,
    codec: Option<&str>,
    level: Option<Level<'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let codec = match (codec, level) {
        (Some(name), level) => Some(codec_of(name, level)?),
        (None, None) => None,
        (None, Some(level)) => {
            let given = level.given;
            return Err(PyValueError::new_err(format!("level {given} has no codec to apply to; name one")));
        }
    };
    compress_with(data, codec)
}

/// From so many bytes on, copying the compressed value takes long enough for others to notice.
const COPY_DETACHED_FROM: usize = 1 << 20;

fn compress_with<'py>(data: &Bound<'py, PyAny>, codec: Option<Codec>) -> PyResult<Bound<'py, PyBytes>> {
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
        Ok(Some(length)) if length < COPY_DETACHED_FROM => Ok(PyBytes::new(py, &scratch[..length])),
        // Copying touches new memory, page by page, for which the others need not wait.
        Ok(Some(length)) => {
            new_bytes(py, length, |room| Ok(py.detach(|| copy_into(&scratch[..length], room))))
        }
        Ok(None) => Ok(data.clone()),
        Err(error) => Err(error.into()),
    };
    if scratch.len() <= KEEP_SCRATCH {
        SCRATCH.set(scratch);
    }
    value
}

/// `compress` with its codec and level fixed; see `ypress.callbacks` in the stub.
#[pyclass(frozen, eq, hash, module = "ypress._native")]
#[derive(PartialEq, Eq, Hash)]
pub struct Compressor {
    codec: Codec,
}

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (codec = "zstd", level = None, /))]
    fn new(codec: &str, level: Option<Level<'_>>) -> PyResult<Self> {
        Ok(Self { codec: codec_of(codec, level)? })
    }

    #[pyo3(signature = (data, /))]
    fn __call__<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        compress_with(data, Some(self.codec))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let (name, level) = self.codec.parts();
        Ok((py.get_type::<Self>(), (name, level).into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        match self.codec.parts() {
            (name, Some(level)) => format!("Compressor({name:?}, {level})"),
            (name, None) => format!("Compressor({name:?})"),
        }
    }
}

/// Whether `decompress` returns this value as it is.
#[inline(always)]
pub fn is_raw(stored: &[u8]) -> bool {
    matches!(frame::parse(stored), Ok(Value::Untagged)) && foreign::Container::claimed(stored).is_none()
}

/// Decompress one value; see `ypress.decompress` in the stub. Called through `entry`.
#[pyfunction]
#[pyo3(signature = (data, /, *, max_size = MaxSize::default()))]
pub fn decompress<'py>(data: &Bound<'py, PyAny>, max_size: MaxSize) -> PyResult<Bound<'py, PyBytes>> {
    let MaxSize(max_size) = max_size;
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
            new_bytes(py, length, |room| {
                Ok(if length < DETACH_FROM {
                    frame.decompress_into(room)?
                } else {
                    py.detach(|| frame.decompress_into(room))?
                })
            })
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
#[pyclass(frozen, get_all, eq, hash, module = "ypress")]
#[derive(PartialEq, Eq, Hash)]
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
