//! First-come queues, one for each row and cylinder, in one block of memory.

use crate::device::{Mechanics, Queued};

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

/// Linked lists of requests in a slab; the heads form a table by row and cylinder.
#[derive(Debug)]
pub(super) struct Cells {
    cylinders: u32,
    ends: Vec<Ends>,
    nodes: Vec<Node>,
    /// First node of the list of unused ones.
    free: u32,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    request: Queued,
    next: u32,
}

impl Cells {
    pub fn new(rows: u32, cylinders: u32) -> Self {
        let ends = vec![Ends { first: NONE, last: NONE }; rows as usize * cylinders as usize];
        Cells { cylinders, ends, nodes: Vec::new(), free: NONE, len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    fn cell(&self, row: u32, cylinder: u32) -> usize {
        row as usize * self.cylinders as usize + cylinder as usize
    }

    /// The earliest request of a cell.
    #[inline]
    pub fn first(&self, row: u32, cylinder: u32) -> Option<&Queued> {
        let first = self.ends[self.cell(row, cylinder)].first;
        self.nodes.get(first as usize).map(|node| &node.request)
    }

    /// Adds a request behind those of its cell.
    pub fn push(&mut self, row: u32, cylinder: u32, request: Queued) {
        let node = Node { request, next: NONE };
        let at = if self.free == NONE {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = self.nodes[at as usize].next;
            self.nodes[at as usize] = node;
            at
        };
        let cell = self.cell(row, cylinder);
        let last = std::mem::replace(&mut self.ends[cell].last, at);
        match self.nodes.get_mut(last as usize) {
            Some(last) => last.next = at,
            None => self.ends[cell].first = at,
        }
        self.len += 1;
    }

    /// Removes the earliest request of a cell.
    pub fn pop(&mut self, row: u32, cylinder: u32) -> Option<Queued> {
        let cell = self.cell(row, cylinder);
        let at = self.ends[cell].first;
        let node = *self.nodes.get(at as usize)?;
        self.ends[cell].first = node.next;
        if node.next == NONE {
            self.ends[cell].last = NONE;
        }
        self.nodes[at as usize].next = self.free;
        self.free = at;
        self.len -= 1;
        Some(node.request)
    }

    /// The requests of a cell, in order.
    pub fn iter(&self, row: u32, cylinder: u32) -> impl Iterator<Item = &Queued> {
        // Nothing is read before it is asked for.
        let mut at = None;
        std::iter::from_fn(move || {
            let at = at.get_or_insert_with(|| self.ends[self.cell(row, cylinder)].first);
            let node = self.nodes.get(*at as usize)?;
            *at = node.next;
            Some(&node.request)
        })
    }

    /// Moves to `batch` the requests of a cell that can be served together with it; the others stay, in order.
    pub fn take_joining(
        &mut self,
        row: u32,
        cylinder: u32,
        mechanics: &dyn Mechanics,
        batch: &mut Vec<Queued>,
    ) {
        for _ in 0..self.iter(row, cylinder).count() {
            let Some(request) = self.pop(row, cylinder) else { return };
            if mechanics.joins(batch, &request) {
                batch.push(request);
            } else {
                self.push(row, cylinder, request);
            }
        }
    }
}
