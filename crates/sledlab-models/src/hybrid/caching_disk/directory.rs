//! The directory: which segments have a slot, and whose slot a further segment takes.

use sledlab_core::hash::Map;
use sledlab_core::{Error, Result};

use crate::replacement::{AccessResult, Choice, ReplacementPolicy, Use};

/// Segments with their slots.
pub(super) struct Directory {
    slots: u32,
    /// Slots below this number have been used.
    used_slots: u32,
    /// The slot of every segment in the directory.
    places: Map<u64, u32>,
    order: Order,
}

/// The order in which segments lose their slots.
enum Order {
    /// The segment whose last use is longest ago comes first. The list is indexed by slot, which saves a second
    /// look-up.
    LastUse(LastUseList),
    Policy(Box<dyn ReplacementPolicy>),
}

/// The slot of a segment that is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum SlotOf {
    /// The slot that the segment has.
    Resident(u32),
    /// The slot that the segment has from now on, and the segment that has lost it.
    New { slot: u32, victim: Option<u64> },
}

impl Directory {
    /// An empty directory of `slots` slots.
    ///
    /// # Errors
    /// No slot, and parameters that the policy refuses.
    pub fn new(policy: &Choice, slots: u32) -> Result<Self> {
        let order = if policy.evicts_by_last_use() {
            Order::LastUse(LastUseList::default())
        } else {
            Order::Policy(policy.make(slots as usize)?)
        };
        Ok(Directory { slots, used_slots: 0, places: Map::default(), order })
    }

    /// The slot of a segment.
    #[inline]
    pub fn slot(&self, segment: u64) -> Option<u32> {
        self.places.get(&segment).copied()
    }

    /// Whether a segment has a slot.
    pub fn holds(&self, segment: u64) -> bool {
        match &self.order {
            Order::LastUse(_) => self.places.contains_key(&segment),
            Order::Policy(policy) => policy.holds(segment),
        }
    }

    /// Uses a segment, which takes a slot if it has none.
    #[inline]
    pub fn access(&mut self, segment: u64) -> SlotOf {
        let victim = match &mut self.order {
            Order::LastUse(list) => {
                if let Some(slot) = self.places.get(&segment) {
                    list.bring_front(*slot);
                    return SlotOf::Resident(*slot);
                }
                (self.used_slots == self.slots).then(|| list.back())
            }
            Order::Policy(policy) => match policy.access(Use { key: segment, next: Use::NO_NEXT }) {
                AccessResult::Hit => return SlotOf::Resident(self.places[&segment]),
                AccessResult::Miss { victim } => victim,
            },
        };
        let (slot, victim) = self.assign_slot(segment, victim);
        SlotOf::New { slot, victim }
    }

    /// Gives a slot to a segment that has none, without using the segment. Returns the slot, and the segment that has
    /// lost it.
    pub fn prefetch(&mut self, segment: u64) -> (u32, Option<u64>) {
        let victim = match &mut self.order {
            Order::LastUse(list) => (self.used_slots == self.slots).then(|| list.back()),
            Order::Policy(policy) => policy.prefetch(segment),
        };
        self.assign_slot(segment, victim)
    }

    /// Gives the slot of `victim`, or a slot that has not been used, to a segment.
    fn assign_slot(&mut self, segment: u64, victim: Option<u64>) -> (u32, Option<u64>) {
        let freed_slot = victim.and_then(|victim| self.places.remove(&victim));
        let slot = freed_slot.unwrap_or_else(|| {
            self.used_slots += 1;
            self.used_slots - 1
        });
        self.places.insert(segment, slot);
        if let Order::LastUse(list) = &mut self.order {
            list.replace(slot, segment);
        }
        (slot, freed_slot.and(victim))
    }

    /// The error that stopped the policy, if one did.
    pub fn failure(&mut self) -> Option<Error> {
        match &mut self.order {
            Order::LastUse(_) => None,
            Order::Policy(policy) => policy.failure(),
        }
    }
}

/// Slots in order of their last use, each with its segment. The slots have been used in ascending order.
///
/// The uses are logged, which writes little memory; in a linked list, a use also changes the neighbors of the slot.
#[derive(Default)]
struct LastUseList {
    /// The slots in order of their uses. An entry counts if it is the last use of its slot.
    uses: Vec<u32>,
    /// No entry before this index counts.
    first: usize,
    /// By slot: its segment, and the index of its last use.
    segments: Vec<u64>,
    last_uses: Vec<usize>,
}

impl LastUseList {
    /// The segment whose last use is longest ago.
    fn back(&mut self) -> u64 {
        while self.last_uses[self.uses[self.first] as usize] != self.first {
            self.first += 1;
        }
        self.segments[self.uses[self.first] as usize]
    }

    /// Enters a segment as the latest in a slot, a used one or the next one.
    fn replace(&mut self, slot: u32, segment: u64) {
        let index = slot as usize;
        if index == self.segments.len() {
            self.segments.push(segment);
            self.last_uses.push(0);
        } else {
            self.segments[index] = segment;
        }
        self.bring_front(slot);
    }

    /// Makes a slot the latest.
    #[inline]
    fn bring_front(&mut self, slot: u32) {
        if self.uses.len() >= 2 * self.segments.len() + 64 {
            self.remove_earlier_uses();
        }
        self.last_uses[slot as usize] = self.uses.len();
        self.uses.push(slot);
    }

    /// Removes the entries that do not count.
    #[cold]
    fn remove_earlier_uses(&mut self) {
        let mut last = 0;
        for index in self.first..self.uses.len() {
            let slot = self.uses[index];
            if self.last_uses[slot as usize] == index {
                self.last_uses[slot as usize] = last;
                self.uses[last] = slot;
                last += 1;
            }
        }
        self.uses.truncate(last);
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The list of slots evicts the same segments as the policy.
        #[test]
        fn order_of_last_uses_equals_lru(segments in prop::collection::vec(0_u64..30, 1..600), slots in 1_u32..20) {
            let policy = Choice::parse("lru").unwrap();
            let mut directory = Directory::new(&policy, slots).unwrap();
            let order = Order::Policy(policy.make(slots as usize).unwrap());
            let mut oracle = Directory { order, ..Directory::new(&policy, slots).unwrap() };
            for segment in segments {
                let result = format!("{:?}", directory.access(segment));
                prop_assert_eq!(result, format!("{:?}", oracle.access(segment)));
                prop_assert!((0..30).all(|segment| directory.holds(segment) == oracle.holds(segment)));
            }
        }
    }
}
