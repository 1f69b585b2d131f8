//! The lines of a record as they are written, before names are resolved.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::counts::{Count, Name, Pairs, Seed, Sizes};
use super::groups::Selector;
use super::sends::Sends;

/// The key that marks a line as a header, and gives its version.
#[derive(serde::Deserialize)]
pub(super) struct HeaderMarker {
    pub(super) work: Option<Value>,
}

/// The header, which is the first line.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header<'a> {
    /// The version, which [`HeaderMarker`] has read and checked.
    #[serde(rename = "work")]
    pub(super) _work: Value,
    #[serde(borrow)]
    pub(super) job: Name<'a>,
    #[serde(default)]
    pub(super) parameters: Map<String, Value>,
    pub(super) seed: Option<Seed>,
    pub(super) nodes: Count,
    pub(super) lines: Option<Count>,
    #[serde(borrow)]
    pub(super) files: Pairs<'a, Sizes>,
    #[serde(borrow, default)]
    pub(super) groups: Pairs<'a, Selector<'a>>,
    #[serde(borrow)]
    pub(super) answer: Option<Name<'a>>,
}

/// A line after the header: a step or a collective.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) phase: Name<'a>,
    #[serde(borrow)]
    pub(super) node: Option<Selector<'a>>,
    #[serde(borrow)]
    pub(super) nodes: Option<Selector<'a>>,
    #[serde(borrow)]
    pub(super) reads: Option<Vec<Object<RawAccess<'a>>>>,
    #[serde(borrow)]
    pub(super) writes: Option<Vec<Object<RawAccess<'a>>>>,
    #[serde(borrow)]
    pub(super) operations: Option<Pairs<'a, Count>>,
    pub(super) sends: Option<Sends>,
    pub(super) message_bytes: Option<Count>,
    pub(super) memory: Option<Count>,
    #[serde(borrow)]
    pub(super) collective: Option<Name<'a>>,
    pub(super) bytes: Option<Sizes>,
    #[serde(borrow)]
    pub(super) group: Option<Selector<'a>>,
    pub(super) root: Option<Count>,
}

impl Line<'_> {
    /// A key on the line that only steps have, if there is one.
    pub(super) fn step_key(&self) -> Option<&'static str> {
        [
            (self.node.is_some(), "node"),
            (self.nodes.is_some(), "nodes"),
            (self.reads.is_some(), "reads"),
            (self.writes.is_some(), "writes"),
            (self.operations.is_some(), "operations"),
            (self.sends.is_some(), "sends"),
            (self.message_bytes.is_some(), "message_bytes"),
            (self.memory.is_some(), "memory"),
        ]
        .into_iter()
        .find_map(|(is_present, key)| is_present.then_some(key))
    }

    /// A key on the line that only collectives have, if there is one.
    pub(super) fn collective_key(&self) -> Option<&'static str> {
        [(self.bytes.is_some(), "bytes"), (self.group.is_some(), "group"), (self.root.is_some(), "root")]
            .into_iter()
            .find_map(|(is_present, key)| is_present.then_some(key))
    }
}

/// An entry of `reads` or `writes`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAccess<'a> {
    #[serde(borrow)]
    pub(super) file: Name<'a>,
    pub(super) bytes: Option<Count>,
    #[serde(borrow)]
    pub(super) order: Option<Name<'a>>,
    pub(super) runs: Option<Count>,
    #[serde(borrow)]
    pub(super) per_block_of: Option<Name<'a>>,
}

/// A `T` written as an object, not as a list of its values without keys.
pub(super) struct Object<T>(pub(super) T);

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}
