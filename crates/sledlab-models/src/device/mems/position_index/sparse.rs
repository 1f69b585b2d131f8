//! Tables that take memory for the entries they hold, not for all places.

/// The slot shared by all pages without entries.
const EMPTY_SLOT: u32 = 0;

/// A table in pages. Only pages with entries take memory; that of a page that becomes empty is reused for others.
#[derive(Clone, Debug)]
pub(super) struct Sparse<T> {
    empty: T,
    page_len: usize,
    /// By page: the number of its slot.
    slots: Vec<u32>,
    /// Entries, slot by slot; the first slot stays empty, so that reading an empty page is not a special case.
    entries: Vec<T>,
    /// By slot: number of its entries that are not empty.
    taken: Vec<u32>,
    /// Slots without a page.
    free: Vec<u32>,
}

impl<T: Copy + PartialEq> Sparse<T> {
    /// A table of `pages` pages of `page_len` entries, all `empty`.
    pub fn new(pages: usize, page_len: usize, empty: T) -> Self {
        Sparse {
            empty,
            page_len,
            slots: vec![EMPTY_SLOT; pages],
            entries: vec![empty; page_len],
            taken: vec![0],
            free: Vec::new(),
        }
    }

    /// The entry at place `at` of a page.
    #[inline]
    pub fn get(&self, page: usize, at: usize) -> T {
        self.page(page)[at]
    }

    /// All entries of a page.
    #[inline]
    pub fn page(&self, page: usize) -> &[T] {
        let begin = self.slots[page] as usize * self.page_len;
        &self.entries[begin..begin + self.page_len]
    }

    /// Whether a page has no entries.
    #[inline]
    pub fn is_empty(&self, page: usize) -> bool {
        self.slots[page] == EMPTY_SLOT
    }

    /// Replaces an entry, and returns the entry before.
    #[inline]
    pub fn replace(&mut self, page: usize, at: usize, entry: T) -> T {
        if self.slots[page] == EMPTY_SLOT {
            if entry == self.empty {
                return entry;
            }
            self.begin(page);
        }
        let slot = self.slots[page];
        let before = std::mem::replace(&mut self.entries[slot as usize * self.page_len + at], entry);
        let taken = &mut self.taken[slot as usize];
        *taken = *taken + u32::from(entry != self.empty) - u32::from(before != self.empty);
        if *taken == 0 {
            self.free.push(slot);
            self.slots[page] = EMPTY_SLOT;
        }
        before
    }

    /// Gives a page a slot, whose entries are all empty.
    fn begin(&mut self, page: usize) {
        self.slots[page] = self.free.pop().unwrap_or_else(|| {
            self.entries.resize(self.entries.len() + self.page_len, self.empty);
            self.taken.push(0);
            self.taken.len() as u32 - 1
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn table_size_is_bounded_by_slots_in_use(
            steps in prop::collection::vec((0_usize..9, 0_usize..5, 0_u8..3), 1..200),
        ) {
            let (mut ours, mut oracle, mut maximum) = (Sparse::new(9, 5, 0), [[0; 5]; 9], 0);
            for (page, at, entry) in steps {
                prop_assert_eq!(ours.replace(page, at, entry), std::mem::replace(&mut oracle[page][at], entry));
                for (page, entries) in oracle.iter().enumerate() {
                    prop_assert_eq!(ours.page(page), entries);
                    prop_assert_eq!(ours.is_empty(page), entries == &[0; 5]);
                    prop_assert_eq!(ours.get(page, at), entries[at]);
                }
                maximum = maximum.max(oracle.iter().filter(|entries| **entries != [0; 5]).count());
                prop_assert!(ours.taken.len() <= maximum + 2, "{} slots for {maximum} pages", ours.taken.len());
            }
        }
    }
}
