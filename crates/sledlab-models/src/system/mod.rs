//! Systems: the storage that the host sends requests to, one station or several behind one address space.

mod array;
mod block_by_block;
mod cached_system;
mod completion_queue;
mod failed_devices;
mod force_unit_access;
mod hybrid_counts;
mod medium;
pub mod params;
mod residency;
mod single;
mod station;
mod station_log;
mod wrapper;

pub use array::Array;
pub use block_by_block::BlockByBlock;
pub use cached_system::CachedSystem;
pub use force_unit_access::ForceUnitAccess;
pub use hybrid_counts::{HybridCounts, Traffic};
pub use medium::{Content, Contents, Medium};
pub use params::{Start, SystemParams};
pub use residency::Residency;
pub use single::Single;
pub(crate) use station::earliest;
pub use station::{Completion, Station};
pub use station_log::{Access, Candidate, Choice, IdlePeriod, State, StationLog};
pub use wrapper::SystemWrapper;

use sledlab_core::{Error, Result, Span, Time};

use crate::cache::CacheCounts;
use crate::device::preset::DeviceFile;
use crate::device::{FaultCounts, QueuedRequest};
use crate::merge::MergeParams;
use crate::power::{self, Energy, Ledger, RequestEnergy};
use crate::scheduler;

/// Number of completions after which [`System::advance_before`] returns, so that a long queue drains in constant memory
/// and an interrupted run stops soon.
pub const MAX_COMPLETIONS: usize = 64;

/// Number of events after which [`System::advance_before`] returns, so that a run stops soon that is interrupted while
/// the system works on a long request.
const MAX_EVENTS: usize = 1024;

/// The storage that the host sends requests to. Trims never reach a system; they are answered before.
///
/// The event loop delivers arrivals in order of time and calls [`advance`](System::advance) at
/// [`next_event`](System::next_event); of an arrival and an event at the same time, the arrival comes first, so that a
/// scheduler sees every request that has arrived when it chooses.
///
/// A system such as a cache wraps another system. No method has a default: a wrapper that forgot to forward one would
/// silently hide the answer of the system behind it. A wrapper that forwards most methods is a [`SystemWrapper`].
pub trait System: Send {
    /// Number of blocks the host sees.
    fn capacity_blocks(&self) -> u64;
    /// A request arrives; its blocks lie within the capacity.
    fn arrive(&mut self, now: Time, request: QueuedRequest);
    /// Time of the next event, if no request arrives before.
    fn next_event(&self) -> Option<Time>;
    /// Handles the events due at `now`; appends the completions, in order.
    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>);
    /// Handles all events before `horizon`; stops early when `completed` holds [`MAX_COMPLETIONS`], or after a thousand
    /// events. Returns whether no event before `horizon` is left.
    ///
    /// Appends completions in order. Completions at `horizon` or later may be among them once no arrival can change
    /// them; they are not appended again. [`advance_by_events`] implements this for systems that have no faster way.
    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool;
    /// A flush arrives. A system in which only a flush makes writes durable returns true, and completes the flush when
    /// all writes before it are durable. Other systems return false: the completion of each write has the time at which
    /// the write is durable ([`Completion::durable_time`]).
    fn flush(&mut self, now: Time, request: QueuedRequest) -> bool;
    /// Returns the error that stopped a scheduler, a power policy, a replacement policy or a device, if there is one.
    fn failure(&mut self) -> Option<Error>;
    /// The stations: a queue and a device each.
    fn stations(&self) -> Vec<&Station>;
    /// The stations, mutable, so that they can be watched.
    fn stations_mut(&mut self) -> Vec<&mut Station>;
    /// Number of requests that wait to be selected.
    fn queue_length(&self) -> usize;
    /// Largest number of requests that waited at one time since the ledgers were opened.
    fn longest_queue(&self) -> usize;
    /// Opens new ledgers and sets all counts to zero: only events from `now` on count.
    fn open_ledgers(&mut self, now: Time);
    /// Ends the run: enters the idle period since the last service into the ledgers.
    fn close_ledgers(&mut self, now: Time);
    /// Returns the energy spent for no single request, and when the last such work ended. A run lasts until then.
    fn background(&self) -> (RequestEnergy, Time);
    /// Counts of the cache in front of the devices since the ledgers were opened, where there is one.
    fn cache(&self) -> Option<CacheCounts>;
    /// Counts of all hybrids since the ledgers were opened, where there are any.
    fn hybrid(&self) -> Option<HybridCounts>;
    /// Residency at this moment: of the cache, where there is one, then of the front of every hybrid, in the order of
    /// their stations; failed devices are omitted. Takes time in proportion to the number of slots.
    fn residency(&self) -> Vec<Residency>;
    /// Failures so far and their consequences, where the system has failures.
    fn faults(&self) -> Option<FaultCounts>;
    /// Returns the positioning time of `read` if it were served next; zero if the system cannot determine it.
    fn positioning(&self, now: Time, read: &QueuedRequest) -> Span;
    /// Returns this system as one whose media store contents, if they do.
    fn durable(&mut self) -> Option<&mut dyn Durable>;
}

impl dyn System + '_ {
    /// The ledgers of all stations that have one, each with its energy.
    pub fn ledgers(&self) -> Vec<(&Ledger, Energy)> {
        self.stations()
            .into_iter()
            .filter_map(|s| s.ledger().map(|l| (l, l.energy(&s.device().mechanics().power_rates()))))
            .collect()
    }
}

/// A system whose media store contents ([`Medium`]): reads return the written data, and a power failure can be
/// simulated.
pub trait Durable: Send {
    /// Supplies the data of write number `access`, which arrives next, one content for each block.
    fn supply_data(&mut self, access: u64, data: Vec<Content>);
    /// Returns the contents read by the last completed read with the number `access`.
    fn read_contents(&mut self, access: u64) -> Vec<Content>;
    /// Simulates a power failure at `now`, not before the last event: all volatile state is lost, and for every block
    /// of a write that is not durable `survives` decides whether the block is on the medium. Returns the contents after
    /// recovery.
    fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> Contents;
}

/// Implements [`System::advance_before`] by one [`System::advance`] after the other.
pub fn advance_by_events<S: System + ?Sized>(
    system: &mut S,
    horizon: Time,
    completed: &mut Vec<Completion>,
) -> bool {
    for _ in 0..MAX_EVENTS {
        let Some(now) = system.next_event().filter(|at| *at < horizon) else { return true };
        if completed.len() >= MAX_COMPLETIONS {
            return false;
        }
        system.advance(now, completed);
    }
    false
}

/// The policies of a station: how its queue is served and merged, and when its device parks.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The scheduler, which chooses the request that is served next.
    pub scheduler: &'a scheduler::Choice,
    /// The power policy, which decides when the device parks and starts up.
    pub power: &'a power::Choice,
    /// Parameters of merging: which requests are served as one.
    pub merge: &'a MergeParams,
    /// The state of the device at the start.
    pub start: Start,
}

/// Builds the system that a device file describes, each station with an empty queue.
///
/// # Errors
/// Parameters that contradict each other.
pub fn build(file: &DeviceFile, setup: Setup) -> Result<Box<dyn System>> {
    let system: Box<dyn System> = match file.params.units()? {
        Some(units) => Box::new(Array::from_units(units, setup)?),
        None => Box::new(Single::new(Station::new(file, setup)?)),
    };
    Ok(BlockByBlock::wrap(system, setup.scheduler))
}
