//! Systems: what the host talks to. One station, or several behind one address space.

mod array;
mod cached;
mod failed;
mod medium;
pub mod params;
mod residency;
mod single;
mod station;
mod watch;

pub use array::Array;
pub use cached::Cached;
pub use medium::{Content, Contents, Medium};
pub use params::{Start, SystemParams};
pub use residency::{Residency, SlotState};
pub use single::Single;
pub use station::{Completion, Station};
pub use watch::{Access, Candidate, Choice, Rested, Seen, State};

use sledlab_core::{Error, Result, Span, Time};

use crate::cache::{self, CacheCounts, CacheParams};
use crate::device::preset::DeviceFile;
use crate::device::{FaultCounts, Queued};
use crate::hybrid::{self, HybridCounts};
use crate::merge::MergeParams;
use crate::power::{self, Energy, Ledger, Spent};
use crate::scheduler;

/// Completions after which [`System::advance_before`] returns, so that a long queue drains in constant memory and an
/// interrupt need not wait for long.
pub const MOST_COMPLETED: usize = 64;

/// What the host talks to. Trims are answered before they get here.
///
/// The event loop delivers arrivals in order of time and calls [`advance`](System::advance) at
/// [`next_event`](System::next_event); of an arrival and an event at the same time, the arrival comes first,
/// so that a scheduler sees every request that is there when it chooses.
///
/// Systems stand in front of each other. No method has a default: one that a wrapper forgot to forward would hide, in
/// silence, what the system behind it knows.
pub trait System: Send {
    /// Number of blocks the host sees.
    fn capacity_blocks(&self) -> u64;
    /// A request arrives; its blocks lie within the capacity.
    fn arrive(&mut self, now: Time, request: Queued);
    /// When something happens next, if nothing arrives.
    fn next_event(&self) -> Option<Time>;
    /// Does what is due at `now`; appends what is completed, in order.
    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>);
    /// Does all that is due before `horizon`; stops early when `completed` holds [`MOST_COMPLETED`].
    ///
    /// Appends completions in order. Those from `horizon` on may be among them as soon as nothing can change
    /// them; they are not appended again. [`advance_by_events`] does it for systems that know no shorter way.
    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>);
    /// A flush arrives, of a system that acknowledges writes which are not durable: it completes the flush when those
    /// before it are. Others return false: their writes are durable when they are complete.
    fn flush(&mut self, now: Time, request: Queued) -> bool;
    /// Why a scheduler or a power policy has given up, if one has.
    fn failure(&mut self) -> Option<Error>;
    /// The parts that queue and serve.
    fn stations(&self) -> Vec<&Station>;
    /// The same, to be watched.
    fn stations_mut(&mut self) -> Vec<&mut Station>;
    /// Requests that wait to be selected.
    fn queue_length(&self) -> usize;
    /// Most requests that waited at any time since the ledgers were opened.
    fn longest_queue(&self) -> usize;
    /// Starts the ledgers anew: only what happens from `now` on counts.
    fn open_ledgers(&mut self, now: Time);
    /// Ends the run: accounts for the rest since the last service.
    fn close_ledgers(&mut self, now: Time);
    /// What has been spent for no single request, and when the last of it was done. A run lasts until then.
    fn background(&self) -> (Spent, Time);
    /// What a cache in front of the devices has done since the ledgers were opened.
    fn cache(&self) -> Option<CacheCounts>;
    /// What hybrids have done since the ledgers were opened.
    fn hybrid(&self) -> Option<HybridCounts>;
    /// What the cache holds at this moment, if there is one, and then what the front of every hybrid does, in the order of
    /// their stations; failed devices are left out. Takes time in proportion to the slots: for whoever looks on.
    fn residency(&self) -> Vec<Residency>;
    /// What failed, and what came of it, where something can fail.
    fn faults(&self) -> Option<FaultCounts>;
    /// Positioning time of `read` if it were served next; zero where that cannot be told.
    fn positioning(&self, now: Time, read: &Queued) -> Span;
    /// The same system as one that keeps contents, where it does.
    fn durable(&mut self) -> Option<&mut dyn Durable>;
}

impl dyn System + '_ {
    /// Ledgers of all stations that have one, and what they cost.
    pub fn ledgers(&self) -> Vec<(&Ledger, Energy)> {
        self.stations()
            .into_iter()
            .filter_map(|s| s.ledger().map(|l| (l, l.energy(&s.device().mechanics().power_rates()))))
            .collect()
    }
}

