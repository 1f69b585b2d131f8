//! First-come lists of requests in one block of memory.

use slab::Slab;

use crate::device::QueuedRequest;

/// Marks the end of a list.
const NIL: u32 = u32::MAX;

/// The nodes of all lists.
#[derive(Debug, Default)]
pub(super) struct Lists(Slab<Node>);

/// The ends of a list that is not empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
}

#[derive(Debug)]
struct Node {
    request: QueuedRequest,
    next: u32,
}

impl Lists {
    /// Returns a list of one request.
    pub fn begin(&mut self, request: QueuedRequest) -> List {
        let first = self.0.insert(Node { request, next: NIL }) as u32;
        List { first, last: first }
    }

    /// Adds a request at the end of a list.
    pub fn push(&mut self, list: &mut List, request: QueuedRequest) {
        let node = self.0.insert(Node { request, next: NIL }) as u32;
        self.0[list.last as usize].next = node;
        list.last = node;
    }

    /// The first request of a list.
    #[inline]
    pub fn first(&self, list: List) -> &QueuedRequest {
        &self.0[list.first as usize].request
    }

    /// The requests of a list, in order.
    #[inline]
    pub fn iter(&self, list: List) -> impl Iterator<Item = &QueuedRequest> {
        let mut at = list.first;
        std::iter::from_fn(move || {
            let node = self.0.get(at as usize)?;
            at = node.next;
            Some(&node.request)
        })
    }

    /// Removes the first request of a list; the remaining list is `None` if it was the last.
    pub fn pop(&mut self, list: List) -> (QueuedRequest, Option<List>) {
        let Node { request, next } = self.0.remove(list.first as usize);
        (request, (next != NIL).then_some(List { first: next, ..list }))
    }
}
