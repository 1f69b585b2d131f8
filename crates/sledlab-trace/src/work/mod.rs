//! Work records (`*.work`): what each node of a cluster did in each phase of a job.
//!
//! A record contains counts and bytes, never times: it is to a cluster what a block trace is to a device.
//! `docs/work.md` describes the file: a header, then a line of JSON for each step or collective.

mod access;
mod budget;
mod counts;
mod fault;
mod groups;
mod header;
mod lines;
mod packed_row;
mod read;
mod sends;
mod write;

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};
use sledlab_core::Result;

pub use counts::{MAX_COUNT, MAX_NAME_BYTES, MAX_NODES};
pub use packed_row::pack;

use crate::input::Input;

/// The work of a cluster's nodes for one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Name of the job.
    pub job: String,
    /// Parameters of the job.
    pub parameters: Map<String, Value>,
    /// Seed of the job's random numbers.
    pub seed: u64,
    /// Number of nodes.
    pub nodes: usize,
    /// A hash of the job's result, for comparing two runs.
    pub answer: Option<String>,
    /// Files on the nodes.
    pub files: Vec<File>,
    /// Named sets of nodes, without `all`.
    pub groups: Vec<Group>,
    /// Kinds of operations, in the order in which phases and, in them, nodes first do them.
    pub kinds: Vec<String>,
    /// Phases in order.
    pub phases: Vec<Phase>,
}

/// A file of which every node holds a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name of the file.
    pub name: String,
    /// Size of the part on each node.
    pub bytes: Vec<u64>,
}

/// A named set of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Members of the group, in order of their numbers.
    pub members: Vec<usize>,
}

/// The work between two barriers: a step of each node, then collectives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Name of the phase; no other phase has the same.
    pub name: String,
    /// A step for each node; the default is a node without work.
    pub steps: Vec<NodeStep>,
    /// Collectives of the nodes after their steps, in order.
    pub collectives: Vec<Collective>,
}

/// The work of one node in one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeStep {
    /// File accesses that read; no entry is empty.
    pub reads: Vec<FileAccess>,
    /// File accesses that write; no entry is empty.
    pub writes: Vec<FileAccess>,
    /// Kinds of operation (an index into [`Work::kinds`]) and the number of operations of each, by kind.
    pub operations: Vec<(usize, u64)>,
    /// Bytes for each port, by port: a node, this one included, or the client, whose port is the number of nodes. No
    /// entry is 0.
    pub sends: Vec<(u32, u64)>,
    /// The maximum size of a message in bytes, if the job sets it.
    pub message_bytes: Option<u64>,
    /// Bytes of memory needed besides buffers.
    pub memory: u64,
}

/// A read or write of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// Index into [`Work::files`].
    pub file: usize,
    /// Bytes; where there are several passes, those of one.
    pub bytes: u64,
    /// Order of the pages.
    pub order: PageOrder,
    /// If set, the access is repeated for every block of this file, an index into [`Work::files`]. A replay decides how
    /// large a block is.
    pub per_block_of: Option<usize>,
    /// Whether the access is not part of the job, such as a rebuild: it never reads the outer blocks of a nested loop.
    /// No record has such an access; replays add them.
    pub is_background: bool,
}

/// The order in which the pages of an access come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// One after another.
    #[default]
    Sequential,
    /// Each at a random place.
    Random,
    /// Runs that are merged: a page of each run in turn.
    Merge {
        /// Number of runs.
        runs: u64,
    },
    /// Streams that are written side by side, each with one open page.
    Streams {
        /// Number of streams.
        runs: u64,
    },
}

/// An exchange in which several nodes take part together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Kind of the collective.
    pub kind: CollectiveKind,
    /// Bytes that each member brings.
    pub bytes: Vec<u64>,
    /// The nodes that take part, in order.
    pub members: Vec<usize>,
    /// The member that gives or gets, an index into `members`; 0 for kinds without a root.
    pub root: usize,
}

/// The kinds of collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    /// All members wait for the last.
    Barrier,
    /// The root gets the bytes of every member.
    Gather,
    /// All members get the bytes of the root.
    Broadcast,
    /// The root gets a combination of all members' bytes, as large as those of one.
    Reduce,
    /// All members get that combination.
    AllReduce,
    /// All members get the bytes of every member.
    AllGather,
}

impl Work {
    /// Reads the record at `path`, plain or compressed, `-` for standard input.
    ///
    /// # Errors
    /// The file cannot be read or is not a valid record; the error contains the line.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        read::read(Input::open(path.as_ref())?)
    }

    /// Like [`Work::read`], from any reader; `name` is the name of the reader in messages.
    pub fn parse(name: &str, reader: impl Read + Send + 'static) -> Result<Self> {
        read::read(Input::from_reader(name, Box::new(reader))?)
    }

    /// The port of the client.
    pub fn client(&self) -> u32 {
        self.nodes as u32
    }

    /// The index of the file called `name`.
    pub fn file(&self, name: &str) -> Option<usize> {
        self.files.iter().position(|file| file.name == name)
    }

    /// Bytes that nodes send to other nodes or to the client, in steps.
    pub fn bytes_sent(&self) -> u64 {
        self.phases.iter().flat_map(Phase::bytes_sent).sum()
    }
}

impl Phase {
    /// For each node, the bytes it sends to other nodes or to the client, in steps.
    pub fn bytes_sent(&self) -> impl Iterator<Item = u64> {
        self.steps
            .iter()
            .enumerate()
            .map(|(node, step)| step.remote_sends(node).map(|(_, bytes)| bytes).sum())
    }

    /// For each port, the bytes it receives from other nodes, in steps; the client's port is the last.
    pub fn bytes_received(&self) -> Vec<u64> {
        let mut received = vec![0; self.steps.len() + 1];
        for (node, step) in self.steps.iter().enumerate() {
            for (port, bytes) in step.remote_sends(node) {
                if let Some(sum) = received.get_mut(port as usize) {
                    *sum += bytes;
                }
            }
        }
        received
    }

    /// Whether any node sends bytes to another node or to the client, in steps.
    pub fn has_exchange(&self) -> bool {
        self.bytes_sent().any(|bytes| bytes > 0)
    }
}

impl NodeStep {
    /// Whether the step has no work.
    pub fn is_idle(&self) -> bool {
        *self == NodeStep::default()
    }

    /// Bytes that the step sends to a port.
    pub fn bytes_for_port(&self, port: u32) -> u64 {
        let position = self.sends.binary_search_by_key(&port, |(port, _)| *port);
        position.ok().and_then(|index| self.sends.get(index)).map_or(0, |(_, bytes)| *bytes)
    }

    /// Bytes that leave the node, which is `node`, for other nodes and the client, by port.
    pub fn remote_sends(&self, node: usize) -> impl Iterator<Item = (u32, u64)> {
        self.sends.iter().copied().filter(move |(port, _)| *port as usize != node)
    }
}

impl CollectiveKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Barrier, Self::Gather, Self::Broadcast, Self::Reduce, Self::AllReduce, Self::AllGather];

    /// The name of the kind in a record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Gather => "gather",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
        }
    }

    /// Whether one member, the root, gives or gets bytes that the others do not.
    pub const fn has_root(self) -> bool {
        matches!(self, Self::Gather | Self::Broadcast | Self::Reduce)
    }
}