/// A system whose media keep contents, from [`Medium`] up: what is written is found again, and the power can fail.
pub trait Durable: Send {
    /// Hands over the data of the write that arrives next under this number, one content for each block.
    fn give(&mut self, access: u64, data: Vec<Content>);
    /// What the read found that was completed last under this number.
    fn found(&mut self, access: u64) -> Vec<Content>;
    /// The power fails: all that is not durable is lost, and of every block on its way to a medium `survives` tells
    /// whether it got there. Returns what is found when all that is durable has been read again.
    fn crash(&mut self, survives: &mut dyn FnMut() -> bool) -> Contents;
    /// From now on room is called free before what was in it is safe: a defect that tests must find.
    fn free_early(&mut self);
}

/// [`System::advance_before`] one event after the other.
pub fn advance_by_events<S: System + ?Sized>(system: &mut S, horizon: Time, completed: &mut Vec<Completion>) {
    while let Some(now) = system.next_event().filter(|at| *at < horizon)
        && completed.len() < MOST_COMPLETED
    {
        system.advance(now, completed);
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
    /// Whether the device begins parked.
    pub start: Start,
}

/// A hybrid in the place of each device.
#[derive(Clone, Debug)]
pub struct HybridFile {
    /// Which one.
    pub choice: hybrid::Choice,
    /// The device in front.
    pub front: DeviceFile,
    /// When that parks and starts.
    pub power: power::Choice,
}

/// All that a system is made of.
#[derive(Clone, Copy, Debug)]
pub struct SystemParts<'a> {
    /// How devices are put together.
    pub system: &'a SystemParams,
    /// What is in front of them all.
    pub cache: &'a CacheParams,
    /// What is in front of each.
    pub hybrid: Option<&'a HybridFile>,
    /// The devices.
    pub device: &'a DeviceFile,
    /// What runs on them.
    pub setup: Setup<'a>,
    /// Whether media keep contents, which takes memory and time.
    pub keep_contents: bool,
}

/// The system that `parts` ask for, with nothing waiting and nothing cached.
///
/// # Errors
/// Parameters that make no sense, alone or together.
pub fn assemble(parts: SystemParts) -> Result<Box<dyn System>> {
    let SystemParts { system, cache, .. } = parts;
    let mut bare = if system.kind == params::SystemKind::Single && system.devices == 1 {
        if system.bus == params::BusUse::Shared {
            return Err(Error::user("system.bus = \"shared\", but system.kind = \"single\" has one device")
                .with_remedy("set system.bus = \"own\", or choose a system.kind of several"));
        }
        array::check_failures(system)?;
        node(parts)?
    } else {
        Box::new(Array::new(parts)?)
    };
    if parts.keep_contents && bare.durable().is_none() {
        return Err(Error::user("this device cannot keep contents").with_remedy("choose another device"));
    }
    if cache.capacity_blocks < cache.line_blocks {
        return Err(Error::user(format!(
            "cache.capacity_blocks = {} is less than a line of {} blocks",
            cache.capacity_blocks, cache.line_blocks
        ))
        .with_remedy("make the cache larger, or cache.line_blocks smaller"));
    }
    Ok(match cache.kind {
        cache::CacheKind::None => bare,
        cache::CacheKind::WriteBack => Box::new(Cached::new(cache, bare)?),
    })
}

/// A device, or the hybrid in its place.
fn node(parts: SystemParts) -> Result<Box<dyn System>> {
    let SystemParts { hybrid, device, setup, keep_contents, .. } = parts;
    let build = |file, setup| -> Result<Box<dyn System>> {
        let system = build(file, setup)?;
        Ok(if keep_contents { Box::new(Medium::new(system)) } else { system })
    };
    let back = build(device, setup)?;
    let Some(HybridFile { choice, front, power }) = hybrid else { return Ok(back) };
    let front = build(front, Setup { power, ..setup })?;
    choice.make(hybrid::HybridDevices { front, back })
}

/// The system that a device file describes, each station with an empty queue.
///
/// # Errors
/// Parameters that make no sense together.
pub fn build(file: &DeviceFile, setup: Setup) -> Result<Box<dyn System>> {
    if let Some(units) = file.params.units()? {
        return Ok(Box::new(Array::of_units(units, setup)?));
    }
    Ok(Box::new(Single::new(Station::new(file, setup)?)))
}
