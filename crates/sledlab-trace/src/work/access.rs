//! Reads and writes of a step: the accesses on a line, applied to each of its nodes.

use sledlab_core::hash::{Map, Set};

use super::counts::Name;
use super::fault::{Fault, ParseResult};
use super::lines::{Object, RawAccess};
use super::{File, FileAccess, PageOrder};

const ORDERS: [&str; 4] = ["sequential", "random", "merge", "streams"];

/// Finds a file by its name.
pub(super) trait FindFile {
    /// The index of the file.
    fn find(&self, name: &Name) -> ParseResult<usize>;

    /// The name of the file with this index.
    fn name(&self, file: usize) -> &str;
}

/// An access of a line, which holds for several nodes.
pub(super) struct Sketch {
    file: usize,
    bytes: Option<u64>,
    order: PageOrder,
    per_block_of: Option<usize>,
}

/// The sketches of `reads`, or of `writes`.
pub(super) fn sketches(
    raw: Option<Vec<Object<RawAccess>>>,
    writes: bool,
    nodes: usize,
    files: &impl FindFile,
) -> ParseResult<Vec<Sketch>> {
    let raw = raw.unwrap_or_default().into_iter();
    let sketches: Vec<Sketch> =
        raw.map(|Object(raw)| sketch(&raw, writes, nodes, files)).collect::<ParseResult<_>>()?;
    refuse_deep_loops(&sketches, files)?;
    Ok(sketches)
}

/// Refuses loops in loops: an outer file that is an inner file, too, so that cycles are refused as well.
fn refuse_deep_loops(sketches: &[Sketch], files: &impl FindFile) -> ParseResult<()> {
    let outer_of: Map<usize, usize> =
        sketches.iter().filter_map(|sketch| Some((sketch.file, sketch.per_block_of?))).collect();
    let loops = sketches.iter().filter_map(|sketch| Some((sketch.file, sketch.per_block_of?)));
    let Some((inner, outer)) = loops.into_iter().find(|(_, outer)| outer_of.contains_key(outer)) else {
        return Ok(());
    };
    let mut chain = vec![inner, outer];
    let mut visited: Set<usize> = chain.iter().copied().collect();
    while let Some(next) = chain.last().and_then(|last| outer_of.get(last)) {
        chain.push(*next);
        if !visited.insert(*next) {
            break;
        }
    }
    let pair = |pair: &[usize]| {
        format!("`{}` is read again for every block of `{}`", files.name(pair[0]), files.name(pair[1]))
    };
    let pairs: Vec<String> = chain.windows(2).map(pair).collect();
    Err(Fault::new(
        format!("{}: a nested loop has one outer file", pairs.join(", ")),
        "an outer file is not the inner file of another loop in the same step: use separate phases for the loops",
    ))
}

fn sketch(raw: &RawAccess, writes: bool, nodes: usize, files: &impl FindFile) -> ParseResult<Sketch> {
    let file = files.find(&raw.file)?;
    let per_block_of = raw.per_block_of.as_ref().map(|name| files.find(name)).transpose()?;
    if per_block_of.is_some() && writes {
        return Err(Fault::new(
            "`per_block_of` in `writes`",
            "only reads are repeated: omit it, and write all bytes once",
        ));
    }
    if per_block_of == Some(file) {
        return Err(Fault::new(
            format!("`{}` is read again for every block of itself", raw.file.0),
            "name the other file of the loop in `per_block_of`",
        ));
    }
    Ok(Sketch { file, bytes: raw.bytes.map(|bytes| bytes.0), order: order(raw, nodes)?, per_block_of })
}

fn order(raw: &RawAccess, nodes: usize) -> ParseResult<PageOrder> {
    let name = raw.order.as_ref().map_or("sequential", |order| &order.0);
    let runs = raw.runs.map(|runs| runs.0);
    if runs == Some(0) {
        return Err(Fault::new("`runs` is 0", "give the number of runs, 1 or more"));
    }
    match (name, runs) {
        ("sequential", None) => Ok(PageOrder::Sequential),
        ("random", None) => Ok(PageOrder::Random),
        ("sequential" | "random", Some(_)) => Err(Fault::new(
            format!("`runs` with the order `{name}`"),
            "omit `runs`, or choose `merge` or `streams`",
        )),
        ("merge", Some(runs)) => Ok(PageOrder::Merge { runs }),
        ("merge", None) => {
            Err(Fault::new("the order `merge` without `runs`", "add `\"runs\": ...`, the number of runs"))
        }
        ("streams", runs) => Ok(PageOrder::Streams { runs: runs.unwrap_or(nodes as u64) }),
        _ => Err(Fault::unknown_name("order", name, ORDERS)),
    }
}

impl Sketch {
    /// The access on one node; `None` where it has no bytes to access there.
    pub(super) fn for_node(&self, node: usize, files: &[File]) -> ParseResult<Option<FileAccess>> {
        let file = &files[self.file];
        let size = file.bytes[node];
        let bytes = self.bytes.unwrap_or(size);
        if bytes > size {
            return Err(Fault::new(
                format!("{bytes} bytes of `{}`, which has {size} on node {node}", file.name),
                "correct the bytes, or the size of the file in the header",
            ));
        }
        if bytes == 0 {
            return Ok(None);
        }
        if let Some(outer) = self.per_block_of.map(|outer| &files[outer])
            && outer.bytes[node] == 0
        {
            return Err(Fault::new(
                format!("`{}` has no blocks on node {node}: it is empty there", outer.name),
                "omit the read on that node, or give the file its size in the header",
            ));
        }
        Ok(Some(FileAccess {
            file: self.file,
            bytes,
            order: self.order,
            per_block_of: self.per_block_of,
            is_background: false,
        }))
    }
}

/// The name of an order in a record, and its runs where the record must state them.
pub(super) fn encode_order(order: PageOrder, nodes: usize) -> (Option<&'static str>, Option<u64>) {
    match order {
        PageOrder::Sequential => (None, None),
        PageOrder::Random => (Some("random"), None),
        PageOrder::Merge { runs } => (Some("merge"), Some(runs)),
        PageOrder::Streams { runs } => (Some("streams"), Some(runs).filter(|runs| *runs != nodes as u64)),
    }
}
