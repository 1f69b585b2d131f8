//! Power policies written in Python.
//!
//! A class named `module:Class` with `timeout_ms(costs)` and, optionally, `learn(length_ms, timeout_ms, costs)` and
//! `patience_ms(waiting)`. The interpreter lock is taken for every call.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sledlab_core::{Error, Span};
use sledlab_models::power::{self, Choice, PowerPolicy};
use toml::Table;

use crate::class::{Allowlist, Class, ClassKind};

/// Costs that a power policy compares: power of an idle and of a parked device, energy of a start-up.
#[pyclass(frozen, module = "sledlab._native")]
#[derive(Clone, Copy)]
pub(crate) struct PowerCosts(power::PowerCosts);

#[pymethods]
impl PowerCosts {
    #[getter]
    fn idle_mw(&self) -> f64 {
        self.0.idle_mw
    }

    #[getter]
    fn inactive_mw(&self) -> f64 {
        self.0.inactive_mw
    }

    #[getter]
    fn startup_uj(&self) -> f64 {
        self.0.startup_uj
    }

    /// Break-even time in ms; infinite if parking never saves energy.
    #[getter]
    fn break_even_ms(&self) -> f64 {
        to_ms(self.0.break_even())
    }

    fn __repr__(&self) -> String {
        let power::PowerCosts { idle_mw, inactive_mw, startup_uj } = self.0;
        format!("PowerCosts(idle_mw={idle_mw}, inactive_mw={inactive_mw}, startup_uj={startup_uj})")
    }
}

pub(crate) const KIND: ClassKind =
    ClassKind { name: "power policy", protocol: "sledlab.PowerPolicy", methods: &["timeout_ms"] };

/// The policy `module:Class`, if it is `allowed`; `params` are arguments of its constructor.
pub(crate) fn choice(
    py: Python<'_>,
    plugin_name: &str,
    params: Table,
    allowed: &Allowlist,
) -> PyResult<Choice> {
    let class = Class::find(py, KIND, plugin_name, allowed)?;
    let arguments = params.clone();
    Ok(Choice::custom(plugin_name, params, move || {
        let policy = class.make(&arguments)?;
        let has_method = |method| Python::attach(|py| policy.bind(py).hasattr(method).unwrap_or(false));
        let (has_learn, has_patience) = (has_method("learn"), has_method("patience_ms"));
        Ok(Box::new(PythonPolicy { class: class.clone(), policy, has_learn, has_patience, failure: None }))
    }))
}

/// Returns a placeholder for `module:Class` with `params`, for operations that run no plug-in code.
pub(crate) fn placeholder(plugin_name: &str, params: Table) -> Result<Choice, Error> {
    let never = Choice::new("never", &Table::new(), 0.0)?;
    Ok(Choice::custom(plugin_name, params, move || never.make()))
}

fn to_ms(span: Span) -> f64 {
    if span == Span::MAX { f64::INFINITY } else { span.as_ms() }
}

struct PythonPolicy {
    class: Class,
    policy: Py<PyAny>,
    /// Whether the policy has the methods `learn` (`has_learn`) and `patience_ms` (`has_patience`).
    has_learn: bool,
    has_patience: bool,
    failure: Option<Error>,
}

impl PythonPolicy {
    /// The result of a method, or `default` once the policy has failed.
    fn call<T>(&mut self, default: T, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.failure.is_some() {
            return default;
        }
        match self.class.call(|py| call(self.policy.bind(py))) {
            Ok(value) => value,
            Err(error) => {
                self.failure = Some(error);
                default
            }
        }
    }
}

/// A number of milliseconds that a method returned, as a span; infinity means never.
fn parse_span(method: &str, return_value: &Bound<'_, PyAny>) -> PyResult<Span> {
    let ms: f64 = return_value.extract()?;
    if ms == f64::INFINITY {
        return Ok(Span::MAX);
    }
    if !(0.0..=1e12).contains(&ms) {
        return Err(PyValueError::new_err(format!("{method} must return 0 or more, not {ms}")));
    }
    Ok(Span::from_ms(ms))
}

impl PowerPolicy for PythonPolicy {
    fn timeout(&mut self, costs: &power::PowerCosts) -> Span {
        let costs = PowerCosts(*costs);
        self.call(Span::ZERO, |policy| {
            parse_span("timeout_ms", &policy.call_method1("timeout_ms", (costs,))?)
        })
    }

    fn timeout_in_hindsight(&mut self, _length: Span, _is_last: bool, costs: &power::PowerCosts) -> Span {
        self.timeout(costs)
    }

    fn learn(&mut self, length: Span, timeout: Span, costs: &power::PowerCosts) {
        if self.has_learn {
            let arguments = (to_ms(length), to_ms(timeout), PowerCosts(*costs));
            self.call((), |policy| policy.call_method1("learn", arguments).map(|_| ()));
        }
    }

    fn patience(&mut self, waiting: usize) -> Span {
        if !self.has_patience {
            return Span::ZERO;
        }
        self.call(Span::ZERO, |policy| {
            let patience = parse_span("patience_ms", &policy.call_method1("patience_ms", (waiting,))?)?;
            if patience == Span::MAX {
                return Err(PyValueError::new_err("patience_ms must be finite, or requests wait for ever"));
            }
            Ok(patience)
        })
    }

    fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}
