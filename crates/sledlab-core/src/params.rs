//! Parameter declarations: name, type, default, unit, range and meaning of each parameter, in one place.
//!
//! [`params!`](crate::params!) turns a declaration into a struct that reads and
//! writes itself as TOML, refuses unknown keys and values out of range, and lists
//! its parameters as [`ParamSpec`]s, from which help texts, schemas and docs come.

use serde::Serialize;
use toml::{Table, Value};

use crate::error::{Error, Result};

/// The type of values that a parameter may hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamKind {
    /// A real number.
    Number,
    /// An integer, 0 or more.
    Count,
    /// True or false.
    Switch,
    /// One of a list of choices.
    Choice(&'static [&'static str]),
    /// Free text.
    Text,
}

/// The specification of a declared parameter.
#[derive(Clone, Debug, Serialize)]
pub struct ParamSpec {
    /// Key in configuration files.
    pub name: &'static str,
    /// One-line meaning.
    pub meaning: &'static str,
    /// Unit; empty when there is none.
    pub unit: &'static str,
    /// The type of values that the parameter may hold.
    pub kind: ParamKind,
    /// Smallest and largest allowed number.
    pub range: Option<(f64, f64)>,
    /// Default value.
    pub default: Value,
}

/// A type a parameter can have.
pub trait ParamValue: Sized {
    /// The type of values that the parameter may hold.
    const KIND: ParamKind;
    /// Parses the value from TOML.
    ///
    /// # Errors
    /// The expected type and the actual value.
    fn from_value(value: &Value) -> Result<Self, String>;
    /// Returns the value as TOML.
    fn to_value(&self) -> Value;
    /// Returns the value as a number, for range checks.
    fn as_number(&self) -> Option<f64> {
        None
    }
}

impl ParamValue for f64 {
    const KIND: ParamKind = ParamKind::Number;

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Float(x) if x.is_finite() => Ok(*x),
            Value::Integer(n) => Ok(*n as f64),
            other => Err(format!("expected a number, found {}", describe(other))),
        }
    }

    fn to_value(&self) -> Value {
        Value::Float(*self)
    }

    fn as_number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl ParamValue for u64 {
    const KIND: ParamKind = ParamKind::Count;

    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Integer(n) if *n >= 0 => Ok(n.cast_unsigned()),
            other => Err(format!("expected a whole number, 0 or more, found {}", describe(other))),
        }
    }

    fn to_value(&self) -> Value {
        Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
    }

    fn as_number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl ParamValue for bool {
    const KIND: ParamKind = ParamKind::Switch;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| format!("expected true or false, found {}", describe(value)))
    }

    fn to_value(&self) -> Value {
        Value::Boolean(*self)
    }
}

impl ParamValue for String {
    const KIND: ParamKind = ParamKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| format!("expected text, found {}", describe(value)))
    }

    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text `{text}`"),
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => format!("`{other}`"),
    }
}

/// A list of words declared by [`choices!`](crate::choices!).
pub trait Choices: Copy + 'static {
    /// Every choice.
    const ALL: &'static [Self];
    /// The names of the choices, in the same order.
    const WORDS: &'static [&'static str];
}

/// A set of parameters declared by [`params!`](crate::params!).
pub trait Params: Sized + Default {
    /// Every parameter, in the order of declaration.
    fn specs() -> Vec<ParamSpec>;
    /// Sets one parameter; `path` names the table in errors (`device`, `workload` ...).
    fn set(&mut self, path: &str, key: &str, value: &Value) -> Result<()>;
    /// Returns all parameters with their current values.
    fn to_table(&self) -> Table;

    /// Reads a table over the defaults; unknown keys and values out of range are errors.
    fn from_table(path: &str, table: &Table) -> Result<Self> {
        let mut params = Self::default();
        for (key, value) in table {
            params.set(path, key, value)?;
        }
        Ok(params)
    }
}

