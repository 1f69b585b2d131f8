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

    /// Adds a request to a list, which is in order of the numbers of requests.
    pub fn insert(&mut self, list: &mut List, request: QueuedRequest) {
        let node = self.0.insert(Node { request, next: NIL }) as u32;
        // Almost every request is the newest.
        let previous = if self.0[list.last as usize].request.id < request.id {
            Some(list.last)
        } else {
            self.last_below(*list, request.id)
        };
        let next = match previous {
            Some(previous) => std::mem::replace(&mut self.0[previous as usize].next, node),
            None => std::mem::replace(&mut list.first, node),
        };
        self.0[node as usize].next = next;
        if next == NIL {
            list.last = node;
        }
    }

    /// The last node of a list whose request has a number below `id`.
    fn last_below(&self, list: List, id: u64) -> Option<u32> {
        self.nodes(list).take_while(|(_, node)| node.request.id < id).last().map(|(number, _)| number)
    }

    /// The nodes of a list, in order.
    #[inline]
    fn nodes(&self, list: List) -> impl Iterator<Item = (u32, &Node)> {
        let mut at = list.first;
        std::iter::from_fn(move || {
            let (number, node) = (at, self.0.get(at as usize)?);
            at = node.next;
            Some((number, node))
        })
    }

    /// The first request of a list.
    #[inline]
    pub fn first(&self, list: List) -> &QueuedRequest {
        &self.0[list.first as usize].request
    }

    /// The requests of a list, in order.
    #[inline]
    pub fn iter(&self, list: List) -> impl Iterator<Item = &QueuedRequest> {
        self.nodes(list).map(|(_, node)| &node.request)
    }

    /// Removes request `id` of a list, if it is there; the remaining list is `None` if it was the last.
    pub fn remove(&mut self, mut list: List, id: u64) -> Option<(QueuedRequest, Option<List>)> {
        let previous = self.last_below(list, id);
        let place = previous.map_or(list.first, |previous| self.0[previous as usize].next);
        self.0.get(place as usize).filter(|node| node.request.id == id)?;
        let Some(previous) = previous else { return Some(self.pop(list)) };
        let Node { request, next } = self.0.remove(place as usize);
        self.0[previous as usize].next = next;
        if next == NIL {
            list.last = previous;
        }
        Some((request, Some(list)))
    }

    /// Removes the first request of a list; the remaining list is `None` if it was the last.
    pub fn pop(&mut self, list: List) -> (QueuedRequest, Option<List>) {
        let Node { request, next } = self.0.remove(list.first as usize);
        (request, (next != NIL).then_some(List { first: next, ..list }))
    }
}
