//! Linked lists of keys, with an index from key to node. Most policies keep their keys in such lists.

use hashbrown::HashTable;
use sledlab_core::hash::hash;

use super::MayEvict;

/// No node.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    /// The neighbor towards the front.
    before: u32,
    /// The neighbor towards the back.
    behind: u32,
    list: u8,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    front: u32,
    back: u32,
    len: usize,
}

/// `N` lists; a key is in at most one of them.
#[derive(Clone, Debug)]
pub(super) struct Lists<const N: usize> {
    nodes: Vec<Node>,
    free: Vec<u32>,
    ends: [Ends; N],
    /// The nodes of all keys, by the hashes of the keys. A table of nodes alone takes a third of a map from keys.
    places: HashTable<u32>,
}

impl<const N: usize> Lists<N> {
    pub fn new() -> Self {
        Lists {
            nodes: Vec::new(),
            free: Vec::new(),
            ends: [Ends { front: NIL, back: NIL, len: 0 }; N],
            places: HashTable::new(),
        }
    }

    /// Number of keys in a list.
    pub fn len(&self, list: usize) -> usize {
        self.ends[list].len
    }

    /// The list that holds a key.
    pub fn find(&self, key: u64) -> Option<usize> {
        self.place(key).map(|at| self.nodes[at as usize].list.into())
    }

    #[inline]
    fn place(&self, key: u64) -> Option<u32> {
        self.places.find(hash(key), |at| self.nodes[*at as usize].key == key).copied()
    }

    /// The last key of a list.
    pub fn back(&self, list: usize) -> Option<u64> {
        self.nodes.get(self.ends[list].back as usize).map(|node| node.key)
    }

    /// The key nearest to the back of a list for which `may_evict` is true.
    pub fn last(&self, list: usize, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let mut at = self.ends[list].back;
        while let Some(node) = self.nodes.get(at as usize) {
            if may_evict(node.key) {
                return Some(node.key);
            }
            at = node.before;
        }
        None
    }

    /// Removes the key nearest to the back of a list for which `may_evict` is true, and returns it.
    pub fn take_last(&mut self, list: usize, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let key = self.last(list, may_evict)?;
        self.remove(key);
        Some(key)
    }

    /// Moves a key from the list that holds it, or inserts a new key, to the front of `list`.
    pub fn push_front(&mut self, list: usize, key: u64) {
        if !self.bring_front(list, key) {
            self.insert_front(list, key);
        }
    }

    /// Moves a key that is in some list to the front of `list`; false where no list holds the key.
    #[inline]
    pub fn bring_front(&mut self, list: usize, key: u64) -> bool {
        let Some(at) = self.place(key) else { return false };
        self.unlink(at);
        self.link_front(list, key, at);
        true
    }

    /// Inserts a key that no list holds at the front of `list`.
    pub fn insert_front(&mut self, list: usize, key: u64) {
        let at = self.allocate(key);
        self.link_front(list, key, at);
    }

    fn link_front(&mut self, list: usize, key: u64, at: u32) {
        let front = self.ends[list].front;
        self.nodes[at as usize] = Node { key, before: NIL, behind: front, list: list as u8 };
        match self.nodes.get_mut(front as usize) {
            Some(next) => next.before = at,
            None => self.ends[list].back = at,
        }
        self.ends[list].front = at;
        self.ends[list].len += 1;
    }

    /// Removes the last key of a list and returns it.
    pub fn pop_back(&mut self, list: usize) -> Option<u64> {
        let key = self.back(list)?;
        self.remove(key);
        Some(key)
    }

    /// Removes a key from the list that holds it, if any does.
    pub fn remove(&mut self, key: u64) {
        if let Ok(place) = self.places.find_entry(hash(key), |at| self.nodes[*at as usize].key == key) {
            let (at, _) = place.remove();
            self.unlink(at);
            self.free.push(at);
        }
    }

    fn allocate(&mut self, key: u64) -> u32 {
        let node = Node { key, before: NIL, behind: NIL, list: 0 };
        let at = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        });
        self.places.insert_unique(hash(key), at, |at| hash(self.nodes[*at as usize].key));
        at
    }

    fn unlink(&mut self, at: u32) {
        let Node { before, behind, list, .. } = self.nodes[at as usize];
        let ends = &mut self.ends[usize::from(list)];
        ends.len -= 1;
        match self.nodes.get_mut(before as usize) {
            Some(node) => node.behind = behind,
            None => ends.front = behind,
        }
        match self.nodes.get_mut(behind as usize) {
            Some(node) => node.before = before,
            None => ends.back = before,
        }
    }
}