/// Declares one value, `words` being its name, meaning and unit; called by the code that [`params!`](crate::params!)
/// writes, as are [`write()`], [`unknown()`] and [`read()`]. None is inlined: there are hundreds of
/// parameters, and few types.
#[inline(never)]
pub fn spec<T: ParamValue>(text: [&'static str; 3], range: Option<(f64, f64)>, default: &T) -> ParamSpec {
    let [name, meaning, unit] = text;
    ParamSpec { name, meaning: meaning.trim(), unit, kind: T::KIND, range, default: default.to_value() }
}

/// Writes one value into a table.
#[inline(never)]
pub fn write<T: ParamValue>(table: &mut Table, key: &str, value: &T) {
    table.insert(key.to_owned(), value.to_value());
}

/// Returns the error for a key that is not among the `known` keys.
#[cold]
pub fn unknown(path: &str, key: &str, known: &[&str]) -> Error {
    let known: Vec<String> = known.iter().map(|known| format!("{path}.{known}")).collect();
    Error::unknown("key", &format!("{path}.{key}"), known.iter().map(String::as_str))
}

/// Reads one value and checks it against its range.
#[inline(never)]
pub fn read<T: ParamValue>(
    into: &mut T,
    (path, key, unit): (&str, &str, &str),
    range: Option<(f64, f64)>,
    value: &Value,
) -> Result<()> {
    let parsed = T::from_value(value).map_err(|expected| Error::user(format!("{path}.{key}: {expected}")))?;
    if let (Some(number), Some((low, high))) = (parsed.as_number(), range)
        && !(low..=high).contains(&number)
    {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        return Err(Error::user(format!("{path}.{key} = {number}{unit} is out of range"))
            .with_remedy(format!("choose a value from {low} to {high}{unit}")));
    }
    *into = parsed;
    Ok(())
}

/// Returns the choice with a given name, in upper or lower case.
///
/// # Errors
/// A value that is no text or not the name of a choice.
pub fn chosen<T: Choices>(value: &Value) -> Result<T, String> {
    let text = value.as_str().unwrap_or_default();
    let place = T::WORDS.iter().position(|word| word.eq_ignore_ascii_case(text));
    place
        .and_then(|place| T::ALL.get(place))
        .copied()
        .ok_or_else(|| format!("expected one of {}, found `{value}`", T::WORDS.join(", ")))
}

/// Splits `name:key=value:key=value` into a name and parameters. A value is a TOML value or text. Messages name
/// the `path` and show an `example`.
pub fn parse_word(path: &str, word: &str, example: &str) -> Result<(String, Table)> {
    let mut parts = word.split(':');
    let name = parts.next().unwrap_or_default().to_owned();
    let mut params = Table::new();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| {
            Error::user(format!("{path} `{word}`: `{part}` is not of the form key=value"))
                .with_remedy(format!("write for example {example}"))
        })?;
        let value = format!("value = {value}")
            .parse::<Table>()
            .ok()
            .and_then(|mut t| t.remove("value"))
            .unwrap_or_else(|| Value::from(value));
        params.insert(key.to_owned(), value);
    }
    Ok((name, params))
}

/// The parameters of a model without parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoParams;

impl Params for NoParams {
    fn specs() -> Vec<ParamSpec> {
        Vec::new()
    }

    fn set(&mut self, path: &str, key: &str, _: &Value) -> Result<()> {
        Err(Error::unknown("key", &format!("{path}.{key}"), []))
    }

    fn to_table(&self) -> Table {
        Table::new()
    }
}

