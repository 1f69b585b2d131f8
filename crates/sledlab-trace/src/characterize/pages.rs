//! The pages of units in the caches of [`super::reuse`].

use sledlab_core::hash::Map;

use super::written_reuse::NO_POSITION;

/// The index of no entry.
pub(super) const NO_ENTRY: u32 = u32::MAX;

/// Units of a page: neighboring units share one look-up.
pub(super) const PAGE_UNITS: u64 = 16;

/// The pages whose units are in a cache. So the memory is bounded by the largest cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    pub(super) index: Map<u64, u32>,
    pub(super) table: Vec<Page>,
    /// Places in the table that hold no page.
    free: Vec<u32>,
    /// Number of pages with positions of written units.
    pub(super) written: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Page {
    /// [`NO_KEY`] if the place holds no page.
    key: u64,
    /// Units with an entry.
    resident: u16,
    /// A bit for each unit with a position.
    pub(super) written: u16,
    pub(super) units: [Unit; PAGE_UNITS as usize],
}

/// A unit: its entry in the list of used units, and its position among the written units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    slot: u32,
    pub(super) position: u32,
}

/// The key of no page: devices have fewer pages.
const NO_KEY: u64 = u64::MAX;

impl Pages {
    /// The place of the page with that key, which may be at `known`; a page is made where there is none.
    #[inline]
    pub(super) fn find(&mut self, key: u64, known: u32) -> u32 {
        match self.table.get(known as usize) {
            Some(page) if page.key == key => known,
            _ => self.look_up(key),
        }
    }

    fn look_up(&mut self, key: u64) -> u32 {
        *self.index.entry(key).or_insert_with(|| {
            let units = [Unit { slot: NO_ENTRY, position: NO_POSITION }; PAGE_UNITS as usize];
            let page = Page { key, resident: 0, written: 0, units };
            if let Some(place) = self.free.pop() {
                self.table[place as usize] = page;
                return place;
            }
            self.table.push(page);
            (self.table.len() - 1) as u32
        })
    }

    #[inline]
    pub(super) fn slot(&self, page: u32, unit: u16) -> u32 {
        self.table[page as usize].units[usize::from(unit)].slot
    }

    /// The oldest position of units of a page; `None` if one of them has none.
    #[inline]
    pub(super) fn oldest_position(&self, page: u32, first: u16, count: u16) -> Option<u32> {
        let units = &self.table[page as usize].units[usize::from(first)..usize::from(first + count)];
        units.iter().try_fold(u32::MAX, |oldest, unit| {
            (unit.position != NO_POSITION).then_some(oldest.min(unit.position))
        })
    }

    #[inline]
    pub(super) fn enter(&mut self, page: u32, unit: u16, slot: u32) {
        let page = &mut self.table[page as usize];
        page.units[usize::from(unit)].slot = slot;
        page.resident += 1;
    }

    #[inline]
    pub(super) fn leave(&mut self, place: u32, unit: u16) {
        let page = &mut self.table[place as usize];
        page.units[usize::from(unit)].slot = NO_ENTRY;
        page.resident -= 1;
        self.remove_if_unused(place);
    }

    #[inline]
    pub(super) fn remove_if_unused(&mut self, place: u32) {
        let page = &mut self.table[place as usize];
        if page.resident == 0 && page.written == 0 {
            self.index.remove(&page.key);
            page.key = NO_KEY;
            self.free.push(place);
        }
    }
}
