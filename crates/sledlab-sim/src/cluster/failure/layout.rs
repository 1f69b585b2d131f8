//! Placement of shares, copies and work on nodes: which node stores which share and copy, and which nodes do the work
//! of failed nodes.
//!
//! In chained declustering (Hsiao and `DeWitt`, "Chained declustering: a new availability strategy for multiprocessor
//! database machines", ICDE 1990) the copy of a node's share is on the next node, so that work can be shifted along the
//! chain until all survivors have the same amount.

use sledlab_core::params::{Choices, ParamKind, ParamValue};
use sledlab_core::{Error, Result};
use toml::Value;

sledlab_core::choices! {
    /// The holders of copies of the shares of nodes.
    pub enum Redundancy {
        /// No node.
        None = "none",
        /// Nodes 2i and 2i + 1 hold copies of each other's share.
        Mirror = "mirror",
        /// Every node holds a copy of the share of the previous node.
        Chained = "chained",
    }
}

impl Redundancy {
    /// Returns its name in configurations.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// The numbers of the nodes that fail: none, a number, or a list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedNodes(pub Vec<usize>);

impl ParamValue for FailedNodes {
    const KIND: ParamKind = ParamKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let value_error =
            || format!("expected none, the number of a node or a list of numbers, found `{value}`");
        let parse_node = |value: &Value| {
            let node = value.as_integer().and_then(|node| usize::try_from(node).ok());
            node.ok_or_else(value_error)
        };
        let mut numbers = match value {
            Value::String(word) if word == "none" => Vec::new(),
            Value::Array(list) => list.iter().map(parse_node).collect::<Result<_, _>>()?,
            other => vec![parse_node(other)?],
        };
        numbers.sort_unstable();
        numbers.dedup();
        Ok(FailedNodes(numbers))
    }

    fn to_value(&self) -> Value {
        match self.0[..] {
            [] => Value::from("none"),
            [node] => Value::from(node as i64),
            _ => Value::Array(self.0.iter().map(|node| Value::from(*node as i64)).collect()),
        }
    }
}

/// A part of the work on a node's share: from `start / total` to `end / total` of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The node that does this part.
    pub machine: usize,
    /// Whether the node works on its copy of another node's share.
    pub is_copy: bool,
    /// The beginning of the part, in units of `1 / total` of the share.
    pub start: u64,
    /// The end of the part, in the same units.
    pub end: u64,
    /// Number of units in the entire share.
    pub total: u64,
}

impl Part {
    /// Returns this part of `total` bytes or operations. Successive parts sum to `total`.
    pub fn portion(&self, total: u64) -> u64 {
        let scaled = |share: u64| (u128::from(total) * u128::from(share) / u128::from(self.total)) as u64;
        scaled(self.end) - scaled(self.start)
    }
}

/// Returns, for each node, the nodes that receive messages sent to it, given the `parts` of the work on each share.
/// Each worker receives in proportion to its part of the work; if no work is left, the node itself receives.
pub(super) fn receivers(parts: &[Vec<Part>]) -> Vec<Vec<Part>> {
    let share_receivers = |(share, parts): (usize, &Vec<Part>)| match &parts[..] {
        [] => vec![Part { machine: share, is_copy: false, start: 0, end: 1, total: 1 }],
        [first, ..] => {
            let total = parts.iter().map(|part| part.end - part.start).sum();
            let start = first.start;
            parts
                .iter()
                .map(|part| Part { start: part.start - start, end: part.end - start, total, ..*part })
                .collect()
        }
    };
    parts.iter().enumerate().map(share_receivers).collect()
}

/// The nodes of a cluster, the locations of their copies, and the failed nodes.
#[derive(Clone, Debug)]
pub struct CopyLayout {
    redundancy: Redundancy,
    nodes: usize,
    failed: Vec<bool>,
}

impl CopyLayout {
    /// Returns the layout of `nodes` nodes, of which those in `failed` have failed.
    ///
    /// # Errors
    /// Failed nodes that do not exist, too few nodes for copies, and failures that lose data.
    pub fn new(redundancy: Redundancy, nodes: usize, failed: &[usize]) -> Result<Self> {
        if redundancy != Redundancy::None && nodes < 2 {
            return Err(Error::user("copies of a node's files need a second node")
                .with_remedy("use 2 nodes or more, or no redundancy"));
        }
        if redundancy == Redundancy::Mirror && nodes % 2 == 1 {
            return Err(Error::user(format!("{nodes} nodes cannot mirror each other in pairs"))
                .with_remedy("use an even number of nodes, or redundancy `chained`"));
        }
        if let Some(missing) = failed.iter().find(|number| **number >= nodes) {
            return Err(Error::user(format!("there is no node {missing} that could fail"))
                .with_remedy(format!("nodes are 0 to {}", nodes - 1)));
        }
        let layout = CopyLayout {
            redundancy,
            nodes,
            failed: (0..nodes).map(|number| failed.contains(&number)).collect(),
        };
        layout.reject_data_loss().map(|()| layout)
    }

