//! Writes a record; equal records give the same bytes.

use std::io::{self, Write};

use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};
use sledlab_core::hash;
use sledlab_core::{Error, Result};

use super::access::encode_order;
use super::groups::ALL;
use super::header::VERSION;
use super::sends::SendEncoding;
use super::{Collective, CollectiveKind, FileAccess, NodeStep, Phase, Work};

#[derive(serde::Serialize)]
struct Header<'a> {
    work: u64,
    job: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    parameters: &'a Map<String, Value>,
    seed: u64,
    nodes: usize,
    lines: usize,
    files: OrderedObject<'a, Numbers<'a>>,
    #[serde(skip_serializing_if = "OrderedObject::is_empty")]
    groups: OrderedObject<'a, &'a [usize]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
}

/// The step of a node, without its number, so that equal steps share a line.
#[derive(serde::Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reads: Vec<AccessRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<AccessRecord<'a>>,
    #[serde(skip_serializing_if = "OrderedObject::is_empty")]
    operations: OrderedObject<'a, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sends: Option<SendEncoding<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
}

#[derive(serde::Serialize)]
struct AccessRecord<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_block_of: Option<&'a str>,
}

#[derive(serde::Serialize)]
struct CollectiveRecord<'a> {
    phase: &'a str,
    collective: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Numbers<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Nodes<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<usize>,
}

/// An object with its keys in the order of a list.
struct OrderedObject<'a, T>(Vec<(&'a str, T)>);

impl<T> OrderedObject<'_, T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for OrderedObject<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Numbers, written as one where all are the same.
struct Numbers<'a>(&'a [u64]);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => serializer.serialize_u64(*first),
            list => serializer.collect_seq(list),
        }
    }
}

