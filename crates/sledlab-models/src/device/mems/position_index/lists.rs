//! First-come lists of requests in one block of memory.

use crate::device::QueuedRequest;

/// Marks the end of a list.
const NIL: u32 = u32::MAX;

/// The nodes of all lists.
#[derive(Debug)]
pub(super) struct Lists {
    nodes: Vec<Node>,
    /// First node of the list of unused nodes.
    free: u32,
}

/// The ends of a list that is not empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    request: QueuedRequest,
    next: u32,
}

impl Lists {
    pub fn new() -> Self {
        Lists { nodes: Vec::new(), free: NIL }
    }

    fn add(&mut self, request: QueuedRequest) -> u32 {
        let node = Node { request, next: NIL };
        if self.free == NIL {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let at = self.free;
        self.free = std::mem::replace(&mut self.nodes[at as usize], node).next;
        at
    }

    /// A list of one request.
    pub fn begin(&mut self, request: QueuedRequest) -> List {
        let first = self.add(request);
        List { first, last: first }
    }

    /// Adds a request at the end of a list.
    pub fn push(&mut self, list: &mut List, request: QueuedRequest) {
        let at = self.add(request);
        self.nodes[list.last as usize].next = at;
        list.last = at;
    }

    /// The first request of a list.
    #[inline]
    pub fn first(&self, list: List) -> &QueuedRequest {
        &self.nodes[list.first as usize].request
    }

    /// The requests of a list, in order.
    #[inline]
    pub fn iter(&self, list: List) -> impl Iterator<Item = &QueuedRequest> {
        let mut at = list.first;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some(&node.request)
        })
    }

    /// Removes the first request of a list; the rest of the list is `None` if it was the last.
    pub fn pop(&mut self, list: List) -> (QueuedRequest, Option<List>) {
        let Node { request, next } = self.nodes[list.first as usize];
        self.nodes[list.first as usize].next = self.free;
        self.free = list.first;
        (request, (next != NIL).then_some(List { first: next, ..list }))
    }
}
