//! Reads a record line by line, and checks that its lines are consistent.

use sledlab_core::hash::{Map, Set};
use sledlab_core::{Error, Result};

use super::access::{FindFile, sketches};
use super::budget::{Budget, add};
use super::counts::{Name, Sizes};
use super::fault::{Fault, ParseResult, object};
use super::header::Head;
use super::lines::Line;
use super::{Collective, CollectiveKind, FileAccess, NodeStep, Phase, Work};
use crate::input::Input;

/// Longest line read: a header with the sizes of a dozen files on 65,536 nodes.
const MAX_LINE_BYTES: usize = 16 << 20;

pub(super) fn read(mut input: Input) -> Result<Work> {
    let mut line = Vec::new();
    let mut budget = Budget::default();
    if !next_line(&mut input, &mut line)? {
        return Err(Error::user("the record is empty")
            .with_remedy("a record is a header and a line for each step: check where the file came from")
            .with_location(input.name(), 0, 0, b""));
    }
    let head = Head::read(&line, &mut budget)
        .map_err(|fault| fault.into_error(input.name(), input.line_number(), &line))?;
    let declared_lines = head.lines;
    let mut reader = Reader::new(head, budget);
    let mut lines = 0;
    while next_line(&mut input, &mut line)? {
        let processed = object(&line).and_then(|parsed_line| reader.process_line(parsed_line));
        processed.map_err(|fault| fault.into_error(input.name(), input.line_number(), &line))?;
        lines += 1;
    }
    let end_error = |message: String, remedy: &str| {
        Err(Error::user(message).with_remedy(remedy).with_location(input.name(), input.line_number(), 0, b""))
    };
    match declared_lines {
        Some(declared_lines) if declared_lines > lines => end_error(
            format!("the record ends after {lines} of {declared_lines} lines"),
            "it was cut off: copy or record it again; if lines were removed on purpose, correct `lines` in the header",
        ),
        Some(declared_lines) if declared_lines < lines => end_error(
            format!("the record has {lines} lines after the header, which declares {declared_lines}"),
            "correct `lines` in the header, or omit it",
        ),
        _ if reader.phases.is_empty() => end_error(
            "the record contains no step".to_owned(),
            r#"add a line, such as {"phase": "scan", "nodes": "all"}"#,
        ),
        _ => Ok(reader.finish()),
    }
}

