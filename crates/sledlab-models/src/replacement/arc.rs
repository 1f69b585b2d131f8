//! Divides the room between what was used once and what was used again, and learns how from what it misses (CA-04),
//! after Megiddo and Modha 2003.

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{Found, Model, ReplacementPolicy, SparingPolicy, Use};

/// Used once, and again; and what was dropped from each, of which only the key is kept.
const ONCE: usize = 0;
const AGAIN: usize = 1;
const ONCE_DROPPED: usize = 2;
const AGAIN_DROPPED: usize = 3;

/// Adaptive replacement.
pub struct Arc {
    keys: Lists<4>,
    capacity: usize,
    /// Room that is wanted for what was used once.
    target: f64,
}

impl Model for Arc {
    type Params = NoParams;
    const NAME: &'static str = "arc";
    const MEANING: &'static str =
        "adaptive: divides the room between entries used once and entries used again, as misses teach";

    fn new(_: &NoParams, capacity: usize) -> Self {
        Arc { keys: Lists::new(), capacity, target: 0.0 }
    }
}

impl Arc {
    /// What was dropped is used: its list should have had more room.
    fn learn(&mut self, list: usize) {
        let (once, again) = (self.keys.len(ONCE_DROPPED) as f64, self.keys.len(AGAIN_DROPPED) as f64);
        let change = if list == ONCE_DROPPED { (again / once).max(1.0) } else { -(once / again).max(1.0) };
        self.target = (self.target + change).clamp(0.0, self.capacity as f64);
    }

    /// Makes room where there is none; `again` if what comes was dropped from what was used again.
    fn make_room(&mut self, again: bool) -> Option<u64> {
        if self.len() < self.capacity {
            return None;
        }
        let victim = self.keys.back(self.gives(again))?;
        self.drop_to_memory(victim);
        Some(victim)
    }

    /// The list that makes room; `again` if what comes was dropped from what was used again.
    fn gives(&self, again: bool) -> usize {
        let once = self.keys.len(ONCE) as f64;
        let from_once = once >= 1.0 && (once > self.target || (again && once >= self.target));
        if from_once || self.keys.len(AGAIN) == 0 { ONCE } else { AGAIN }
    }

    /// Drops a key that is there, and remembers it.
    fn drop_to_memory(&mut self, key: u64) {
        match self.keys.find(key) {
            Some(ONCE) => self.keys.push_front(ONCE_DROPPED, key),
            Some(AGAIN) => self.keys.push_front(AGAIN_DROPPED, key),
            _ => {}
        }
    }

    /// Makes room for what has not been seen lately, and for its key once it is dropped.
    fn make_room_for_new(&mut self) -> Option<u64> {
        if self.keys.len(ONCE) + self.keys.len(ONCE_DROPPED) >= self.capacity {
            if self.keys.len(ONCE) == self.capacity {
                return self.keys.pop_back(ONCE);
            }
            self.keys.pop_back(ONCE_DROPPED);
        } else if self.len() + self.keys.len(ONCE_DROPPED) + self.keys.len(AGAIN_DROPPED) >= 2 * self.capacity
        {
            self.keys.pop_back(AGAIN_DROPPED);
        }
        self.make_room(false)
    }
}

impl ReplacementPolicy for Arc {
    fn access(&mut self, access: Use) -> Found {
        let (victim, list) = match self.keys.find(access.key) {
            Some(ONCE | AGAIN) => {
                self.keys.push_front(AGAIN, access.key);
                return Found::Hit;
            }
            Some(dropped) => {
                self.learn(dropped);
                (self.make_room(dropped == AGAIN_DROPPED), AGAIN)
            }
            None => (self.make_room_for_new(), ONCE),
        };
        self.keys.push_front(list, access.key);
        Found::Miss { victim }
    }

    fn holds(&self, key: u64) -> bool {
        matches!(self.keys.find(key), Some(ONCE | AGAIN))
    }

    fn len(&self) -> usize {
        self.keys.len(ONCE) + self.keys.len(AGAIN)
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl SparingPolicy for Arc {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        let first = self.gives(false);
        let other = if first == ONCE { AGAIN } else { ONCE };
        self.keys.last(first, may).or_else(|| self.keys.last(other, may))
    }

    fn evict(&mut self, key: u64) {
        self.drop_to_memory(key);
    }

    fn rank(&self) -> Option<u64> {
        None
    }
}
