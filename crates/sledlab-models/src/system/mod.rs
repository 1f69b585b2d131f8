//! Systems: what the host talks to. One station, or several behind one address space.

mod array;
mod cached;
pub mod params;
mod single;
mod station;

pub use array::Array;
pub use cached::Cached;
pub use params::SystemParams;
pub use single::Single;
pub use station::{Completion, Station};

use sledlab_core::{Error, Result, Time};

use crate::cache::{self, CacheCounts, CacheParams};
use crate::device::Queued;
use crate::device::preset::DeviceFile;
use crate::merge::MergeParams;
use crate::power::{self, Energy, Ledger, Spent};
use crate::scheduler;

/// Completions after which [`System::advance_before`] returns, so that a long queue drains in constant memory.
pub const MOST_COMPLETED: usize = 256;

/// What the host talks to. Reads and writes only: flushes and trims are answered before they get here.
///
/// The event loop delivers arrivals in order of time and calls [`advance`](System::advance) at
/// [`next_event`](System::next_event); of an arrival and an event at the same time, the arrival comes first,
/// so that a scheduler sees every request that is there when it chooses.
pub trait System: Send {
    /// Number of blocks the host sees.
    fn capacity_blocks(&self) -> u64;
    /// A request arrives; its blocks lie within the capacity.
    fn arrive(&mut self, now: Time, request: Queued);
    /// When something happens next, if nothing arrives.
    fn next_event(&self) -> Option<Time>;
    /// Does what is due at `now`; appends what is completed, in order.
    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>);
    /// Why a scheduler or a power policy has given up, if one has.
    fn failure(&mut self) -> Option<Error>;
    /// The parts that queue and serve.
    fn stations(&self) -> Vec<&Station>;
    /// Does all that is due before `horizon`; stops early when `completed` holds [`MOST_COMPLETED`].
    ///
    /// Appends completions in order. Those from `horizon` on may be among them as soon as nothing can change
    /// them; they are not appended again.
    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) {
        while let Some(now) = self.next_event().filter(|at| *at < horizon)
            && completed.len() < MOST_COMPLETED
        {
            self.advance(now, completed);
        }
    }

    /// Requests that wait to be selected.
    fn queue_length(&self) -> usize;
    /// Most requests that waited at any time since the ledgers were opened.
    fn longest_queue(&self) -> usize;
    /// Starts the ledgers anew: only what happens from `now` on counts.
    fn open_ledgers(&mut self, now: Time);
    /// Ends the run: accounts for the rest since the last service.
    fn close_ledgers(&mut self, now: Time);

    /// What has been spent for no single request, and when the last of it was done. A run lasts until then.
    fn background(&self) -> (Spent, Time) {
        (Spent::default(), Time::ZERO)
    }
    /// What a cache in front of the devices has done since the ledgers were opened.
    fn cache(&self) -> Option<CacheCounts> {
        None
    }

    /// Ledgers of all stations that have one, and what they cost.
    fn ledgers(&self) -> Vec<(&Ledger, Energy)> {
        self.stations()
            .into_iter()
            .filter_map(|s| s.ledger().map(|l| (l, l.energy(&s.device().mechanics().power_rates()))))
            .collect()
    }
}

/// What runs on a device: how its queue is served and merged, and when it parks.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Which request is served next.
    pub scheduler: &'a scheduler::Choice,
    /// When the device parks and starts.
    pub power: &'a power::Choice,
    /// Which requests are served as one.
    pub merge: &'a MergeParams,
}

/// The system that `params` asks for, of devices that `file` describes, behind the cache that `cache` asks for, each
/// station with an empty queue.
///
/// # Errors
/// Parameters that make no sense, alone or together.
pub fn assemble(
    params: &SystemParams,
    cache: &CacheParams,
    file: &DeviceFile,
    setup: Setup,
) -> Result<Box<dyn System>> {
    let bare = if params.kind == params::Kind::Single && params.devices == 1 {
        build(file, setup)?
    } else {
        Box::new(Array::new(params, file, setup)?)
    };
    if cache.capacity_blocks < cache.line_blocks {
        return Err(Error::user(format!(
            "cache.capacity_blocks = {} is less than a line of {} blocks",
            cache.capacity_blocks, cache.line_blocks
        ))
        .with_remedy("make the cache larger, or cache.line_blocks smaller"));
    }
    Ok(match cache.kind {
        cache::Kind::None => bare,
        cache::Kind::WriteBack => Box::new(Cached::new(cache, bare)),
    })
}

/// The system that a device file describes, each station with an empty queue.
///
/// # Errors
/// Parameters that make no sense together.
pub fn build(file: &DeviceFile, setup: Setup) -> Result<Box<dyn System>> {
    if let Some(sleds) = array::independent(file) {
        return Ok(Box::new(Array::of_sleds(sleds, setup)?));
    }
    Ok(Box::new(Single::new(Station::new(file, setup)?)))
}
