//! The mechanism of a device, as schedulers see it: where it is, where blocks lie, and what the way to them takes.

use sledlab_core::{Span, Time};

use super::{Aim, PositionIndex, Queued, Timing, Turning, Way};
use crate::power::PowerRates;

/// Where a device's mechanism is, and when it can set out: all that the time of the next access depends on.
///
/// Every kind of device puts into it what it needs, in units of its own, and leaves the rest at
/// [`STILL`](DeviceState::STILL): a sled its place and direction, a disk the cylinder and head of its arm and two times.
/// Nobody else reads more into it than that equal states take equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceState {
    /// Place along x.
    pub x: i32,
    /// Place along y.
    pub y: i32,
    /// Direction of motion along y: +1 or -1.
    pub direction: i8,
    /// When it can set out for a read, where [`Mechanics::heeds_time`].
    pub reads_from: Time,
    /// When it can set out for a write, where [`Mechanics::heeds_time`].
    pub writes_from: Time,
}

impl DeviceState {
    /// Of a device in which nothing moves.
    pub const STILL: DeviceState =
        DeviceState { x: 0, y: 0, direction: 1, reads_from: Time::ZERO, writes_from: Time::ZERO };
}

/// Where a block lies, as schedulers that think in places see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Cylinder, from 0: the place along x.
    pub cylinder: u32,
    /// Row, from 0: the place along y; the head of a disk.
    pub row: u32,
    /// The middle of that place along x, in the units of [`DeviceState::x`].
    pub x: i32,
    /// The middle of that place along y, in the units of [`DeviceState::y`].
    pub y: i32,
}

impl Location {
    /// The place of every block of a device that has only one.
    pub const ONLY: Location = Location { cylinder: 0, row: 0, x: 0, y: 0 };
}

/// How far locations reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Cylinders.
    pub cylinders: u32,
    /// Rows of a cylinder.
    pub rows: u32,
    /// Blocks of a track.
    pub blocks_per_track: u64,
}

/// The order in which a device keeps queued requests: of those between which a scheduler sees no difference, the first
/// in that order goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// The order of arrival.
    Arrival,
    /// The order of block numbers, then of arrival.
    Blocks,
}

impl QueueOrder {
    /// Where `request` stands in the queue; of equal ones the earlier number stands before the later.
    pub fn rank(self, request: &Queued) -> u64 {
        match self {
            QueueOrder::Arrival => 0,
            QueueOrder::Blocks => request.lbn,
        }
    }
}

/// The mechanism of a device: geometry, motion and power, all of it pure. This is what schedulers see.
///
/// Like [`Scheduler`](crate::scheduler::Scheduler), it has no defaults that a wrapper could forget to forward.
pub trait Mechanics: Send + Sync {
    /// Number of blocks, at least 1.
    fn capacity_blocks(&self) -> u64;

    /// Where the mechanism is.
    fn state(&self) -> DeviceState;

    /// Where block `lbn` lies.
    fn location(&self, lbn: u64) -> Location;

    /// How far locations reach.
    fn extent(&self) -> Extent;

    /// Blocks that can be accessed at once: what requests are merged up to. Where no more than one sector is, a track.
    fn blocks_at_once(&self) -> u32;

    /// Positioning time of `request` from `state`, as schedulers see it.
    fn positioning_from(&self, state: DeviceState, request: &Queued) -> Span;

    /// Positioning time of `request` from the present state.
    fn positioning(&self, request: &Queued) -> Span;

    /// Which of equal positioning times is preferred: the smallest, such as the distance along x; then the earlier
    /// number.
    fn tie(&self, request: &Queued) -> u64;

    /// The order in which requests are queued, for choices that no time decides.
    fn queue_order(&self) -> QueueOrder;

    /// The square of the distance in the plane from a place, `x` and `y` in the units of [`DeviceState`], to the nearest
    /// place where an access to block `lbn` may begin. What takes no way, such as another head, adds none.
    fn distance_squared(&self, from: (i32, i32), lbn: u64) -> u64;

    /// Whether what an access takes depends on when it begins, as it does where something turns.
    fn heeds_time(&self) -> bool;

    /// What serving `request` alone from `state` takes, command overhead left out, and where it ends.
    fn serve_from(&self, state: DeviceState, request: &Queued) -> (Timing, DeviceState);

    /// Where the mechanism is while it serves `request` alone from `state`, in units of [`DeviceState`], from when it sets
    /// out: what people look at, which nothing of a result depends on. Where nothing moves, as unless a mechanism says
    /// otherwise, that is where it stands.
    fn way_from(&self, state: DeviceState, _request: &Queued) -> Way {
        Way::straight((state.x, state.y), (state.x, state.y), Span::ZERO)
    }

    /// Where `request` lies on its circle, and how that turns: what people look at, which nothing of a result depends on.
    /// `None` where nothing turns, as unless a mechanism says otherwise.
    fn turning(&self, _request: &Queued) -> Option<Turning> {
        None
    }

    /// Whether `candidate` can be served in one access together with all of `batch`: its next block lies at the same
    /// place, and as many blocks as there are then can be accessed at once (SC-22).
    fn joins(&self, batch: &[Queued], candidate: &Queued) -> bool;

    /// An empty index over queued requests that finds the best by `aim` exactly, where there is one.
    fn position_index(&self, aim: &Aim) -> Option<Box<dyn PositionIndex>>;

    /// The same mechanism as it is now, to keep.
    fn snapshot(&self) -> Box<dyn Mechanics>;

    /// Power in each state.
    fn power_rates(&self) -> PowerRates;

    /// Power while idle in the present state, in mW.
    fn idle_mw(&self) -> f64;
}
