//! Numbers and names of a record, checked while they are read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::fault::custom_error;

/// The largest count or number of bytes in a record, so that sums have room.
pub const MAX_COUNT: u64 = 1 << 50;

/// The maximum number of nodes of a record.
pub const MAX_NODES: usize = 65_536;

/// Bytes of the longest name of a file, group, phase or kind of operation.
pub const MAX_NAME_BYTES: usize = 200;

/// An integer from 0 to `LIMIT`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundedInteger<const LIMIT: u64>(pub(super) u64);

/// A count or a number of bytes.
pub(super) type Count = BoundedInteger<MAX_COUNT>;

/// Any unsigned number of 64 bits.
pub(super) type Seed = BoundedInteger<{ u64::MAX }>;

/// The expected value in place of one that is not a count, for messages.
pub(super) const A_COUNT: &str = "a whole number";

pub(super) fn from_u64<const LIMIT: u64, E: serde::de::Error>(number: u64) -> Result<u64, E> {
    if number <= LIMIT { Ok(number) } else { Err(too_large_error::<LIMIT, E>(&number.to_string())) }
}

pub(super) fn from_i64<const LIMIT: u64, E: serde::de::Error>(number: i64) -> Result<u64, E> {
    let number = u64::try_from(number).map_err(|_| {
        custom_error::<E>(&format!("{number} is negative"), "write a whole number, 0 or more")
    })?;
    from_u64::<LIMIT, E>(number)
}

/// Rejects numbers that are not written as integers, or do not fit 64 bits; the error describes the cause.
pub(super) fn reject_f64<const LIMIT: u64, E: serde::de::Error>(number: f64) -> Result<u64, E> {
    if number < 0.0 {
        return Err(custom_error(&format!("{number} is negative"), "write a whole number, 0 or more"));
    }
    if number > LIMIT as f64 {
        return Err(too_large_error::<LIMIT, E>(&format!("{number:e}")));
    }
    Err(custom_error(
        &format!("{number} is not written as a whole number"),
        "write an integer without decimal point and exponent",
    ))
}

fn too_large_error<const LIMIT: u64, E: serde::de::Error>(number: &str) -> E {
    let limit = if LIMIT == MAX_COUNT { "2^50" } else { "2^64 - 1" };
    custom_error(&format!("{number} is more than {limit}"), "check the number and its unit: bytes, not bits")
}

/// Makes a visitor take numbers as [`Count`] does.
macro_rules! take_counts {
    ($limit:expr, $made:expr) => {
        fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
            $crate::work::counts::from_u64::<{ $limit }, E>(number).map($made)
        }

        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
            $crate::work::counts::from_i64::<{ $limit }, E>(number).map($made)
        }

        fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Self::Value, E> {
            $crate::work::counts::reject_f64::<{ $limit }, E>(number).map($made)
        }
    };
}
pub(super) use take_counts;

struct UnsignedVisitor<const LIMIT: u64>;

impl<const LIMIT: u64> Visitor<'_> for UnsignedVisitor<LIMIT> {
    type Value = BoundedInteger<LIMIT>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(A_COUNT)
    }

    take_counts!(LIMIT, BoundedInteger);
}

impl<'de, const LIMIT: u64> Deserialize<'de> for BoundedInteger<LIMIT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(UnsignedVisitor)
    }
}

/// A name: not empty, not too long, and without characters that would garble a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

impl<'a> Name<'a> {
    pub(super) fn new<E: serde::de::Error>(text: Cow<'a, str>) -> Result<Self, E> {
        let remedy = "shorten it, and keep to letters, digits, `-`, `_` and spaces";
        if text.is_empty() {
            return Err(custom_error("a name is empty", "give it a name"));
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(custom_error(&format!("a name is longer than {MAX_NAME_BYTES} bytes"), remedy));
        }
        if text.chars().any(char::is_control) {
            return Err(custom_error("a name contains control characters", remedy));
        }
        Ok(Name(text))
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name in quotes")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Name::new(Cow::Borrowed(text))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Name::new(Cow::Owned(text.to_owned()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

/// One number for all nodes, or one for each.
#[derive(Debug)]
pub(super) enum Sizes {
    Same(u64),
    Each(Vec<u64>),
}

impl Sizes {
    /// A number for each of `count` nodes; where the list has another length, that length.
    pub(super) fn into_vec(self, count: usize) -> Result<Vec<u64>, usize> {
        match self {
            Sizes::Same(bytes) => Ok(vec![bytes; count]),
            Sizes::Each(bytes) if bytes.len() == count => Ok(bytes),
            Sizes::Each(bytes) => Err(bytes.len()),
        }
    }
}

struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = Sizes;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number, or a list of them")
    }

    take_counts!(MAX_COUNT, Sizes::Same);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut sizes = Vec::new();
        while let Some(BoundedInteger(size)) = list.next_element::<Count>()? {
            sizes.push(size);
        }
        Ok(Sizes::Each(sizes))
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizesVisitor)
    }
}

/// An object whose keys are names: its entries in order, with no name twice.
#[derive(Debug)]
pub(super) struct Pairs<'a, T>(pub(super) Vec<(Name<'a>, T)>);

impl<T> Default for Pairs<'_, T> {
    fn default() -> Self {
        Pairs(Vec::new())
    }
}

struct PairsVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs: Vec<(Name, T)> = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        let mut names: Vec<&Name> = pairs.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if let Some([duplicate, _]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(A::Error::custom(super::fault::duplicate_message(&duplicate.0)));
        }
        Ok(Pairs(pairs))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Pairs<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(std::marker::PhantomData))
    }
}
