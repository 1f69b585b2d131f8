//! Values of entries: words and numbers.

use sledlab_core::{Error, Result};

use super::{KeyValue, Value};

/// The word after an entry's `=`.
pub(in crate::device) fn word(entry: &KeyValue) -> Result<&str> {
    text(&entry.key, &entry.value)
}

/// The word that `key` holds.
pub(in crate::device) fn text<'a>(key: &str, value: &'a Value) -> Result<&'a str> {
    match value {
        Value::Words(words) if !words.contains(' ') => Ok(words),
        Value::Words(words) => {
            let excerpt: String = words.chars().take(60).collect();
            Err(Error::user(format!("`{key}`: expected one value, found `{excerpt}`"))
                .with_remedy("write one word or number without its unit, and `,` after it"))
        }
        Value::Block(_) | Value::List(_) => {
            Err(Error::user(format!("`{key}`: expected one value")).with_remedy("write one word or number"))
        }
    }
}

/// The number after an entry's `=`, times ten to the power given.
pub(in crate::device) fn number(entry: &KeyValue, power: i32) -> Result<f64> {
    scaled_number(&entry.key, word(entry)?, power)
}

/// The number `word`, times ten to the power given. The power goes into the decimal text where possible, so that
/// 0.00512 ms become exactly 5.12 us.
pub(in crate::device) fn scaled_number(key: &str, word: &str, power: i32) -> Result<f64> {
    let error = || {
        Error::user(format!("`{key}`: expected a number, found `{word}`"))
            .with_remedy("write a number such as 0.25, with a decimal point")
    };
    let value: f64 = word.parse().map_err(|_| error())?;
    let scaled = format!("{word}e{power}").parse().unwrap_or_else(|_| value * 10_f64.powi(power));
    if scaled.is_finite() { Ok(scaled) } else { Err(error()) }
}

/// Returns the integer after an entry's `=`; DiskSim writes some integers with a decimal point.
pub(in crate::device) fn count(entry: &KeyValue) -> Result<i64> {
    whole_number(&entry.key, word(entry)?)
}

/// Returns the integer `word`.
pub(in crate::device) fn whole_number(key: &str, word: &str) -> Result<i64> {
    let number = scaled_number(key, word, 0)?;
    if number.fract().abs() > 0.0 || number.abs() > 1e15 {
        return Err(Error::user(format!("`{key}`: expected a whole number, found `{word}`"))
            .with_remedy("write a number without decimals"));
    }
    Ok(number as i64)
}

/// `number`, or an error if it is negative.
pub(in crate::device) fn check_non_negative(key: &str, number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| {
        Error::user(format!("`{key}`: expected a number not below 0, found {number}"))
            .with_remedy("write 0 or a greater number")
    })
}
