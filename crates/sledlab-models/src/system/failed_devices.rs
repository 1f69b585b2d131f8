//! Parameters of device failures in an experiment: which devices fail, and when.

use sledlab_core::Time;
use sledlab_core::params::{ParamKind, ParamValue};
use toml::Value;

/// The numbers of devices that fail, in that order: none, a number, or a list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedDevices(pub Vec<usize>);

impl ParamValue for FailedDevices {
    const KIND: ParamKind = ParamKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let message =
            || format!("expected none, the number of a device or a list of numbers, found `{value}`");
        let number = |value: &Value| {
            let number = value.as_integer().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(message)
        };
        let numbers = match value {
            Value::String(word) if word == "none" => Vec::new(),
            Value::Array(list) => list.iter().map(number).collect::<Result<_, _>>()?,
            other => vec![number(other)?],
        };
        match numbers.iter().enumerate().find(|(place, number)| numbers[..*place].contains(number)) {
            Some((_, repeated)) => Err(format!("device {repeated} cannot fail twice")),
            None => Ok(FailedDevices(numbers)),
        }
    }

    fn to_value(&self) -> Value {
        match self.0[..] {
            [] => Value::from("none"),
            [one] => Value::from(one as i64),
            _ => Value::Array(self.0.iter().map(|number| Value::from(*number as i64)).collect()),
        }
    }
}

/// When devices fail, in seconds: a number for all of them, or a list with one for each.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureTimes(pub Vec<f64>);

/// Latest time of a failure, in seconds: about thirty years.
const LATEST_S: f64 = 1e9;

impl FailureTimes {
    /// Whether all failures are at the beginning of the run.
    pub fn is_start(&self) -> bool {
        self.0.iter().all(|seconds| *seconds == 0.0)
    }

    /// The time of failure number `place` in the list of failed devices, from 0.
    pub fn failure_time(&self, place: usize) -> Time {
        let seconds = self.0.get(place).or(self.0.first()).copied().unwrap_or(0.0);
        Time::from_ns((seconds * 1e9).round() as u64)
    }
}

impl Default for FailureTimes {
    fn default() -> Self {
        FailureTimes(vec![0.0])
    }
}

impl ParamValue for FailureTimes {
    const KIND: ParamKind = ParamKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let moment = |value: &Value| match f64::from_value(value) {
            Ok(seconds) if (0.0..=LATEST_S).contains(&seconds) => Ok(seconds),
            _ => Err(format!("expected seconds from 0 to {LATEST_S}, or a list of them, found `{value}`")),
        };
        match value {
            Value::Array(list) if !list.is_empty() => {
                Ok(FailureTimes(list.iter().map(moment).collect::<Result<_, _>>()?))
            }
            other => Ok(FailureTimes(vec![moment(other)?])),
        }
    }

    fn to_value(&self) -> Value {
        match self.0[..] {
            [one] => Value::from(one),
            _ => Value::Array(self.0.iter().map(|seconds| Value::from(*seconds)).collect()),
        }
    }
}
