//! Classes of the user that take the place of a model: named `module:Class`, found as `import` does.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sledlab_core::Error;
use toml::{Table, Value};

use crate::error::{keep, wrap};

/// What a class takes the place of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// In messages.
    pub name: &'static str,
    /// The class that says what its methods must do.
    pub protocol: &'static str,
}

/// A class of the user.
#[derive(Clone)]
pub(crate) struct Class {
    kind: Kind,
    word: Arc<str>,
    of: Arc<Py<PyAny>>,
}

/// Whether `word` names a class in Python rather than a model of sledlab with parameters.
pub(crate) fn is_python(word: &str) -> bool {
    word.split_once(':').is_some_and(|(_, rest)| !rest.contains('='))
}

impl Class {
    /// The class `module:Class`.
    pub fn find(py: Python<'_>, kind: Kind, word: &str) -> PyResult<Self> {
        let class = import(py, word).map_err(|raised| wrap(py, kind, word, &raised))?;
        Ok(Class { kind, word: word.into(), of: Arc::new(class) })
    }

    /// An object of it; `params` are arguments of its constructor.
    pub fn make(&self, params: &Table) -> Result<Py<PyAny>, Error> {
        let made = Python::attach(|py| {
            let arguments = PyDict::new(py);
            for (key, value) in params {
                arguments.set_item(key, self.to_python(py, value)?)?;
            }
            Ok(self.of.bind(py).call((), Some(&arguments))?.unbind())
        });
        made.map_err(|raised| self.fail(&raised))
    }

    /// The error that ends a run in which a method raised an exception.
    pub fn fail(&self, raised: &PyErr) -> Error {
        Python::attach(|py| keep(wrap(py, self.kind, &self.word, raised)))
    }

    fn to_python<'py>(&self, py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        Ok(match value {
            Value::Integer(n) => n.into_pyobject(py)?.into_any(),
            Value::Float(x) => x.into_pyobject(py)?.into_any(),
            Value::Boolean(b) => b.into_pyobject(py)?.to_owned().into_any(),
            Value::String(text) => text.into_pyobject(py)?.into_any(),
            other => {
                let kind = self.kind.name;
                return Err(PyTypeError::new_err(format!("a {kind} cannot be given `{other}`")));
            }
        })
    }
}

fn import(py: Python<'_>, word: &str) -> PyResult<Py<PyAny>> {
    let (module, class) = word.split_once(':').unwrap_or((word, ""));
    // A module beside the user's work, as `python` itself would find it.
    let path = py.import("sys")?.getattr("path")?;
    if !path.contains("")? {
        path.call_method1("insert", (0, ""))?;
    }
    Ok(py.import(module)?.getattr(class)?.unbind())
}
