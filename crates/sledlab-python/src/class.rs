//! Plug-ins: Python classes of the user that implement a model, written `module:Class`.
//!
//! Importing a module runs its code, and an experiment file may come from an untrusted source. So a plug-in is imported
//! only after the user has allowed it.

use std::cell::Cell;
use std::sync::Arc;

use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use sledlab_core::{Error, registry};
use toml::{Table, Value};

use crate::error::{build_exception, is_interrupt, raise, store_exception};

/// A kind of model that a class can implement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassKind {
    /// Name of the kind in messages.
    pub name: &'static str,
    /// The protocol class that documents the methods.
    pub protocol: &'static str,
    /// The methods that a class must have.
    pub methods: &'static [&'static str],
}

/// A class of the user.
#[derive(Clone)]
pub(crate) struct Class {
    kind: ClassKind,
    plugin_name: Arc<str>,
    python_type: Arc<Py<PyType>>,
}

/// The plug-ins that the user allows to run; `*` stands for all.
#[derive(Clone, Default)]
pub(crate) struct Allowlist(Arc<[String]>);

/// The maximum nesting of plug-ins: a plug-in may run simulations with plug-ins that run simulations, without end.
const MAX_NESTING: u32 = 4;

thread_local! {
    /// The number of nested plug-in calls on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Whether `name` names a plug-in, `module:Class`, rather than a model of sledlab with parameters.
#[pyfunction]
pub(crate) fn is_plugin(name: &str) -> bool {
    registry::is_plug_in(name)
}

impl Allowlist {
    /// Allows the plug-ins `names`, or none.
    pub fn new(names: Option<Vec<String>>) -> Self {
        Allowlist(names.unwrap_or_default().into())
    }

    /// Returns the allowed plug-ins.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Rejects a path to a file in place of a module name, and a plug-in that the user has not allowed.
    fn check(&self, plugin_name: &str) -> Result<(), Error> {
        let (module, class) = plugin_name.split_once(':').unwrap_or((plugin_name, ""));
        let file = module.rsplit(['/', '\\']).next().unwrap_or(module);
        let name = file.strip_suffix(".py").unwrap_or(file);
        if name != module {
            return Err(Error::user(format!(
                "`{plugin_name}` is a path to a file; plug-ins are given as module:Class"
            ))
            .with_remedy(format!("run sledlab in the directory of {file} with `{name}:{class}`")));
        }
        // A plug-in may be allowed together with parameters.
        let has_plugin_name = |allowed: &String| {
            allowed
                .strip_prefix(plugin_name)
                .is_some_and(|suffix| suffix.is_empty() || suffix.starts_with(':'))
        };
        if self.0.iter().any(|allowed| allowed == "*" || has_plugin_name(allowed)) {
            return Ok(());
        }
        Err(Error::user(format!(
            "the experiment refers to the plug-in `{plugin_name}`, which is not allowed to run"
        ))
        .with_remedy("if you trust it, pass --allow-plugins (in Python: allow_plugins=True)"))
    }
}

impl Class {
    /// Imports the class `module:Class` if it is `allowed`, and checks that it has the methods of its kind without
    /// calling them.
    pub fn find(py: Python<'_>, kind: ClassKind, plugin_name: &str, allowed: &Allowlist) -> PyResult<Self> {
        allowed.check(plugin_name).map_err(raise)?;
        let object =
            import(py, plugin_name).map_err(|exception| wrap_exception(py, kind, plugin_name, &exception))?;
        let class = kind.check(plugin_name, &object).map_err(raise)?;
        Ok(Class { kind, plugin_name: plugin_name.into(), python_type: Arc::new(class.clone().unbind()) })
    }

    /// Constructs an object of the class; `params` are the arguments of its constructor.
    pub fn make(&self, params: &Table) -> Result<Py<PyAny>, Error> {
        self.call(|py| {
            let arguments = PyDict::new(py);
            for (key, value) in params {
                arguments.set_item(key, self.to_python(py, value)?)?;
            }
            Ok(self.python_type.bind(py).call((), Some(&arguments))?.unbind())
        })
    }

    /// Calls code of the plug-in. Returns its result, or the error that ends a run in which the plug-in raised an
    /// exception: every call of a plug-in uses this function.
    pub fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Error> {
        Python::attach(|py| {
            let depth = DEPTH.get();
            let result = if depth < MAX_NESTING {
                DEPTH.set(depth + 1);
                let result = work(py);
                DEPTH.set(depth);
                result
            } else {
                Err(PyRecursionError::new_err(format!(
                    "plug-ins are nested {MAX_NESTING} levels deep: one of them runs a simulation with itself"
                )))
            };
            result.map_err(|exception| store_plugin_exception(py, self.kind, &self.plugin_name, &exception))
        })
    }

    /// The class as the user named it, `module:Class`.
    pub fn plugin_name(&self) -> &str {
        &self.plugin_name
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

impl ClassKind {
    /// Rejects an object that is not a class, such as a function, and a class without the methods; neither is called.
    fn check<'a, 'py>(
        self,
        plugin_name: &str,
        object: &'a Bound<'py, PyAny>,
    ) -> Result<&'a Bound<'py, PyType>, Error> {
        let ClassKind { name, protocol, methods } = self;
        let rejection = |why: String| {
            Error::user(format!("{name} `{plugin_name}` {why}"))
                .with_remedy(format!("a {name} has {}: see {protocol}", join_words(methods)))
        };
        let class = object.cast::<PyType>().map_err(|_| rejection("is not a class".to_owned()))?;
        let missing: Vec<&str> =
            methods.iter().filter(|method| !has_method(class, method)).copied().collect();
        if missing.is_empty() { Ok(class) } else { Err(rejection(format!("lacks {}", join_words(&missing)))) }
    }
}

/// Returns the `kinds` whose methods the class `plugin_name` has, if the class is `allowed`, without calling them.
pub(crate) fn matching_kinds(
    py: Python<'_>,
    kinds: &[ClassKind],
    plugin_name: &str,
    allowed: &Allowlist,
) -> PyResult<Vec<ClassKind>> {
    allowed.check(plugin_name).map_err(raise)?;
    let plug_in = ClassKind { name: "plug-in", protocol: "sledlab.check", methods: &[] };
    let object =
        import(py, plugin_name).map_err(|exception| wrap_exception(py, plug_in, plugin_name, &exception))?;
    plug_in.check(plugin_name, &object).map_err(raise)?;
    Ok(kinds.iter().filter(|kind| kind.check(plugin_name, &object).is_ok()).copied().collect())
}

/// Like [`store_exception`], for an exception that the class `plugin_name` raised. The error includes the traceback,
/// because it may leave a thread on which the exception itself is never retrieved.
fn store_plugin_exception(py: Python<'_>, kind: ClassKind, plugin_name: &str, exception: &PyErr) -> Error {
    let error = store_exception(wrap_exception(py, kind, plugin_name, exception));
    if error.is_interrupt() { error } else { plugin_error(py, kind, plugin_name, exception) }
}

/// Returns the error for an exception raised by the class `plugin_name`, with its traceback and with the exception as
/// cause.
///
/// Two exceptions are returned unchanged: an interrupt by the user, which can occur anywhere in Python code, and the
/// error for too deeply nested plug-ins, which each outer plug-in would otherwise report again.
fn wrap_exception(py: Python<'_>, kind: ClassKind, plugin_name: &str, exception: &PyErr) -> PyErr {
    let too_deep = || exception.cause(py).is_some_and(|cause| cause.is_instance_of::<PyRecursionError>(py));
    if is_interrupt(exception) || too_deep() {
        return exception.clone_ref(py);
    }
    let error = plugin_error(py, kind, plugin_name, exception);
    let error = build_exception(py, &error).unwrap_or_else(|exception| exception);
    error.set_cause(py, Some(exception.clone_ref(py)));
    error
}

fn plugin_error(py: Python<'_>, kind: ClassKind, plugin_name: &str, exception: &PyErr) -> Error {
    let parts = (exception.get_type(py), exception.value(py), exception.traceback(py));
    let lines = py
        .import("traceback")
        .and_then(|module| module.call_method1("format_exception", parts))
        .and_then(|lines| lines.extract::<Vec<String>>());
    let traceback = lines.map_or_else(|_| exception.to_string(), |lines| lines.concat());
    let ClassKind { name, protocol, .. } = kind;
    Error::user(format!("{name} `{plugin_name}` failed\n{}", traceback.trim_end()))
        .with_remedy(format!("fix the class; `{protocol}` describes the required methods"))
}

/// Returns whether objects of `class` have a method. An attribute of the class may belong to its metaclass.
fn has_method(class: &Bound<'_, PyType>, method: &str) -> bool {
    let defines = |base_class: Bound<'_, PyAny>| {
        base_class.getattr("__dict__").and_then(|attributes| attributes.contains(method))
    };
    class.mro().iter().any(|base_class| defines(base_class).unwrap_or(false))
        && class.getattr(method).is_ok_and(|attribute| attribute.is_callable())
}

/// Joins words as `a, b and c`.
fn join_words(words: &[&str]) -> String {
    match words {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => words.concat(),
    }
}

/// Imports the object `module:Class`.
///
/// The working directory is searched last and during this import only, so no file in it replaces an installed module.
/// The search order of `python -m` and `python -c`, which search the working directory first, is not changed.
fn import<'py>(py: Python<'py>, plugin_name: &str) -> PyResult<Bound<'py, PyAny>> {
    let (module, class) = plugin_name.split_once(':').unwrap_or((plugin_name, ""));
    let path = py.import("sys")?.getattr("path")?;
    // There may be no working directory: it can be deleted while a process is in it.
    let working_directory = py.import("os")?.call_method0("getcwd").ok();
    let working_directory = match working_directory {
        Some(working_directory) if !path.contains(&working_directory)? && !path.contains("")? => {
            Some(working_directory)
        }
        _ => None,
    };
    if let Some(working_directory) = &working_directory {
        path.call_method1("append", (working_directory,))?;
    }
    // A module that has just been written is missing from Python's cache of its directory.
    let module = py
        .import("importlib")
        .and_then(|importlib| importlib.call_method0("invalidate_caches"))
        .and_then(|_| py.import(module));
    if let Some(working_directory) = &working_directory {
        // The module may have removed the directory itself.
        let _ = path.call_method1("remove", (working_directory,));
    }
    module?.getattr(class)
}
