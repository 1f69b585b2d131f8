//! First-come queues of requests, one for each row and cylinder, in one block of memory.

use super::sparse::Sparse;
use crate::device::{Mechanics, QueuedRequest};

/// Marks the end of a list.
const NIL: u32 = u32::MAX;

/// Linked lists of requests in a slab; the heads form a table with a page for each cylinder, an entry for each row.
#[derive(Debug)]
pub(super) struct Cells {
    ends: Sparse<Ends>,
    nodes: Vec<Node>,
    /// First node of the list of unused nodes.
    free: u32,
    len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ends {
    first: u32,
    last: u32,
}

impl Ends {
    /// Ends of a list without requests.
    const EMPTY: Ends = Ends { first: NIL, last: NIL };
}

#[derive(Clone, Copy, Debug)]
struct Node {
    request: QueuedRequest,
    next: u32,
}

impl Cells {
    pub fn new(rows: u32, cylinders: u32) -> Self {
        let ends = Sparse::new(cylinders as usize, rows as usize, Ends::EMPTY);
        Cells { ends, nodes: Vec::new(), free: NIL, len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no request waits in a cylinder.
    #[inline]
    pub fn is_idle(&self, cylinder: u32) -> bool {
        self.ends.is_empty(cylinder as usize)
    }

    /// The earliest request of a cell.
    #[inline]
    pub fn first(&self, row: u32, cylinder: u32) -> Option<&QueuedRequest> {
        let first = self.ends.get(cylinder as usize, row as usize).first;
        self.nodes.get(first as usize).map(|node| &node.request)
    }

    /// Adds a request behind the others of its cell.
    #[inline]
    pub fn push(&mut self, row: u32, cylinder: u32, request: QueuedRequest) {
        let node = Node { request, next: NIL };
        let at = if self.free == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = self.nodes[at as usize].next;
            self.nodes[at as usize] = node;
            at
        };
        let Ends { first, last } = self.ends.get(cylinder as usize, row as usize);
        let first = if first == NIL { at } else { first };
        if let Some(last) = self.nodes.get_mut(last as usize) {
            last.next = at;
        }
        self.ends.replace(cylinder as usize, row as usize, Ends { first, last: at });
        self.len += 1;
    }

    /// Removes the earliest request of a cell.
    #[inline]
    pub fn pop(&mut self, row: u32, cylinder: u32) -> Option<QueuedRequest> {
        let Ends { first: at, last } = self.ends.get(cylinder as usize, row as usize);
        let node = *self.nodes.get(at as usize)?;
        let ends = if node.next == NIL { Ends::EMPTY } else { Ends { first: node.next, last } };
        self.ends.replace(cylinder as usize, row as usize, ends);
        self.nodes[at as usize].next = self.free;
        self.free = at;
        self.len -= 1;
        Some(node.request)
    }

    /// The requests of a cell, in order.
    pub fn iter(&self, row: u32, cylinder: u32) -> impl Iterator<Item = &QueuedRequest> {
        // Lazy: the first call of `next` reads the head of the list.
        let mut at = None;
        std::iter::from_fn(move || {
            let at = at.get_or_insert_with(|| self.ends.get(cylinder as usize, row as usize).first);
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
        batch: &mut Vec<QueuedRequest>,
    ) {
        for _ in 0..self.iter(row, cylinder).count() {
            let Some(request) = self.pop(row, cylinder) else { return };
            if mechanics.can_join(batch, &request) {
                batch.push(request);
            } else {
                self.push(row, cylinder, request);
            }
        }
    }
}
