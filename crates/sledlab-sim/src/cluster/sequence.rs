//! The pages that a step reads or writes, in order; nested loops pass over the same pages again and again.

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

/// Where the pages of a sequence lie, and how random ones are drawn.
pub(super) struct SequencePlace<'a> {
    pub node: &'a Node,
    pub files: &'a Files,
    pub seed: u64,
    /// Name of the streams of random accesses, made of phase and node.
    pub name: &'a str,
}

impl Sequence {
    /// The sequence of `accesses`; `bytes_of` gives the bytes that a file holds on the node.
    pub fn new(
        place: &SequencePlace,
        accesses: &[work::FileAccess],
        bytes_of: impl Fn(usize) -> u64,
    ) -> Self {
        let touch = |(index, access): (usize, &work::FileAccess)| {
            let order = match access.order {
                work::PageOrder::Sequential => AccessOrder::Sequential,
                work::PageOrder::Random => AccessOrder::Random,
                work::PageOrder::Merge { runs } | work::PageOrder::Streams { runs } => {
                    AccessOrder::Interleaved(runs)
                }
            };
            let name = format!("{} {index}", place.name);
            let pages = place.files.pages(access.file);
            let page = place.node.page_bytes();
            Touch {
                file: access.file,
                pages: Pages::new(order, access.bytes, page, pages, place.seed, &name),
            }
        };
        let asked = || accesses.iter().enumerate().filter(|(_, access)| access.bytes > 0);
        let outers: Vec<usize> = asked().filter_map(|(_, access)| access.per_block_of).collect();
        let block_pages = place.node.block_bytes() / place.node.page_bytes();
        // A file that is read alone is an access of its own, unless a nested loop reads it block by block; any further
        // read of that file is then an access of its own too.
        let own = |file: usize| {
            move |(_, access): &(usize, &work::FileAccess)| {
                access.file == file && access.per_block_of.is_none()
            }
        };
        let is_alone = |(index, access): &(usize, &work::FileAccess)| {
            let is_outer = |(first, _)| outers.contains(&access.file) && first == *index;
            access.per_block_of.is_none() && !asked().find(own(access.file)).is_some_and(is_outer)
        };
        let mut parts: Vec<Part> = asked().filter(is_alone).map(touch).map(Part::Once).collect();
        let mut looped = Vec::new();
        for outer in outers {
            if looped.contains(&outer) {
                continue;
            }
            looped.push(outer);
            let of_outer = |access: &work::FileAccess| access.per_block_of == Some(outer);
            let blocks_of = |bytes: u64| bytes.div_ceil(place.node.page_bytes()).div_ceil(block_pages);
            let read = asked().find(own(outer));
            let passes = blocks_of(read.map_or_else(|| bytes_of(outer), |(_, access)| access.bytes));
            parts.push(Part::Nested {
                outer: read.map(touch),
                block_pages,
                inner: asked().filter(|(_, access)| of_outer(access)).map(touch).collect(),
                passes,
            });
        }
        let pages = parts.iter().map(Part::len).sum();
        Sequence { parts, pages }
    }

    /// Number of pages, those of every pass counted.
    pub fn len(&self) -> u64 {
        self.pages
    }
}

impl Sequence {
    /// The end of a pass of a nested loop when `done` pages are done, or the beginning of its first; `None` elsewhere.
    pub fn pass_after(&self, done: u64) -> Option<Pass> {
        let mut before = 0;
        for part in &self.parts {
            let len = part.len();
            if done < before + len || (done == self.pages && done == before + len) {
                return part.pass_after(done - before);
            }
            before += len;
        }
        None
    }
}

impl Part {
    fn pass_after(&self, done: u64) -> Option<Pass> {
        let Part::Nested { outer, block_pages, inner, passes } = self else { return None };
        let outer_pages = outer.as_ref().map_or(0, |outer| outer.pages.len());
        let inner_pages = inner.iter().map(|touch| touch.pages.len()).sum::<u64>();
        let inner_blocks = inner.iter().map(|touch| touch.pages.blocks()).sum::<u64>();
        let (mut pages, mut blocks) = (inner_pages, inner_blocks);
        if let Some(outer) = outer {
            pages += block_pages;
            blocks += block_pages * outer.pages.page_blocks();
        }
        let ended = if done == self.len() { *passes } else { done / pages.max(1) };
        let end = ended * inner_pages + (ended * block_pages).min(outer_pages);
        let whole = outer.is_none() || outer_pages.is_multiple_of(*block_pages);
        let left = passes - ended;
        // The last pass may have fewer pages than the others.
        let alike = if whole { left } else { left.saturating_sub(1) };
        (end == done).then_some(Pass { ended, alike, pages, blocks })
    }

    fn len(&self) -> u64 {
        match self {
            Part::Once(touch) => touch.pages.len(),
            Part::Nested { outer, inner, passes, .. } => {
                let outer = outer.as_ref().map_or(0, |outer| outer.pages.len());
                outer + passes * inner.iter().map(|touch| touch.pages.len()).sum::<u64>()
            }
        }
    }

    /// The access of a stage of a pass, the first of its pages, and the end of these: `None` past the last stage.
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

/// A place in a [`Sequence`].
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
    /// The next page: its first block and number of blocks.
    #[inline]
    pub fn next(&mut self, sequence: &Sequence, files: &Files) -> Option<(u64, u32)> {
        while self.turn == self.end {
            if !self.enter(sequence) {
                return None;
            }
        }
        let (touch, ..) = sequence.parts[self.part].stage(self.pass, self.stage)?;
        let (page, blocks) = touch.pages.at(self.turn);
        self.turn += 1;
        Some((files.block(touch.file, page), blocks))
    }

    /// Goes to the next stage; false at the end of the sequence.
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

    /// Skips `passes` passes.
    pub fn skip(&mut self, passes: u64) {
        self.pass += passes;
    }

    /// Skips `pages` pages; returns the number of their blocks.
    pub fn forward(&mut self, sequence: &Sequence, files: &Files, pages: u64) -> u64 {
        (0..pages).map_while(|_| self.next(sequence, files)).map(|(_, blocks)| u64::from(blocks)).sum()
    }
}

/// The end of a pass, or the beginning of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// Passes that have ended.
    pub ended: u64,
    /// Passes that follow and have as many pages as those before.
    pub alike: u64,
    /// Pages of each pass.
    pub pages: u64,
    /// Blocks of those pages.
    pub blocks: u64,
}
