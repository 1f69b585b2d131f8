//! The bytes that a node sends to each port, in the four ways to write them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::counts::{BoundedInteger, Count, MAX_NODES};
use super::fault::{Fault, ParseResult, custom_error, quote};
use super::packed_row::{pack, unpack};

/// A pair of port and bytes.
type Pair = (u32, u64);

const CLIENT_KEY: &str = "client";
const EACH_KEY: &str = "each";

/// Stands in place of the client's port while the number of nodes is not known.
const UNRESOLVED_CLIENT: u32 = u32::MAX;

/// The sends of a line, as written.
#[derive(Clone, Debug)]
pub(super) enum Sends {
    /// A number for every node and perhaps one for the client. `pairs` omits zeros.
    Row { numbers: usize, pairs: Vec<Pair> },
    /// By receiver; `each` is for every other node that is not named.
    Object { each: Option<u64>, pairs: Vec<Pair> },
}

struct SendsVisitor;

impl<'de> Visitor<'de> for SendsVisitor {
    type Value = Sends;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of numbers, an object by receiver, or a packed row")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut numbers, mut pairs) = (0, Vec::new());
        while let Some(BoundedInteger(bytes)) = list.next_element::<Count>()? {
            if numbers > MAX_NODES {
                return Err(custom_error(
                    &format!("the row has more than {} numbers", MAX_NODES + 1),
                    "give a number for each node and, after them, one for the client",
                ));
            }
            if bytes > 0 {
                pairs.push((numbers as u32, bytes));
            }
            numbers += 1;
        }
        Ok(Sends::Row { numbers, pairs })
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let mut pairs = Vec::new();
        let numbers = unpack(text, |port, bytes| {
            if bytes > 0 {
                pairs.push((port as u32, bytes));
            }
        });
        let numbers = numbers.map_err(|message| {
            custom_error::<E>(&message, "pack the row again, or write it as a list of numbers")
        })?;
        Ok(Sends::Row { numbers, pairs })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut each, mut pairs) = (None, Vec::new());
        while let Some((Receiver(receiver), BoundedInteger(bytes))) = map.next_entry::<Receiver, Count>()? {
            match receiver {
                Some(port) => pairs.push((port, bytes)),
                None if each.is_some() => {
                    return Err(custom_error("duplicate receiver `each`", "keep one of the two"));
                }
                None => each = Some(bytes),
            }
        }
        pairs.sort_unstable();
        if let Some(pair) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let port = pair[0].0;
            let receiver = if port == UNRESOLVED_CLIENT { CLIENT_KEY.to_owned() } else { port.to_string() };
            return Err(custom_error(&format!("duplicate receiver `{receiver}`"), "keep one of the two"));
        }
        Ok(Sends::Object { each, pairs })
    }
}

impl<'de> Deserialize<'de> for Sends {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SendsVisitor)
    }
}

/// A port; `None` is `each`.
struct Receiver(Option<u32>);

struct ReceiverVisitor;

impl Visitor<'_> for ReceiverVisitor {
    type Value = Receiver;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a receiver")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let port = text.parse().ok().filter(|port| is_number && *port < UNRESOLVED_CLIENT);
        match text {
            EACH_KEY => Ok(Receiver(None)),
            CLIENT_KEY => Ok(Receiver(Some(UNRESOLVED_CLIENT))),
            _ if port.is_some() => Ok(Receiver(port)),
            _ => Err(custom_error(
                &format!("unknown receiver `{}`", quote(text)),
                "name a node by its number, or `client`, or `each` for every other node",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Receiver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ReceiverVisitor)
    }
}

impl Sends {
    /// Checks that the receivers exist.
    pub(super) fn check(&self, nodes: usize) -> ParseResult<()> {
        match self {
            Sends::Row { numbers, .. } if *numbers == nodes || *numbers == nodes + 1 => Ok(()),
            Sends::Row { numbers, .. } => Err(Fault::new(
                format!("{numbers} numbers in `sends` for {nodes} nodes"),
                format!("give {nodes}, or {} where the last is for the client", nodes + 1),
            )),
            Sends::Object { pairs, .. } => {
                let unknown_port =
                    pairs.iter().find(|(port, _)| *port != UNRESOLVED_CLIENT && *port as usize >= nodes);
                unknown_port.map_or(Ok(()), |(port, _)| {
                    Err(Fault::new(
                        format!("there is no node {port} to receive"),
                        format!("nodes are numbered 0 to {}, besides `client`", nodes - 1),
                    ))
                })
            }
        }
    }

