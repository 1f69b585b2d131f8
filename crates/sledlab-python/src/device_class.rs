//! Devices written in Python.
//!
//! A class named `module:Class` with `serve(state, lbn, blocks, is_write)`, which returns the service time of the
//! request from that state, and the state afterwards. It must depend on its arguments alone. The state is a number that
//! the simulator keeps, so a query of the service time has no side effects. The interpreter lock is taken for every
//! call.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sledlab_core::{Error, Op, Span};
use sledlab_models::device::host::HostParams;
use sledlab_models::device::{
    Bus, CustomDevice, Description, Device, DeviceState, QueuedRequest, SeekMap, ServedRequest,
    SimpleAdapter, SimpleDevice, Timing, Units,
};
use sledlab_models::power::PowerRates;
use toml::Table;

use crate::class::{Allowlist, Class, ClassKind};

pub(crate) const KIND: ClassKind =
    ClassKind { name: "device", protocol: "sledlab.Device", methods: &["serve"] };

/// Idle time in ms after which a device written in Python parks: longer than any idle period of a run.
const NO_TIMEOUT_MS: f64 = 1e9;

/// The kind of device `module:Class`, if it is `allowed`.
pub(crate) fn kind(py: Python<'_>, plugin_name: &str, allowed: &Allowlist) -> PyResult<CustomDevice> {
    let class = Class::find(py, KIND, plugin_name, allowed)?;
    Ok(CustomDevice::new(plugin_name, move |params| {
        let (plugin_name, params) = (class.plugin_name().to_owned(), params.clone());
        Box::new(DeviceDescription { plugin_name, params, class: Some(class.clone()) })
    }))
}

/// Returns a placeholder for `module:Class`, for operations that run no plug-in code.
pub(crate) fn placeholder(plugin_name: &str) -> CustomDevice {
    let name = plugin_name.to_owned();
    let make = move |params: &Table| -> Box<dyn Description> {
        Box::new(DeviceDescription { plugin_name: name.clone(), params: params.clone(), class: None })
    };
    CustomDevice::new(plugin_name, make)
}

/// The description of such a device in a device file: its parameters are arguments of the constructor.
#[derive(Clone)]
struct DeviceDescription {
    plugin_name: String,
    params: Table,
    class: Option<Class>,
}

impl std::fmt::Debug for DeviceDescription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.plugin_name, self.params)
    }
}

impl Description for DeviceDescription {
    fn kind(&self) -> &str {
        &self.plugin_name
    }

    fn to_table(&self) -> Table {
        self.params.clone()
    }

    fn device(&self) -> Result<Box<dyn Device>, Error> {
        let class = self.class.as_ref().ok_or_else(|| {
            Error::internal(format!("`{}` is a placeholder and cannot run", self.plugin_name))
        })?;
        let object = class.make(&self.params)?;
        let device = class.call(|py| PythonDevice::new(class.clone(), object.bind(py)))?;
        Ok(Box::new(SimpleAdapter::new(device)))
    }

    fn device_on_bus(&self, _bus: &Bus) -> Result<Option<Box<dyn Device>>, Error> {
        Ok(None)
    }

    fn idle_timeout_ms(&self) -> f64 {
        NO_TIMEOUT_MS
    }

    fn units(&self) -> Result<Option<Units>, Error> {
        Ok(None)
    }

    fn remembers_writes(&self) -> bool {
        true
    }

