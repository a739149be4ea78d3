//! What histories of Yjs updates hold and lack: `Clocks`, `clock_ranges`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::buffer::as_bytes;
use crate::error::Error;
use crate::limits::DETACH_FROM;
use crate::yjs::{self, Update, pairs};

type Pairs = Vec<(u64, Vec<(u64, u64)>)>;

fn parse(py: Python<'_>, update: &[u8]) -> Result<Update, Error> {
    if update.len() < DETACH_FROM { Update::parse(update) } else { py.detach(|| Update::parse(update)) }
}

/// The clocks of one update; see `clock_ranges` in the stub.
#[pyfunction]
#[pyo3(signature = (update, /))]
pub fn clock_ranges(update: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let update = as_bytes(update)?;
    let mut clocks = yjs::Clocks::default();
    clocks.add(&parse(update.py(), update.as_bytes())?);
    Ok(pairs(clocks.present()))
}

/// What a history holds and lacks; see `Clocks` in the stub.
#[pyclass(frozen, module = "ypress._native")]
#[derive(Default)]
pub struct Clocks(Mutex<yjs::Clocks>);

impl Clocks {
    /// Nothing in the core panics half-way, and nothing waits for the interpreter while it holds this.
    fn lock(&self) -> MutexGuard<'_, yjs::Clocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Clocks {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (update, /))]
    fn add(&self, update: &Bound<'_, PyAny>) -> PyResult<bool> {
        let update = as_bytes(update)?;
        let update = parse(update.py(), update.as_bytes())?;
        Ok(self.lock().add(&update))
    }

    #[pyo3(signature = (update, /))]
    fn missing<'py>(&self, update: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let update = as_bytes(update)?;
        let missing = self.lock().missing(update.as_bytes())?;
        Ok(missing.map(|missing| PyBytes::new(update.py(), &missing)))
    }

    fn state_vector<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().state_vector())
    }

    fn ranges(&self) -> Pairs {
        pairs(self.lock().present())
    }

    fn gaps(&self) -> Pairs {
        pairs(&self.lock().gaps())
    }

    fn awaited(&self) -> Pairs {
        pairs(&self.lock().awaited())
    }

    fn closing<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.lock().closing().map(|closing| PyBytes::new(py, &closing))
    }
}
