//! The full blocks of a die by how many of their pages hold data: finds one with the fewest at once.

/// No block.
const NONE: u32 = u32::MAX;

/// A list of blocks for each number of pages.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// The first block of each list.
    first: Vec<u32>,
    /// For each block, those before and after it in its list.
    before: Vec<u32>,
    after: Vec<u32>,
    /// No list below is occupied.
    lowest: u32,
}

impl Ranks {
    /// Of blocks below `blocks` with up to `pages` pages each.
    pub fn new(blocks: u32, pages: u32) -> Self {
        Ranks {
            first: vec![NONE; pages as usize + 1],
            before: vec![NONE; blocks as usize],
            after: vec![NONE; blocks as usize],
            lowest: pages,
        }
    }

    /// A block with `valid` pages comes in.
    pub fn insert(&mut self, block: u32, valid: u32) {
        let next = std::mem::replace(&mut self.first[valid as usize], block);
        self.before[block as usize] = NONE;
        self.after[block as usize] = next;
        if next != NONE {
            self.before[next as usize] = block;
        }
        self.lowest = self.lowest.min(valid);
    }

    /// A block is down to `valid` pages, from one more.
    pub fn lower(&mut self, block: u32, valid: u32) {
        self.remove(block, valid + 1);
        self.insert(block, valid);
    }

    /// Takes a block with the fewest pages out.
    pub fn pop_lowest(&mut self) -> Option<u32> {
        let lists = self.first.iter().enumerate().skip(self.lowest as usize);
        let (valid, block) =
            lists.map(|(valid, block)| (valid as u32, *block)).find(|(_, block)| *block != NONE)?;
        self.lowest = valid;
        self.remove(block, valid);
        Some(block)
    }

    fn remove(&mut self, block: u32, valid: u32) {
        let (before, after) = (self.before[block as usize], self.after[block as usize]);
        if before == NONE {
            self.first[valid as usize] = after;
        } else {
            self.after[before as usize] = after;
        }
        if after != NONE {
            self.before[after as usize] = before;
        }
    }
}