    fn seek_map(
        &self,
        _from: DeviceState,
        _watch: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Option<SeekMap>, Error> {
        Ok(None)
    }

    fn attach(&mut self, _host: &HostParams) -> bool {
        false
    }

    fn clone_box(&self) -> Box<dyn Description> {
        Box::new(self.clone())
    }
}

/// An object of the class.
#[derive(Clone)]
struct PythonDevice {
    class: Class,
    device: Arc<Py<PyAny>>,
    capacity_blocks: u64,
    rates: PowerRates,
    idle_mw: f64,
    /// Whether the object has a method `served`, which is called after each request.
    has_served: bool,
    /// Error of the device; shared by all its copies, since schedulers call copies.
    failure: Arc<Mutex<Failure>>,
}

/// The failure of a device: once it has failed, none of its methods is called again.
#[derive(Default)]
struct Failure {
    has_failed: bool,
    error: Option<Error>,
}

impl PythonDevice {
    fn new(class: Class, device: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capacity_blocks = device.getattr("capacity_blocks")?.extract()?;
        if !(1..1 << 53).contains(&capacity_blocks) {
            let message = format!("capacity_blocks must be from 1 to 2**53, not {capacity_blocks}");
            return Err(PyValueError::new_err(message));
        }
        let attribute = |name: &str, default: Option<f64>| -> PyResult<f64> {
            let value = match default {
                Some(default) if !device.hasattr(name)? => default,
                _ => device.getattr(name)?.extract()?,
            };
            if (0.0..=1e9).contains(&value) {
                return Ok(value);
            }
            Err(PyValueError::new_err(format!("{name} must be from 0 to 1e9, not {value}")))
        };
        let (active_mw, idle_mw) = (attribute("active_mw", None)?, attribute("idle_mw", None)?);
        let rates = PowerRates {
            active_mw,
            startup_mw: attribute("startup_mw", Some(active_mw))?,
            inactive_mw: attribute("inactive_mw", Some(idle_mw))?,
            startup: Span::from_ms(attribute("startup_ms", Some(0.0))?),
            ..PowerRates::default()
        };
        let has_served = device.hasattr("served")?;
        let device = Arc::new(device.clone().unbind());
        let failure = Arc::default();
        Ok(PythonDevice { class, device, capacity_blocks, rates, idle_mw, has_served, failure })
    }

    /// The result of `call`. Once the device has failed: `default`, until the run has noticed the failure.
    fn call<T>(&self, default: T, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        let failure = || self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure().has_failed {
            return default;
        }
        // Called without the lock: `call` may simulate with another copy of the device.
        match self.class.call(|py| call(self.device.bind(py))) {
            Ok(value) => value,
            Err(error) => {
                *failure() = Failure { has_failed: true, error: Some(error) };
                default
            }
        }
    }
}

/// The time that `serve` returned, as milliseconds or as a dict of its parts, and the state.
fn parse_timing(state: i64, return_value: &Bound<'_, PyAny>) -> PyResult<(Timing, i64)> {
    let (mut timing, mut next_state) = (Timing::default(), state);
    if let Ok(parts) = return_value.cast::<PyDict>() {
        for (key, value) in parts {
            match key.extract::<&str>()? {
                "positioning_ms" => timing.seek_x = to_span(&value)?,
                "transfer_ms" => timing.transfer = to_span(&value)?,
                "state" => next_state = value.extract()?,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "serve must return positioning_ms, transfer_ms and state, not {other}"
                    )));
                }
            }
        }
    } else {
        timing.transfer = to_span(return_value)?;
    }
    if timing.service() == Span::ZERO {
        return Err(PyValueError::new_err("serve must take some time, a nanosecond at least"));
    }
    Ok((timing, next_state))
}

fn to_span(value: &Bound<'_, PyAny>) -> PyResult<Span> {
    let type_error = |description: &str| {
        PyTypeError::new_err(format!("serve must return milliseconds, or a dict of them, not {description}"))
    };
    let Ok(ms) = value.extract::<f64>() else { return Err(type_error(&value.repr()?.to_string())) };
    if (0.0..=1e9).contains(&ms) { Ok(Span::from_ms(ms)) } else { Err(type_error(&ms.to_string())) }
}

/// The state as schedulers see it, with its lower half as x: they can only compare states for equality.
fn device_state(state: i64) -> DeviceState {
    DeviceState { x: state as i32, y: (state >> 32) as i32, ..DeviceState::ORIGIN }
}

fn python_state(state: DeviceState) -> i64 {
    i64::from(state.y) << 32 | i64::from(state.x.cast_unsigned())
}

impl SimpleDevice for PythonDevice {
    fn capacity_blocks(&self) -> u64 {
        self.capacity_blocks
    }

    fn serve(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        let state = python_state(state);
        let default = Timing { transfer: Span::from_ms(1.0), ..Timing::default() };
        let (timing, next_state) = self.call((default, state), |device| {
            let arguments = (state, request.lbn, request.blocks, request.op == Op::Write);
            parse_timing(state, &device.call_method1("serve", arguments)?)
        });
        (timing, device_state(next_state))
    }

    fn power_rates(&self) -> PowerRates {
        self.rates
    }

    fn idle_mw(&self) -> f64 {
        self.idle_mw
    }

    fn on_completion(&mut self, served: &ServedRequest) {
        if self.has_served {
            let ServedRequest { request, start, .. } = served;
            let arguments = (start.as_ns(), request.lbn, request.blocks, request.op == Op::Write);
            self.call((), |device| device.call_method1("served", arguments).map(|_| ()));
        }
    }

    fn failure(&mut self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).error.take()
    }
}
