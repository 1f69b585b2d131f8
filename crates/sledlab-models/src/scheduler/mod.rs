//! Schedulers: which queued request is served next.
//!
//! A scheduler holds the queue. The mechanism asks it with [`Scheduler::pop`] whenever it is free.

mod fcfs;
mod sptf;
mod sptf_scan;

pub use fcfs::Fcfs;
pub use sptf::Sptf;
pub use sptf_scan::SptfScan;

use sledlab_core::{Error, Result, Time};
use toml::Table;

use crate::device::{Device, Queued};

/// A queue with an order of service.
///
/// Every request pushed is popped exactly once. `pop` on an empty queue leaves `batch` empty; otherwise it
/// appends at least one request. The choice depends only on the queue, the time and the device's state.
pub trait Scheduler: Send {
    /// A request joins the queue.
    fn push(&mut self, request: Queued);
    /// Chooses what the idle `device` serves next, and removes it from the queue.
    fn pop(&mut self, now: Time, device: &dyn Device, batch: &mut Vec<Queued>);
    /// Requests in the queue.
    fn len(&self) -> usize;
    /// Whether the queue is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A scheduler in the list: how it is called, what it does, how it is made for a device.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in configurations.
    pub name: &'static str,
    /// One line for people.
    pub meaning: &'static str,
    make: fn(&dyn Device) -> Box<dyn Scheduler>,
}

/// Every scheduler.
pub const LIST: [Entry; 3] = [fcfs::ENTRY, sptf::ENTRY, sptf_scan::ENTRY];

impl Entry {
    /// An empty queue for `device`.
    pub fn make(&self, device: &dyn Device) -> Box<dyn Scheduler> {
        (self.make)(device)
    }
}

/// The scheduler called `name`. None of them takes parameters yet, so any key in `params` is unknown.
pub fn build(name: &str, params: &Table) -> Result<Entry> {
    if let Some(key) = params.keys().next() {
        return Err(Error::user(format!("unknown key `scheduler.{key}`"))
            .with_remedy(format!("scheduler `{name}` takes no parameters")));
    }
    let known = LIST.iter().find(|entry| entry.name == name);
    known.copied().ok_or_else(|| Error::unknown("scheduler", name, LIST.iter().map(|entry| entry.name)))
}
