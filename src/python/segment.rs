//! Segments: `pack`, `unpack`, `segment_info`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyTuple};

use super::buffer::as_bytes;
use crate::limits::DEFAULT_MAX_SIZE;
use crate::segment::{self, DEFAULT_LEVEL, Info, Record, Segment};

type Row<'py> = (Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, f64);

fn row<'py>(record: &Bound<'py, PyAny>) -> PyResult<Row<'py>> {
    let (update, metadata, timestamp) =
        record.extract::<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, f64)>()?;
    Ok((as_bytes(&update)?, metadata.as_ref().map(as_bytes).transpose()?, timestamp))
}

/// Pack updates into one blob; see `ypress.pack` in the stub.
#[pyfunction]
#[pyo3(signature = (records, /, *, level = DEFAULT_LEVEL), text_signature = "(records, /, *, level=None)")]
pub fn pack<'py>(records: &Bound<'py, PyAny>, level: Option<i32>) -> PyResult<Bound<'py, PyBytes>> {
    let py = records.py();
    let mut rows = Vec::with_capacity(records.len().unwrap_or(0).min(segment::MAX_UPDATES));
    for record in records.try_iter()? {
        rows.push(row(&record?)?);
    }
    // The bytes objects are held by `rows` and cannot change, so they may be read without the interpreter lock.
    let records: Vec<Record<'_>> = rows
        .iter()
        .map(|(update, metadata, timestamp)| Record {
            update: update.as_bytes(),
            metadata: metadata.as_ref().map(|metadata| metadata.as_bytes()),
            timestamp: *timestamp,
        })
        .collect();
    let blob = py.detach(|| segment::pack(&records, level.unwrap_or(DEFAULT_LEVEL)))?;
    Ok(PyBytes::new(py, &blob))
}

/// Unpack a blob; see `ypress.unpack` in the stub.
#[pyfunction]
#[pyo3(signature = (blob, /, *, max_size = DEFAULT_MAX_SIZE))]
pub fn unpack(blob: &Bound<'_, PyAny>, max_size: usize) -> PyResult<SegmentIterator> {
    let blob = as_bytes(blob)?;
    let bytes = blob.as_bytes();
    let segment = blob.py().detach(|| segment::unpack(bytes, max_size))?;
    Ok(SegmentIterator { segment, next: 0, metadata: None })
}

/// The records of an unpacked segment, made into objects one at a time.
#[pyclass(module = "ypress")]
pub struct SegmentIterator {
    segment: Segment,
    next: usize,
    /// The last metadata: mostly all records have the same, and then share one object.
    metadata: Option<Py<PyBytes>>,
}

#[pymethods]
impl SegmentIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __length_hint__(&self) -> usize {
        self.segment.len() - self.next
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(record) = self.segment.get(self.next) else {
            // What is used up is not held on to.
            self.segment = Segment::default();
            self.next = 0;
            return Ok(None);
        };
        self.next += 1;
        let metadata = match record.metadata {
            None => py.None().into_bound(py),
            Some(bytes) => match &self.metadata {
                Some(last) if last.as_bytes(py) == bytes => last.bind(py).clone().into_any(),
                _ => {
                    let metadata = PyBytes::new(py, bytes);
                    self.metadata = Some(metadata.clone().unbind());
                    metadata.into_any()
                }
            },
        };
        let update = PyBytes::new(py, record.update).into_any();
        let timestamp = PyFloat::new(py, record.timestamp).into_any();
        PyTuple::new(py, [update, metadata, timestamp]).map(Some)
    }
}

/// What a segment holds; see `ypress.segment_info` in the stub.
#[pyclass(frozen, get_all, eq, module = "ypress")]
#[derive(PartialEq)]
pub struct SegmentInfo {
    version: u8,
    updates: usize,
    raw_bytes: usize,
    first_timestamp: f64,
    last_timestamp: f64,
    stored_size: usize,
    header_size: usize,
    structure_size: usize,
    text_size: usize,
    timestamps_size: usize,
    literals_size: usize,
    literals_raw_size: usize,
}

impl From<Info> for SegmentInfo {
    fn from(info: Info) -> Self {
        Self {
            version: info.version,
            updates: info.updates,
            raw_bytes: info.raw_bytes,
            first_timestamp: info.first_timestamp,
            last_timestamp: info.last_timestamp,
            stored_size: info.stored_size,
            header_size: info.header_size,
            structure_size: info.structure_size,
            text_size: info.text_size,
            timestamps_size: info.timestamps_size,
            literals_size: info.literals_size,
            literals_raw_size: info.literals_raw_size,
        }
    }
}

#[pymethods]
impl SegmentInfo {
    fn __repr__(&self) -> String {
        let Self { version, updates, raw_bytes, stored_size, .. } = self;
        format!(
            "SegmentInfo(version={version}, updates={updates}, raw_bytes={raw_bytes}, stored_size={stored_size})"
        )
    }
}

/// Look at a blob; see `ypress.segment_info` in the stub.
#[pyfunction]
#[pyo3(signature = (blob, /))]
pub fn segment_info(blob: &Bound<'_, PyAny>) -> PyResult<SegmentInfo> {
    let blob = as_bytes(blob)?;
    Ok(segment::info(blob.as_bytes())?.into())
}