/// The next line that is not blank; false after the last.
fn next_line(input: &mut Input, line: &mut Vec<u8>) -> Result<bool> {
    while input.next_long_line(line, MAX_LINE_BYTES)? {
        if !line.trim_ascii().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

type Index = Map<String, usize>;

struct Files {
    list: Vec<super::File>,
    index: Index,
}

impl FindFile for Files {
    fn find(&self, name: &Name) -> ParseResult<usize> {
        let index = self.index.get(&*name.0).copied();
        index.ok_or_else(|| {
            Fault::unknown_name("file", &name.0, self.list.iter().map(|file| file.name.as_str()))
        })
    }

    fn name(&self, file: usize) -> &str {
        &self.list[file].name
    }
}

/// Sums over the record so far, checked so that a replay need not fear overflow.
#[derive(Default)]
struct Sums {
    read: u64,
    written: u64,
    sent: u64,
    collective: u64,
    operations: u64,
}

struct Reader {
    head: Head,
    files: Files,
    kinds: Vec<String>,
    kind_index: Index,
    phases: Vec<Phase>,
    names: Set<String>,
    /// For each node, the number of phases when it last had a step.
    last_step: Vec<usize>,
    budget: Budget,
    sums: Sums,
}

impl Reader {
    fn new(mut head: Head, budget: Budget) -> Self {
        let list = std::mem::take(&mut head.files);
        let index = list.iter().enumerate().map(|(index, file)| (file.name.clone(), index)).collect();
        Reader {
            last_step: vec![0; head.nodes],
            head,
            files: Files { list, index },
            kinds: Vec::new(),
            kind_index: Index::default(),
            phases: Vec::new(),
            names: Set::default(),
            budget,
            sums: Sums::default(),
        }
    }

    fn process_line(&mut self, line: Line) -> ParseResult<()> {
        self.begin_phase(&line.phase)?;
        if line.collective.is_some() { self.collective(line) } else { self.step(line) }
    }

    /// Begins a phase if its name is a new one.
    fn begin_phase(&mut self, name: &Name) -> ParseResult<()> {
        if self.phases.last().is_some_and(|phase| phase.name == name.0) {
            return Ok(());
        }
        if !self.names.insert(name.0.to_string()) {
            return Err(Fault::new(
                format!("the phase `{}` appears again after another phase", name.0),
                "group the lines of a phase; number phases that repeat: `pass 1`, `pass 2`",
            ));
        }
        self.budget.take::<NodeStep>(self.head.nodes)?;
        let steps = vec![NodeStep::default(); self.head.nodes];
        self.phases.push(Phase { name: name.0.to_string(), steps, collectives: Vec::new() });
        Ok(())
    }

    fn step(&mut self, line: Line) -> ParseResult<()> {
        if let Some(key) = line.collective_key() {
            return Err(Fault::new(
                format!("`{key}` on the line of a step"),
                "put the bytes of a step into `reads`, `writes` or `sends`, or add `collective`",
            ));
        }
        let selector = match (&line.node, &line.nodes) {
            (Some(_), Some(_)) => {
                return Err(Fault::new("`node` and `nodes` on one line", "keep one of the two"));
            }
            (None, None) => {
                return Err(Fault::new(
                    "the line names no node or group",
                    r#"add `"node": 0`, or `"nodes": "all"`, or `"collective"` where it is one"#,
                ));
            }
            (Some(selector), None) | (None, Some(selector)) => selector,
        };
        let members = self.head.groups.members(selector)?;
        let nodes = self.head.nodes;
        let reads = sketches(line.reads, false, nodes, &self.files)?;
        let writes = sketches(line.writes, true, nodes, &self.files)?;
        let mut operations = Vec::new();
        for (name, count) in line.operations.map(|pairs| pairs.0).unwrap_or_default() {
            if count.0 > 0 {
                operations.push((self.kind(&name), count.0));
            }
        }
        operations.sort_unstable();
        let message_bytes = line.message_bytes.map(|bytes| bytes.0);
        if message_bytes == Some(0) {
            return Err(Fault::new("messages of 0 bytes", "give their size, or omit `message_bytes`"));
        }
        let mut sends = line.sends;
        if let Some(sends) = &sends {
            sends.check(nodes)?;
            self.budget.take::<(u32, u64)>(members.len().saturating_mul(sends.max_pairs(nodes)))?;
        }
        self.budget.take::<FileAccess>(members.len().saturating_mul(reads.len() + writes.len()))?;
        self.budget.take::<(usize, u64)>(members.len().saturating_mul(operations.len()))?;
        for (rank, node) in members.iter().copied().enumerate() {
            self.claim(node)?;
            // Most lines are of one node, which takes the sends without a copy.
            let sends = if rank + 1 == members.len() { sends.take() } else { sends.clone() };
            let sends = sends.map(|sends| sends.for_node(node, nodes));
            let access_on_node =
                |sketch: &super::access::Sketch| sketch.for_node(node, &self.files.list).transpose();
            let step = NodeStep {
                reads: reads.iter().filter_map(access_on_node).collect::<ParseResult<_>>()?,
                writes: writes.iter().filter_map(access_on_node).collect::<ParseResult<_>>()?,
                operations: operations.clone(),
                sends: sends.unwrap_or_default(),
                message_bytes,
                memory: line.memory.map_or(0, |memory| memory.0),
            };
            self.add(&step)?;
            if let Some(phase) = self.phases.last_mut() {
                phase.steps[node] = step;
            }
        }
        Ok(())
    }

    /// Refuses a second step of a node in a phase.
    fn claim(&mut self, node: usize) -> ParseResult<()> {
        if self.last_step[node] == self.phases.len() {
            let phase = self.phases.last().map_or("", |phase| &phase.name);
            return Err(Fault::new(
                format!("a second step of node {node} in the phase `{phase}`"),
                "put all operations of a node in a phase on one line",
            ));
        }
        self.last_step[node] = self.phases.len();
        Ok(())
    }

    fn add(&mut self, step: &NodeStep) -> ParseResult<()> {
        let sums = &mut self.sums;
        step.reads.iter().try_for_each(|access| add(&mut sums.read, access.bytes, "the bytes read"))?;
        step.writes
            .iter()
            .try_for_each(|access| add(&mut sums.written, access.bytes, "the bytes written"))?;
        step.operations
            .iter()
            .try_for_each(|(_, count)| add(&mut sums.operations, *count, "the operations"))?;
        step.sends.iter().try_for_each(|(_, bytes)| add(&mut sums.sent, *bytes, "the bytes sent"))
    }

    fn kind(&mut self, name: &Name) -> usize {
        if let Some(kind) = self.kind_index.get(&*name.0) {
            return *kind;
        }
        let kind = self.kinds.len();
        self.kinds.push(name.0.to_string());
        self.kind_index.insert(name.0.to_string(), kind);
        kind
    }

    fn collective(&mut self, line: Line) -> ParseResult<()> {
        if let Some(key) = line.step_key() {
            return Err(Fault::new(
                format!("`{key}` on the line of a collective"),
                "list its members in `group`, and put steps of single nodes on lines without `collective`",
            ));
        }
        let name = line.collective.as_ref().map_or("", |name| &name.0);
        let Some(kind) = CollectiveKind::ALL.into_iter().find(|kind| kind.name() == name) else {
            return Err(Fault::unknown_name(
                "collective",
                name,
                CollectiveKind::ALL.map(CollectiveKind::name),
            ));
        };
        let members = match &line.group {
            Some(group) => self.head.groups.members(group)?,
            None => (0..self.head.nodes).collect(),
        };
        if members.is_empty() {
            return Err(Fault::new(format!("a {name} without members"), "name nodes, or omit `group`"));
        }
        self.budget.take::<(usize, u64)>(members.len())?;
        let sizes = match line.bytes {
            Some(sizes) => sizes,
            None if kind == CollectiveKind::Barrier => Sizes::Same(0),
            None => {
                return Err(Fault::new(
                    format!("a {name} without `bytes`"),
                    "add `\"bytes\": ...`: one number, or one for each member",
                ));
            }
        };
        let bytes = sizes.into_vec(members.len()).map_err(|count| {
            Fault::new(
                format!("{count} numbers in `bytes` for {} members", members.len()),
                "give one number for all, or one for each member",
            )
        })?;
        if kind == CollectiveKind::Barrier && bytes.iter().any(|bytes| *bytes > 0) {
            return Err(Fault::new("a barrier with `bytes`", "omit them: a barrier transfers no data"));
        }
        // The bytes of a member may be sent to all members.
        for bytes in &bytes {
            let received_bytes = bytes.saturating_mul(members.len() as u64);
            add(&mut self.sums.collective, received_bytes, "the bytes of collectives, each to all members,")?;
        }
        let root = root(kind, line.root.map(|root| root.0), &members)?;
        if let Some(phase) = self.phases.last_mut() {
            phase.collectives.push(Collective { kind, bytes, members, root });
        }
        Ok(())
    }

    fn finish(mut self) -> Work {
        self.order_kinds();
        Work {
            job: self.head.job,
            parameters: self.head.parameters,
            seed: self.head.seed,
            nodes: self.head.nodes,
            answer: self.head.answer,
            files: self.files.list,
            groups: self.head.groups.list,
            kinds: self.kinds,
            phases: self.phases,
        }
    }

    /// Numbers kinds of operations by phase and node: the order of lines within a phase has no meaning, and records
    /// with the same content must be equal.
    fn order_kinds(&mut self) {
        let mut order: Vec<Option<usize>> = vec![None; self.kinds.len()];
        let mut kinds = Vec::with_capacity(self.kinds.len());
        for step in self.phases.iter_mut().flat_map(|phase| &mut phase.steps) {
            for (kind, _) in &mut step.operations {
                let name = &self.kinds[*kind];
                *kind = *order[*kind].get_or_insert_with(|| {
                    kinds.push(name.clone());
                    kinds.len() - 1
                });
            }
            step.operations.sort_unstable();
        }
        self.kinds = kinds;
    }
}

/// The index of the member that is the root; the first where the line names none.
fn root(kind: CollectiveKind, number: Option<u64>, members: &[usize]) -> ParseResult<usize> {
    let Some(number) = number else { return Ok(0) };
    if !kind.has_root() {
        return Err(Fault::new(format!("a root of the collective `{}`", kind.name()), "omit `root`"));
    }
    let root = usize::try_from(number).ok().filter(|root| *root < members.len());
    root.ok_or_else(|| {
        Fault::new(
            format!("there is no member {number} to be the root"),
            format!("members are counted from 0: give 0 to {}", members.len() - 1),
        )
    })
}
