//! The pages that a step reads or writes, in order. Nested loops read the same pages repeatedly.

use sledlab_core::hash::Map;
use sledlab_models::node::{AccessOrder, Files, Node, Pages};
use sledlab_trace::work;

/// The pages of an access to one file.
struct Touch {
    file: usize,
    pages: Pages,
}

/// Accesses of a step that follow one another: a single one, or a nested loop.
enum Part {
    /// One access.
    Once(Touch),
    /// A nested loop: for each block of an outer file, that block and then all of the inner files.
    Nested { outer: Option<Touch>, block_pages: u64, inner: Vec<Touch>, passes: u64 },
}

/// All pages that a step reads, or all that it writes, in order.
#[derive(Default)]
pub(super) struct Sequence {
    parts: Vec<Part>,
    pages: u64,
}

/// Positions of the pages of a sequence, and the source of random positions.
pub(super) struct SequencePlace<'a> {
    pub node: &'a Node,
    pub files: &'a Files,
    pub seed: u64,
    /// Name of the streams of random accesses, made of phase and node.
    pub name: &'a str,
}

/// The order of the accesses of a step: first the accesses that no nested loop reads block by block, then the loops.
/// Accesses are indices into those of the step.
#[derive(Debug, Default)]
struct Outline {
    single: Vec<usize>,
    loops: Vec<LoopOutline>,
}

/// A nested loop.
#[derive(Debug)]
struct LoopOutline {
    /// The outer file, and the access that reads its blocks, if the step reads it.
    file: usize,
    outer: Option<usize>,
    inner: Vec<usize>,
}

impl Outline {
    fn new(accesses: &[work::FileAccess]) -> Self {
        let mut outline = Outline::default();
        let non_empty = || accesses.iter().enumerate().filter(|(_, access)| access.bytes > 0);
        let mut loop_of: Map<usize, usize> = Map::default();
        for (index, access) in non_empty() {
            let Some(file) = access.per_block_of else { continue };
            let loop_index = *loop_of.entry(file).or_insert_with(|| {
                outline.loops.push(LoopOutline { file, outer: None, inner: Vec::new() });
                outline.loops.len() - 1
            });
            outline.loops[loop_index].inner.push(index);
        }
        for (index, access) in non_empty().filter(|(_, access)| access.per_block_of.is_none()) {
            // A loop reads its outer file block by block; a further read of that file is a separate access.
            let enclosing_loop = loop_of.get(&access.file).filter(|_| !access.is_background);
            match enclosing_loop.map(|loop_index| &mut outline.loops[*loop_index]) {
                Some(LoopOutline { outer: outer @ None, .. }) => *outer = Some(index),
                _ => outline.single.push(index),
            }
        }
        outline
    }
}

/// Returns the number of passes of a loop over an outer file, of which `bytes` are read.
fn passes(node: &Node, bytes: u64) -> u64 {
    bytes.div_ceil(node.page_bytes()).div_ceil(block_pages(node))
}

fn block_pages(node: &Node) -> u64 {
    node.block_bytes() / node.page_bytes()
}

/// Returns the pages and bytes of accesses, with every pass counted; `bytes_of` returns the size of a file on the node.
/// With `once`, the passes of a loop count as one.
pub(super) fn extent(
    node: &Node,
    accesses: &[work::FileAccess],
    bytes_of: impl Fn(usize) -> u64,
    once: bool,
) -> (u128, u128) {
    let totals = |indices: &[usize], passes: u64| {
        let bytes = || indices.iter().map(|index| accesses[*index].bytes);
        let pages: u128 = bytes().map(|bytes| u128::from(bytes.div_ceil(node.page_bytes()))).sum();
        (pages * u128::from(passes), bytes().map(u128::from).sum::<u128>() * u128::from(passes))
    };
    let outline = Outline::new(accesses);
    let mut total = totals(&outline.single, 1);
    for nested in &outline.loops {
        let outer = nested.outer.map_or_else(|| bytes_of(nested.file), |index| accesses[index].bytes);
        let passes = if once { 1 } else { passes(node, outer) };
        let parts = [totals(nested.outer.as_slice(), 1), totals(&nested.inner, passes)];
        for (pages, bytes) in parts {
            total = (total.0 + pages, total.1 + bytes);
        }
    }
    total
}

impl Sequence {
    /// Returns the sequence of `accesses`; `bytes_of` returns the size of a file on the node.
    pub fn new(
        context: &SequencePlace,
        accesses: &[work::FileAccess],
        bytes_of: impl Fn(usize) -> u64,
    ) -> Self {
        let touch = |index: usize| {
            let access = &accesses[index];
            let order = match access.order {
                work::PageOrder::Sequential => AccessOrder::Sequential,
                work::PageOrder::Random => AccessOrder::Random,
                work::PageOrder::Merge { runs } | work::PageOrder::Streams { runs } => {
                    AccessOrder::Interleaved(runs)
                }
            };
            let name = format!("{} {index}", context.name);
            let pages = context.files.pages(access.file);
            let page_bytes = context.node.page_bytes();
            Touch {
                file: access.file,
                pages: Pages::new(order, access.bytes, page_bytes, pages, context.seed, &name),
            }
        };
        let outline = Outline::new(accesses);
        let mut parts: Vec<Part> = outline.single.into_iter().map(touch).map(Part::Once).collect();
        parts.extend(outline.loops.into_iter().map(|nested| {
            let outer_bytes =
                nested.outer.map_or_else(|| bytes_of(nested.file), |index| accesses[index].bytes);
            Part::Nested {
                outer: nested.outer.map(touch),
                block_pages: block_pages(context.node),
                inner: nested.inner.into_iter().map(touch).collect(),
                passes: passes(context.node, outer_bytes),
            }
        }));
        let pages = parts.iter().map(Part::len).sum();
        Sequence { parts, pages }
    }

