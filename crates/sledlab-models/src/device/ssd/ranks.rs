//! The full blocks of a die by number of valid pages: finds a block with the fewest at once.

/// Marks the end of a list.
const NIL: u32 = u32::MAX;

/// A list of blocks for each number of valid pages.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// The first block of each list.
    first: Vec<u32>,
    /// For each block: the blocks before and after it in its list.
    previous: Vec<u32>,
    following: Vec<u32>,
    /// Lower bound of the number of valid pages: all lists below are empty.
    lowest: u32,
}

impl Ranks {
    /// Empty lists for blocks with numbers below `blocks` and up to `pages` valid pages each.
    pub fn new(blocks: u32, pages: u32) -> Self {
        Ranks {
            first: vec![NIL; pages as usize + 1],
            previous: vec![NIL; blocks as usize],
            following: vec![NIL; blocks as usize],
            lowest: pages,
        }
    }

    /// Adds a block with `valid` valid pages.
    pub fn insert(&mut self, block: u32, valid: u32) {
        let next = std::mem::replace(&mut self.first[valid as usize], block);
        self.previous[block as usize] = NIL;
        self.following[block as usize] = next;
        if next != NIL {
            self.previous[next as usize] = block;
        }
        self.lowest = self.lowest.min(valid);
    }

    /// Moves a block to the list of `valid` valid pages from that of one more.
    pub fn lower(&mut self, block: u32, valid: u32) {
        self.remove(block, valid + 1);
        self.insert(block, valid);
    }

    /// Removes and returns a block with the fewest valid pages.
    pub fn pop_lowest(&mut self) -> Option<u32> {
        let lists = self.first.iter().enumerate().skip(self.lowest as usize);
        let (valid, block) =
            lists.map(|(valid, block)| (valid as u32, *block)).find(|(_, block)| *block != NIL)?;
        self.lowest = valid;
        self.remove(block, valid);
        Some(block)
    }

    fn remove(&mut self, block: u32, valid: u32) {
        let (previous, following) = (self.previous[block as usize], self.following[block as usize]);
        if previous == NIL {
            self.first[valid as usize] = following;
        } else {
            self.following[previous as usize] = following;
        }
        if following != NIL {
            self.previous[following as usize] = previous;
        }
    }
}