    /// Returns the same layout without failed nodes.
    pub(super) fn without_failures(&self) -> Self {
        CopyLayout { failed: vec![false; self.nodes], ..self.clone() }
    }

    /// Returns the node that holds the copy of a node's share, if any.
    pub fn holder(&self, share: usize) -> Option<usize> {
        match self.redundancy {
            Redundancy::None => None,
            Redundancy::Mirror => Some(share ^ 1),
            Redundancy::Chained => Some((share + 1) % self.nodes),
        }
    }

    /// Returns the share of which a node holds a copy, if any.
    pub(super) fn copied_share(&self, machine: usize) -> Option<usize> {
        match self.redundancy {
            Redundancy::None => None,
            Redundancy::Mirror => Some(machine ^ 1),
            Redundancy::Chained => Some((machine + self.nodes - 1) % self.nodes),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn has_failed(&self, machine: usize) -> bool {
        self.failed[machine]
    }

    /// Returns the failed nodes, in order.
    pub(super) fn failed_nodes(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes).filter(|number| self.failed[*number])
    }

    /// Returns the nodes that do the work on each share: the owner of the share, the node with its copy, or both in
    /// parts.
    ///
    /// In chained declustering, of the s survivors between one failed node f and the next failed node, node f + k does
    /// (s + 1 - k) / s of the work on the share of node f + k - 1 and k / s of the work on its own, so that each does
    /// (s + 1) / s of a share.
    pub fn parts(&self) -> Vec<Vec<Part>> {
        self.resumed_parts(0, 1)
    }

    /// Returns the nodes that do the remaining work on each share when nodes fail after `completed / total` of the
    /// work, the same proportion on all shares. The work on the shares of failed nodes is repeated from the beginning.
    ///
    /// The survivors then have equal amounts of work, too, unless little work is left on their own shares. In that case
    /// the node after a failed node works on the failed node's share alone, from its copy, and the other survivors
    /// divide the remaining work on theirs.
    pub(super) fn resumed_parts(&self, completed: u64, total: u64) -> Vec<Vec<Part>> {
        let remaining_part =
            |share| Part { machine: share, is_copy: false, start: completed, end: total, total };
        let mut parts: Vec<Vec<Part>> = (0..self.nodes)
            .map(|share| match self.holder(share).filter(|_| self.failed[share]) {
                Some(machine) => vec![Part { machine, is_copy: true, start: 0, end: 1, total: 1 }],
                None => vec![remaining_part(share)],
            })
            .collect();
        if self.redundancy == Redundancy::Chained {
            for (first, survivors) in self.chains() {
                for place in 1..=survivors {
                    let share = (first + place as usize) % self.nodes;
                    // Along the chain, equal steps shift either all of the failed node's work, or all remaining work of
                    // a share.
                    let (step, steps) = if total * (survivors - 1) <= (total - completed) * survivors {
                        (total, survivors)
                    } else {
                        (total - completed, survivors - 1)
                    };
                    let (full, shifted) = (total * steps, step * (survivors - place));
                    let own_part = Part {
                        start: completed * steps,
                        end: full - shifted,
                        total: full,
                        ..remaining_part(share)
                    };
                    let machine = (share + 1) % self.nodes;
                    parts[share] = vec![
                        own_part,
                        Part { machine, is_copy: true, start: own_part.end, end: full, total: full },
                    ];
                }
            }
        }
        for parts in &mut parts {
            parts.retain(|part| part.start < part.end);
        }
        parts
    }

    /// Returns each failed node and the number of survivors between it and the next failed node.
    fn chains(&self) -> Vec<(usize, u64)> {
        let failed: Vec<usize> = self.failed_nodes().collect();
        // The first failed node follows the last one, around the ring.
        let next = |index: usize| failed.get(index + 1).copied().unwrap_or(failed[0] + self.nodes);
        failed.iter().enumerate().map(|(index, first)| (*first, (next(index) - first - 1) as u64)).collect()
    }

    /// Rejects failures that leave no copy of a share.
    fn reject_data_loss(&self) -> Result<()> {
        let is_lost = |share: &usize| {
            self.failed[*share] && self.holder(*share).is_none_or(|holder| self.failed[holder])
        };
        let lost: Vec<String> = (0..self.nodes).filter(is_lost).map(|share| share.to_string()).collect();
        let Some((last, others)) = lost.split_last() else { return Ok(()) };
        let lost_shares = match others {
            [] => format!("the share of node {last} is lost"),
            _ => format!("the shares of nodes {} and {last} are lost", others.join(", ")),
        };
        Err(match self.redundancy {
            Redundancy::None => Error::user(format!("{lost_shares}: no node holds a copy"))
                .with_remedy("set the redundancy to `mirror` or `chained`"),
            _ => Error::user(format!("{lost_shares}: the node with the copy fails as well"))
                .with_remedy("set cluster.failed to fewer or other nodes"),
        })
    }
}
