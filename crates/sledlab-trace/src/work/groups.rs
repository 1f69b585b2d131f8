//! Sets of nodes: by number, by name, or as a list of both.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use sledlab_core::hash::Map;

use super::Group;
use super::budget::Budget;
use super::counts::{MAX_COUNT, Name, Pairs, take_counts};
use super::fault::{Fault, ParseResult};

/// The group of all nodes.
pub(super) const ALL: &str = "all";

/// One entry of a list of nodes: a number, or the name of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Member<'a> {
    Node(u64),
    Group(Name<'a>),
}

/// The nodes that a line or group selects.
#[derive(Clone, Debug)]
pub(super) enum Selector<'a> {
    One(Member<'a>),
    List(Vec<Member<'a>>),
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = Member<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the number of a node or the name of a group")
    }

    take_counts!(MAX_COUNT, Member::Node);

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Name::new(Cow::Borrowed(text)).map(Member::Group)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Name::new(Cow::Owned(text.to_owned())).map(Member::Group)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Member<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor)
    }
}

struct SelectorVisitor;

impl<'de> Visitor<'de> for SelectorVisitor {
    type Value = Selector<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the number of a node, the name of a group, or a list of them")
    }

    take_counts!(MAX_COUNT, |node| Selector::One(Member::Node(node)));

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        MemberVisitor.visit_borrowed_str(text).map(Selector::One)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        MemberVisitor.visit_str(text).map(Selector::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = list.next_element()? {
            members.push(member);
        }
        Ok(Selector::List(members))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Selector<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SelectorVisitor)
    }
}

impl<'a> Selector<'a> {
    fn entries(&self) -> &[Member<'a>] {
        match self {
            Selector::One(member) => std::slice::from_ref(member),
            Selector::List(members) => members,
        }
    }
}

/// The groups of a record.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) nodes: usize,
    pub(super) list: Vec<Group>,
    by_name: Map<String, usize>,
}

impl Groups {
    /// Finds the members of every group. Groups may name groups that come later.
    pub(super) fn resolve(
        declared: &Pairs<Selector>,
        nodes: usize,
        budget: &mut Budget,
    ) -> ParseResult<Groups> {
        let declared = &declared.0;
        let by_name =
            declared.iter().enumerate().map(|(index, (name, _))| (name.0.to_string(), index)).collect();
        let empty = |(name, _): &(Name, Selector)| Group { name: name.0.to_string(), members: Vec::new() };
        let mut groups = Groups { nodes, list: declared.iter().map(empty).collect(), by_name };
        if groups.find(ALL).is_some() {
            return Err(Fault::new("`all` cannot be declared", "it means every node: choose another name"));
        }
        // Groups are visited after the groups that they name, on an explicit stack: a chain of groups may be longer
        // than the program's own stack is deep.
        let mut state = vec![State::New; declared.len()];
        for first in 0..declared.len() {
            let mut stack = vec![first];
            while let Some(&group) = stack.last() {
                let (name, selector) = &declared[group];
                if state[group] == State::New {
                    state[group] = State::Open;
                    for inner in groups.group_indices(selector)? {
                        match state[inner] {
                            State::New => stack.push(inner),
                            State::Open => return Err(cycle_fault(&declared[inner].0.0, &name.0)),
                            State::Done => {}
                        }
                    }
                    continue;
                }
                stack.pop();
                if state[group] == State::Open {
                    state[group] = State::Done;
                    let members = groups.members(selector)?;
                    if members.is_empty() {
                        return Err(Fault::new(
                            format!("the group `{}` is empty", name.0),
                            "list its nodes, or omit the group",
                        ));
                    }
                    budget.take::<usize>(members.len())?;
                    groups.list[group].members = members;
                }
            }
        }
        Ok(groups)
    }

    /// The index of the group called `name`.
    fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn find_or_fault(&self, name: &str) -> ParseResult<usize> {
        self.find(name).ok_or_else(|| {
            let names = self.list.iter().map(|group| group.name.as_str());
            Fault::unknown_name("group", name, names.chain([ALL]))
        })
    }

    /// The indices of the groups that a selector names, without `all`.
    fn group_indices(&self, selector: &Selector) -> ParseResult<Vec<usize>> {
        let names = selector.entries().iter().filter_map(|member| match member {
            Member::Group(name) if name.0 != ALL => Some(name),
            _ => None,
        });
        names.map(|name| self.find_or_fault(&name.0)).collect()
    }

    /// The nodes that a selector selects, in order.
    pub(super) fn members(&self, selector: &Selector) -> ParseResult<Vec<usize>> {
        let entries = match selector {
            Selector::One(Member::Node(node)) => return Ok(vec![self.node(*node)?]),
            Selector::One(Member::Group(name)) if name.0 == ALL => return Ok((0..self.nodes).collect()),
            Selector::One(Member::Group(name)) => {
                return Ok(self.list[self.find_or_fault(&name.0)?].members.clone());
            }
            Selector::List(entries) => entries,
        };
        let mut sorted: Vec<&Member> = entries.iter().collect();
        sorted.sort_unstable();
        if let Some([duplicate, _]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let duplicate = match duplicate {
                Member::Node(node) => format!("node {node}"),
                Member::Group(name) => format!("`{}`", name.0),
            };
            return Err(Fault::new(format!("{duplicate} is repeated in a list"), "keep one of the two"));
        }
        // Groups may share nodes, which count once.
        let mut members = vec![false; self.nodes];
        for entry in entries {
            match entry {
                Member::Node(node) => members[self.node(*node)?] = true,
                Member::Group(name) if name.0 == ALL => members.fill(true),
                Member::Group(name) => {
                    let group = &self.list[self.find_or_fault(&name.0)?];
                    group.members.iter().for_each(|node| members[*node] = true);
                }
            }
        }
        Ok(members.iter().enumerate().filter_map(|(node, is_member)| is_member.then_some(node)).collect())
    }

    fn node(&self, node: u64) -> ParseResult<usize> {
        let index = usize::try_from(node).ok().filter(|node| *node < self.nodes);
        index.ok_or_else(|| {
            Fault::new(
                format!("there is no node {node}"),
                format!("nodes are numbered 0 to {}", self.nodes.saturating_sub(1)),
            )
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

#[cold]
fn cycle_fault(inner: &str, outer: &str) -> Fault {
    let message = if inner == outer {
        format!("the group `{outer}` is its own member")
    } else {
        format!("the group `{outer}` names `{inner}`, which leads back to `{outer}`")
    };
    Fault::new(message, "let groups name nodes, or groups that do not name them in turn")
}