    /// Returns the number of pages, with every pass counted.
    pub fn len(&self) -> u64 {
        self.pages
    }

    /// Returns the nested loops, in order.
    pub fn loops(&self) -> Vec<Loop> {
        let mut loops = Vec::new();
        let mut start = 0;
        for part in &self.parts {
            if let Part::Nested { outer, block_pages, inner, passes } = part {
                // The last pass may have fewer pages than the others.
                let full_passes = outer.as_ref().map_or(*passes, |outer| outer.pages.len() / block_pages);
                let outer_pages = if outer.is_some() { *block_pages } else { 0 };
                let pages = outer_pages + inner.iter().map(|touch| touch.pages.len()).sum::<u64>();
                loops.push(Loop { start, passes: full_passes, pages });
            }
            start += part.len();
        }
        loops
    }
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Part::Once(touch) => touch.pages.len(),
            Part::Nested { outer, inner, passes, .. } => {
                let outer = outer.as_ref().map_or(0, |outer| outer.pages.len());
                outer + passes * inner.iter().map(|touch| touch.pages.len()).sum::<u64>()
            }
        }
    }

    /// Returns the access of a stage of a pass, and its first and last page; `None` after the last stage.
    fn stage(&self, pass: u64, stage: usize) -> Option<(&Touch, u64, u64)> {
        match self {
            Part::Once(touch) => (stage == 0).then(|| (touch, 0, touch.pages.len())),
            Part::Nested { outer, block_pages, inner, .. } => {
                if let (Some(outer), 0) = (outer, stage) {
                    let end = outer.pages.len();
                    return Some((outer, (pass * block_pages).min(end), ((pass + 1) * block_pages).min(end)));
                }
                let touch = inner.get(stage - usize::from(outer.is_some()))?;
                Some((touch, 0, touch.pages.len()))
            }
        }
    }

    fn passes(&self) -> u64 {
        match self {
            Part::Once(_) => 1,
            Part::Nested { passes, .. } => *passes,
        }
    }
}

/// A position in a [`Sequence`].
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    part: usize,
    pass: u64,
    stage: usize,
    /// Next page of the stage, and the end of the stage; both 0 before the first stage.
    turn: u64,
    end: u64,
    has_begun: bool,
}

impl Cursor {
    /// Returns the next page: its first block and number of blocks.
    #[inline]
    pub fn next(&mut self, sequence: &Sequence, files: &Files) -> Option<(u64, u32)> {
        while self.turn == self.end {
            if !self.enter(sequence) {
                return None;
            }
        }
        let (touch, ..) = sequence.parts[self.part].stage(self.pass, self.stage)?;
        let (page, blocks) = touch.pages.page(self.turn);
        self.turn += 1;
        Some((files.block(touch.file, page), blocks))
    }

    /// Advances to the next stage; returns false at the end of the sequence.
    fn enter(&mut self, sequence: &Sequence) -> bool {
        if self.has_begun {
            self.stage += 1;
        }
        self.has_begun = true;
        while let Some(part) = sequence.parts.get(self.part) {
            if self.pass < part.passes() {
                if let Some((_, from, end)) = part.stage(self.pass, self.stage) {
                    (self.turn, self.end) = (from, end);
                    return true;
                }
                self.pass += 1;
            } else {
                self.part += 1;
                self.pass = 0;
            }
            self.stage = 0;
        }
        false
    }

    /// Skips `passes` passes after the current one; returns the number of their blocks.
    pub fn skip_passes(&mut self, sequence: &Sequence, passes: u64) -> u64 {
        let first = self.pass + 1;
        self.pass += passes;
        let Some(Part::Nested { outer, block_pages, inner, .. }) = sequence.parts.get(self.part) else {
            return 0;
        };
        let inner: u64 = inner.iter().map(|touch| touch.pages.blocks()).sum();
        let turns = first * block_pages..(first + passes) * block_pages;
        outer.as_ref().map_or(0, |outer| outer.pages.blocks_of_turns(turns)) + passes * inner
    }

    /// Skips `pages` pages; returns the number of their blocks.
    pub fn skip_pages(&mut self, sequence: &Sequence, files: &Files, pages: u64) -> u64 {
        (0..pages).map_while(|_| self.next(sequence, files)).map(|(_, blocks)| u64::from(blocks)).sum()
    }
}

/// A nested loop in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// Pages before the loop.
    pub start: u64,
    /// Number of passes that have as many pages as the first.
    pub passes: u64,
    /// Number of pages in each of these passes.
    pub pages: u64,
}
