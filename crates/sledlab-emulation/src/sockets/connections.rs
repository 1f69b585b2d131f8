//! All connections of a server.

use crate::sockets::connection::Connection;

/// Connections in slots. A freed slot is used again, so that there are as few slots as possible.
#[derive(Debug, Default)]
pub(crate) struct Connections(Vec<Option<Connection>>);

impl Connections {
    /// Puts a connection into a free slot and returns the slot.
    pub fn insert(&mut self, connection: Connection) -> usize {
        let slot = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if slot == self.0.len() {
            self.0.push(None);
        }
        self.0[slot] = Some(connection);
        slot
    }

    /// Frees a slot and returns its connection.
    pub fn remove(&mut self, slot: usize) -> Option<Connection> {
        let removed = self.0.get_mut(slot).and_then(Option::take);
        // Free slots at the end are dropped, so that no loop visits them.
        while self.0.last().is_some_and(Option::is_none) {
            self.0.pop();
        }
        removed
    }

    /// The connection in a slot.
    pub fn get(&self, slot: usize) -> Option<&Connection> {
        self.0.get(slot)?.as_ref()
    }

    /// The connection in a slot, to be changed.
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Connection> {
        self.0.get_mut(slot)?.as_mut()
    }

    /// The connection in a slot, if it is the one of this number: another one may have taken the slot.
    pub fn get_by_number(&mut self, slot: usize, number: u64) -> Option<&mut Connection> {
        self.get_mut(slot).filter(|connection| connection.number == number)
    }

    /// Number of slots, free ones included.
    pub fn slot_count(&self) -> usize {
        self.0.len()
    }

    /// Number of connections.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// All connections with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Connection)> {
        self.0.iter().enumerate().filter_map(|(slot, connection)| Some((slot, connection.as_ref()?)))
    }

    /// All connections, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.0.iter_mut().flatten()
    }

    /// Closes the connections that have requests in flight or waiting replies.
    pub fn retain_idle(&mut self) {
        for connection in &mut self.0 {
            connection.take_if(|connection| !connection.is_idle());
        }
    }

    /// Closes all connections.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