/// Declares a set of parameters: a documented struct with their names, defaults, units, ranges and meanings.
///
/// ```
/// use sledlab_core::params::Params;
/// sledlab_core::params! {
///     /// A fixed idle timeout.
///     pub struct Fixed {
///         /// Idle time before the sled parks.
///         timeout_ms: f64 = 1000.0, "ms", 0.0..1e9;
///     }
/// }
/// let table = toml::from_str("timeout_ms = 40").unwrap();
/// assert_eq!(Fixed::from_table("power", &table).unwrap().timeout_ms, 40.0);
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $( #[doc = $meaning:literal] $key:ident : $type:ty = $default:expr
               $(, $unit:literal $(, $low:literal .. $high:literal)?)? ; )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( #[doc = $meaning] pub $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $key: $default.into(), )* }
            }
        }

        impl $crate::params::Params for $name {
            fn specs() -> Vec<$crate::params::ParamSpec> {
                let defaults = Self::default();
                vec![$( $crate::params::spec(
                    [stringify!($key), $meaning, concat!($($unit)?)],
                    $crate::params!(@range $($(($low, $high))?)?),
                    &defaults.$key,
                ) ),*]
            }

            fn set(&mut self, path: &str, key: &str, value: &toml::Value) -> $crate::Result<()> {
                match key {
                    $( stringify!($key) => {
                        let range = $crate::params!(@range $($(($low, $high))?)?);
                        $crate::params::read(&mut self.$key, (path, key, concat!($($unit)?)), range, value)
                    } )*
                    _ => {
                        let known = [$( stringify!($key) ),*];
                        Err($crate::params::unknown(path, key, &known))
                    }
                }
            }

            fn to_table(&self) -> toml::Table {
                let mut table = toml::Table::new();
                $( $crate::params::write(&mut table, stringify!($key), &self.$key); )*
                table
            }
        }
    };
    (@range) => { None };
    (@range ($low:literal, $high:literal)) => { Some(($low as f64, $high as f64)) };
}

/// Declares a parameter that is one of a list of choices.
///
/// ```
/// use sledlab_core::params::ParamValue;
/// sledlab_core::choices! {
///     /// Which way a row may be accessed.
///     pub enum Direction {
///         /// Towards positive y only.
///         Up = "up",
///         /// Whichever is faster.
///         Free = "free",
///     }
/// }
/// assert_eq!(Direction::Free.to_value().as_str(), Some("free"));
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident { $( $(#[doc = $meaning:literal])+ $variant:ident = $word:literal, )+ }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[doc = $meaning])+ $variant, )+ }

        impl $crate::params::Choices for $name {
            const ALL: &'static [Self] = &[$( $name::$variant ),+];
            const WORDS: &'static [&'static str] = &[$( $word ),+];
        }

        impl $crate::params::ParamValue for $name {
            const KIND: $crate::params::ParamKind =
                $crate::params::ParamKind::Choice(<$name as $crate::params::Choices>::WORDS);

            fn from_value(value: &toml::Value) -> Result<Self, String> {
                $crate::params::chosen(value)
            }

            fn to_value(&self) -> toml::Value {
                toml::Value::String(match self { $( $name::$variant => $word, )+ }.to_owned())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::params! {
        /// For the tests below.
        pub struct Sample {
            /// A length.
            bit_nm: f64 = 40.0, "nm", 1.0..100.0;
            /// A count.
            tips: u64 = 64_u64;
            /// A word.
            label: String = "none";
        }
    }

    fn read_sample(text: &str) -> Result<Sample> {
        Sample::from_table("device", &toml::from_str(text).unwrap())
    }

    #[test]
    fn declared_params_round_trip_through_toml() {
        let sample = read_sample("bit_nm = 50\ntips = 3").unwrap();
        assert_eq!(sample, Sample { bit_nm: 50.0, tips: 3, label: "none".into() });
        assert_eq!(Sample::from_table("device", &sample.to_table()).unwrap(), sample);
        assert_eq!(Sample::specs()[0].range, Some((1.0, 100.0)));
        assert_eq!(Sample::specs()[0].meaning, "A length.");
    }

    #[test]
    fn invalid_values_are_rejected() {
        let message = |text| read_sample(text).unwrap_err().to_string();
        assert!(message("bit_nm = 0").contains("device.bit_nm = 0 nm is out of range"));
        assert!(message("bit_nm = nan").contains("expected a number"));
        assert!(message("tips = -1").contains("expected a whole number"));
        assert!(message("bit_mn = 4").contains("did you mean `device.bit_nm`?"));
        assert!(message("label = 4").contains("expected text"));
    }
}
