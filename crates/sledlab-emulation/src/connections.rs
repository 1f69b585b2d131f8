//! All connections there are.

use crate::connection::Connection;

/// Connections at places that are used again, so few of them as there must be.
#[derive(Debug, Default)]
pub(crate) struct Connections(Vec<Option<Connection>>);

impl Connections {
    /// Gives a connection a place.
    pub fn insert(&mut self, connection: Connection) -> usize {
        let slot = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if slot == self.0.len() {
            self.0.push(None);
        }
        self.0[slot] = Some(connection);
        slot
    }

    /// Frees a place.
    pub fn remove(&mut self, slot: usize) -> Option<Connection> {
        let gone = self.0.get_mut(slot).and_then(Option::take);
        // Places at the end need not be looked at any more.
        while self.0.last().is_some_and(Option::is_none) {
            self.0.pop();
        }
        gone
    }

    /// What is at a place.
    pub fn get(&self, slot: usize) -> Option<&Connection> {
        self.0.get(slot)?.as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Connection> {
        self.0.get_mut(slot)?.as_mut()
    }

    /// What is at a place, unless it is another connection than that of this number.
    pub fn numbered(&mut self, slot: usize, number: u64) -> Option<&mut Connection> {
        self.get_mut(slot).filter(|connection| connection.number == number)
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.0.len()
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// All with their places.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Connection)> {
        self.0.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.as_ref()?)))
    }

    /// All, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.0.iter_mut().flatten()
    }

    /// Closes those with something under way.
    pub fn keep_idle(&mut self) {
        for place in &mut self.0 {
            place.take_if(|connection| !connection.is_idle());
        }
    }

    /// Closes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
