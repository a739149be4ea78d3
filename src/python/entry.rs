//! `decompress` by the interpreter's own calling convention.
//!
//! Most values that are read are raw and come back as they are. What PyO3 does around a call would take longer than that.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::row;

const NAME: &CStr = c"decompress";
const SIGNATURE_AND_DOC: &CStr =
    c"decompress(data, /, *, max_size=...)\n--\n\nDecompress one value; see the stub.";

/// A definition that the interpreter reads, and that nobody changes.
struct Definition(ffi::PyMethodDef);
// SAFETY: it holds pointers to static text and a function, and is never written.
unsafe impl Sync for Definition {}

static DECOMPRESS: Definition = Definition(ffi::PyMethodDef {
    ml_name: NAME.as_ptr(),
    ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: decompress },
    ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
    ml_doc: SIGNATURE_AND_DOC.as_ptr(),
});

/// Put `decompress` into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let name = module.name()?;
    // SAFETY: the definition is static. The interpreter does not write to it, though it takes it as mutable. What comes
    // back is a new reference, or null with an exception set.
    let function = unsafe {
        let definition = (&raw const DECOMPRESS.0).cast_mut();
        let function = ffi::PyCFunction_NewEx(definition, null_mut(), name.as_ptr());
        Bound::from_owned_ptr_or_err(module.py(), function)?
    };
    module.add("decompress", function)
}

/// Called by the interpreter, attached: `count` positional arguments, then one for each of the tuple `names`, if any.
unsafe extern "C" fn decompress(
    _: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    if count == 1 && names.is_null() {
        // SAFETY: there is one argument, which lives as long as the call. Its bytes do not change.
        unsafe {
            let data = *arguments;
            if ffi::PyBytes_CheckExact(data) != 0 {
                let start = ffi::PyBytes_AsString(data).cast::<u8>();
                let length = ffi::PyBytes_Size(data).cast_unsigned();
                if row::is_raw(std::slice::from_raw_parts(start, length)) {
                    ffi::Py_INCREF(data);
                    return data;
                }
            }
        }
    }
    let result = catch_unwind(AssertUnwindSafe(|| {
        Python::attach(|py| {
            // SAFETY: as the interpreter's convention has it, these many objects live as long as the call, and `names` is
            // null or a tuple.
            let (arguments, names) = unsafe {
                let named = if names.is_null() { 0 } else { ffi::PyTuple_Size(names) };
                let all = std::slice::from_raw_parts(arguments, (count + named).cast_unsigned());
                let all =
                    all.iter().map(|&argument| Bound::from_borrowed_ptr(py, argument)).collect::<Vec<_>>();
                let names = Bound::from_borrowed_ptr_or_opt(py, names);
                (all, names.map(|names| names.cast_into_unchecked::<PyTuple>()))
            };
            let (positional, named) = arguments.split_at(count.cast_unsigned());
            match call(positional, named, names.as_ref()) {
                Ok(content) => content.into_ptr(),
                Err(error) => {
                    error.restore(py);
                    null_mut()
                }
            }
        })
    }));
    result.unwrap_or_else(|_| {
        Python::attach(|py| {
            PyRuntimeError::new_err("decompress panicked; this is a bug in ypress").restore(py)
        });
        null_mut()
    })
}

fn call<'py>(
    positional: &[Bound<'py, PyAny>],
    named: &[Bound<'py, PyAny>],
    names: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let [data] = positional else {
        let count = positional.len();
        return Err(PyTypeError::new_err(format!(
            "decompress() takes exactly 1 positional argument ({count} given)"
        )));
    };
    let mut max_size = row::MaxSize::default();
    for (name, value) in names.into_iter().flatten().zip(named) {
        if name.extract::<&str>()? != "max_size" {
            return Err(PyTypeError::new_err(format!(
                "decompress() got an unexpected keyword argument '{name}'"
            )));
        }
        max_size = value.extract()?;
    }
    row::decompress(data, max_size)
}
