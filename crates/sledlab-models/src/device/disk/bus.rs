//! A bus that one drive has at a time, first come first served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sledlab_core::Time;

/// The bus of one drive, or of all drives of a system.
#[derive(Clone, Debug, Default)]
pub struct Bus(Arc<Mutex<Line>>);

#[derive(Debug, Default)]
struct Line {
    drives: usize,
    holder: Option<usize>,
    /// Drives that want it, in order, each as often as it has asked.
    waiting: VecDeque<usize>,
    /// When it was last let go, or asked for while it was free.
    changed: Time,
}

/// A drive's end of a bus.
#[derive(Debug)]
pub(super) struct Port {
    bus: Bus,
    drive: usize,
}

impl Bus {
    fn line(&self) -> MutexGuard<'_, Line> {
        // Nothing that holds the lock can fail half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more drive on the bus.
    pub(super) fn attach(&self) -> Port {
        let mut line = self.line();
        let drive = line.drives;
        line.drives += 1;
        Port { bus: self.clone(), drive }
    }
}

impl Port {
    /// Asks for the bus at `now`.
    pub fn ask(&self, now: Time) {
        let mut line = self.bus.line();
        line.waiting.push_back(self.drive);
        if line.holder.is_none() {
            line.changed = now;
        }
    }

    /// Since when this drive could have the bus, if it could.
    pub fn offered(&self) -> Option<Time> {
        let line = self.bus.line();
        (line.holder.is_none() && line.waiting.front() == Some(&self.drive)).then_some(line.changed)
    }

    /// Takes the bus, if it is this drive's turn.
    pub fn take(&self) -> bool {
        let mut line = self.bus.line();
        let turn = line.holder.is_none() && line.waiting.front() == Some(&self.drive);
        if turn {
            line.waiting.pop_front();
            line.holder = Some(self.drive);
        }
        turn
    }

    /// Lets the bus go at `now`.
    pub fn let_go(&self, now: Time) {
        let mut line = self.bus.line();
        line.holder = None;
        line.changed = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_have_the_bus_in_the_order_in_which_they_asked() {
        let bus = Bus::default();
        let (a, b) = (bus.attach(), bus.attach());
        let at = Time::from_ns;
        assert!(!a.take());
        a.ask(at(1));
        b.ask(at(2));
        a.ask(at(3));
        assert_eq!((a.offered(), b.offered()), (Some(at(3)), None));
        assert!(!b.take() && a.take() && !a.take());
        assert_eq!((a.offered(), b.offered()), (None, None));
        a.let_go(at(9));
        assert_eq!((a.offered(), b.offered()), (None, Some(at(9))));
        assert!(b.take());
        b.let_go(at(12));
        assert_eq!(a.offered(), Some(at(12)));
    }
}
