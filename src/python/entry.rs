//! `decompress` by the interpreter's own calling convention.
//!
//! Most values that are read are raw and come back as they are. What PyO3 does around a call would take longer than
//! that, so these are answered here, and everything else is handed to the function that PyO3 has made.

use std::ffi::CStr;
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;

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
    ml_flags: FLAGS,
    ml_doc: SIGNATURE_AND_DOC.as_ptr(),
});

const FLAGS: i32 = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;

/// PyO3's entry into `row::decompress`, of the same calling convention.
static COMPLETE: OnceLock<ffi::PyCFunctionFastWithKeywords> = OnceLock::new();

/// Put `decompress` into the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let complete = wrap_pyfunction!(row::decompress, module)?;
    // SAFETY: it is a function of the interpreter's kind, whose flags say what its pointer takes.
    let entry = unsafe {
        match ffi::PyCFunction_GetFunction(complete.as_ptr()) {
            Some(entry) if ffi::PyCFunction_GetFlags(complete.as_ptr()) == FLAGS => {
                transmute::<ffi::PyCFunction, ffi::PyCFunctionFastWithKeywords>(entry)
            }
            _ => return Err(PySystemError::new_err("PyO3 has another calling convention")),
        }
    };
    COMPLETE.get_or_init(|| entry);
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
///
/// It must not attach itself: at the interpreter's end that fails, and in a sub-interpreter it never returns.
unsafe extern "C" fn decompress(
    module: *mut ffi::PyObject,
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
    // SAFETY: the arguments are those of this call, passed on as they came; `add` has set the entry before the
    // interpreter could know this function, and without it an exception is set.
    unsafe {
        let Some(complete) = COMPLETE.get() else {
            ffi::PyErr_SetString(ffi::PyExc_SystemError, c"decompress is not ready".as_ptr());
            return null_mut();
        };
        complete(module, arguments, count, names)
    }
}