/// A node by number, a group by name, or a list of nodes.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Nodes<'a> {
    One(usize),
    Group(&'a str),
    List(&'a [usize]),
}

impl Work {
    /// Writes the record as lines of JSON; equal records give the same bytes.
    ///
    /// # Errors
    /// Errors of the writer `to`, and an index in the record past the end of its list.
    pub fn write(&self, mut to: impl Write) -> Result<()> {
        let mut body_lines = Vec::new();
        for phase in &self.phases {
            self.write_phase(phase, &mut body_lines)?;
        }
        let lines = memchr::memchr_iter(b'\n', &body_lines).count();
        let header = Header {
            work: VERSION,
            job: &self.job,
            parameters: &self.parameters,
            seed: self.seed,
            nodes: self.nodes,
            lines,
            files: OrderedObject(self.files.iter().map(|file| (&*file.name, Numbers(&file.bytes))).collect()),
            groups: OrderedObject(self.groups.iter().map(|group| (&*group.name, &*group.members)).collect()),
            answer: self.answer.as_deref(),
        };
        let mut header_line = Vec::new();
        push(&header, &mut header_line)?;
        header_line.push(b'\n');
        let outcome =
            to.write_all(&header_line).and_then(|()| to.write_all(&body_lines)).and_then(|()| to.flush());
        outcome.map_err(|error| write_error(&error))
    }

    fn write_phase(&self, phase: &Phase, output: &mut Vec<u8>) -> Result<()> {
        // Nodes with the same step share a line, in the place of the first of them.
        let mut index: hash::Map<Vec<u8>, usize> = hash::Map::default();
        let mut nodes_by_line: Vec<Vec<usize>> = Vec::new();
        for (node, step) in phase.steps.iter().enumerate().filter(|(_, step)| !step.is_idle()) {
            let mut body = Vec::new();
            push(&self.body(node, step)?, &mut body)?;
            let line = *index.entry(body).or_insert(nodes_by_line.len());
            match nodes_by_line.get_mut(line) {
                Some(nodes) => nodes.push(node),
                None => nodes_by_line.push(vec![node]),
            }
        }
        let mut bodies: Vec<(Vec<u8>, usize)> = index.into_iter().collect();
        bodies.sort_unstable_by_key(|(_, line)| *line);
        if bodies.is_empty() && phase.collectives.is_empty() {
            // A phase in which no node has work is written all the same.
            bodies.push((b"{}".to_vec(), 0));
            nodes_by_line.push((0..self.nodes).collect());
        }
        for ((body, _), nodes) in bodies.iter().zip(&nodes_by_line) {
            output.extend_from_slice(b"{\"phase\":");
            push(&phase.name, output)?;
            let nodes = self.compact_nodes(nodes);
            output.extend_from_slice(if matches!(nodes, Nodes::One(_)) {
                b",\"node\":"
            } else {
                b",\"nodes\":"
            });
            push(&nodes, output)?;
            // The body is a separate object: its opening brace is dropped.
            if body.len() > 2 {
                output.push(b',');
            }
            output.extend_from_slice(&body[1..]);
            output.push(b'\n');
        }
        for collective in &phase.collectives {
            push(&self.collective(&phase.name, collective), output)?;
            output.push(b'\n');
        }
        Ok(())
    }

    fn body<'a>(&'a self, node: usize, step: &'a NodeStep) -> Result<Body<'a>> {
        let operation = |(kind, count): &(usize, u64)| {
            let name = self.kinds.get(*kind).ok_or_else(|| invalid_index("kind of operation", *kind))?;
            Ok((&**name, *count))
        };
        Ok(Body {
            reads: self.accesses(node, &step.reads)?,
            writes: self.accesses(node, &step.writes)?,
            operations: OrderedObject(step.operations.iter().map(operation).collect::<Result<_>>()?),
            sends: (!step.sends.is_empty()).then_some(SendEncoding {
                pairs: &step.sends,
                node,
                nodes: self.nodes,
            }),
            message_bytes: step.message_bytes,
            memory: Some(step.memory).filter(|memory| *memory > 0),
        })
    }

    fn accesses(&self, node: usize, list: &[FileAccess]) -> Result<Vec<AccessRecord<'_>>> {
        list.iter().map(|access| self.access(node, access)).collect()
    }

    fn access(&self, node: usize, access: &FileAccess) -> Result<AccessRecord<'_>> {
        let find = |index: usize| self.files.get(index).ok_or_else(|| invalid_index("file", index));
        let file = find(access.file)?;
        let (order, runs) = encode_order(access.order, self.nodes);
        Ok(AccessRecord {
            file: &file.name,
            bytes: Some(access.bytes).filter(|bytes| file.bytes.get(node) != Some(bytes)),
            order,
            runs,
            per_block_of: access.per_block_of.map(|index| find(index).map(|file| &*file.name)).transpose()?,
        })
    }

    fn collective<'a>(&'a self, phase: &'a str, collective: &'a Collective) -> CollectiveRecord<'a> {
        let has_all_nodes = collective.members.len() == self.nodes;
        let has_no_bytes = collective.kind == CollectiveKind::Barrier;
        CollectiveRecord {
            phase,
            collective: collective.kind.name(),
            bytes: (!has_no_bytes).then_some(Numbers(&collective.bytes)),
            group: (!has_all_nodes).then(|| self.compact_nodes(&collective.members)),
            root: Some(collective.root).filter(|root| *root > 0),
        }
    }

    fn compact_nodes<'a>(&'a self, nodes: &'a [usize]) -> Nodes<'a> {
        match nodes {
            [one] => Nodes::One(*one),
            nodes if nodes.len() == self.nodes => Nodes::Group(ALL),
            nodes => match self.groups.iter().find(|group| group.members == nodes) {
                Some(group) => Nodes::Group(&group.name),
                None => Nodes::List(nodes),
            },
        }
    }
}

fn push(value: &impl Serialize, output: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(output, value)
        .map_err(|error| Error::internal(format!("cannot write JSON: {error}")))
}

#[cold]
fn invalid_index(what: &str, index: usize) -> Error {
    Error::internal(format!("the record has no {what} number {index}"))
}

#[cold]
fn write_error(error: &io::Error) -> Error {
    Error::user(format!("cannot write: {error}")).with_remedy("check the free space on the disk")
}