    /// Most pairs that a node may take in memory.
    pub(super) fn max_pairs(&self, nodes: usize) -> usize {
        match self {
            Sends::Object { each: Some(_), .. } => nodes + 1,
            Sends::Row { pairs, .. } | Sends::Object { pairs, .. } => pairs.len(),
        }
    }

    /// Ports and bytes of one node, by port, without zeros.
    pub(super) fn for_node(self, node: usize, nodes: usize) -> Vec<Pair> {
        let mut sends = match self {
            Sends::Row { pairs, .. } => pairs,
            Sends::Object { each, pairs } => {
                let named_pairs = pairs.into_iter().map(|(port, bytes)| match port {
                    UNRESOLVED_CLIENT => (nodes as u32, bytes),
                    port => (port, bytes),
                });
                match each.filter(|bytes| *bytes > 0) {
                    None => named_pairs.filter(|(_, bytes)| *bytes > 0).collect(),
                    Some(bytes) => fill(node, nodes, bytes, named_pairs),
                }
            }
        };
        sends.shrink_to_fit();
        sends
    }
}

/// `bytes` to every node but `own`; for the ports of `named`, their bytes instead.
fn fill(sender: usize, nodes: usize, bytes: u64, named_pairs: impl Iterator<Item = Pair>) -> Vec<Pair> {
    let mut named_pairs = named_pairs.peekable();
    let mut sends = Vec::with_capacity(nodes + 1);
    for port in 0..=nodes as u32 {
        let default_bytes = if port as usize == sender || port as usize == nodes { 0 } else { bytes };
        let sent_bytes =
            named_pairs.next_if(|(next, _)| *next == port).map_or(default_bytes, |(_, bytes)| bytes);
        if sent_bytes > 0 {
            sends.push((port, sent_bytes));
        }
    }
    sends
}

/// Most nodes for which rows are written as lists; with more nodes they are packed.
const MAX_LIST_NODES: usize = 64;

/// The sends of a node, to be written in the shortest of the four ways.
pub(super) struct SendEncoding<'a> {
    pub(super) pairs: &'a [Pair],
    pub(super) node: usize,
    pub(super) nodes: usize,
}

impl SendEncoding<'_> {
    /// The bytes to every other node, where all are the same and the node sends itself none.
    fn uniform_bytes(&self) -> Option<u64> {
        let to_nodes = self.to_nodes();
        let first_bytes = to_nodes.first()?.1;
        let is_uniform = to_nodes.len() + 1 == self.nodes
            && to_nodes.iter().all(|(port, bytes)| *bytes == first_bytes && *port as usize != self.node);
        is_uniform.then_some(first_bytes)
    }

    fn to_nodes(&self) -> &[Pair] {
        let client = self.pairs.partition_point(|(port, _)| (*port as usize) < self.nodes);
        &self.pairs[..client]
    }

    fn to_client(&self) -> Option<u64> {
        self.pairs.last().filter(|(port, _)| *port as usize >= self.nodes).map(|(_, bytes)| *bytes)
    }

    /// The numbers of all ports, zeros included.
    fn row(&self) -> impl Iterator<Item = u64> {
        let length = self.nodes + usize::from(self.to_client().is_some());
        let mut pairs = self.pairs.iter().peekable();
        (0..length as u32)
            .map(move |port| pairs.next_if(|(next, _)| *next == port).map_or(0, |(_, bytes)| *bytes))
    }
}

impl Serialize for SendEncoding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let uniform_bytes = self.uniform_bytes();
        if uniform_bytes.is_none() && self.pairs.len() > 4 && self.pairs.len() * 4 > self.nodes {
            return match self.nodes {
                0..=MAX_LIST_NODES => serializer.collect_seq(self.row()),
                _ => serializer.serialize_str(&pack(self.row())),
            };
        }
        let mut map = serializer.serialize_map(None)?;
        match uniform_bytes {
            Some(bytes) => map.serialize_entry(EACH_KEY, &bytes)?,
            None => self.to_nodes().iter().try_for_each(|(port, bytes)| map.serialize_entry(port, bytes))?,
        }
        if let Some(bytes) = self.to_client() {
            map.serialize_entry(CLIENT_KEY, &bytes)?;
        }
        map.end()
    }
}
