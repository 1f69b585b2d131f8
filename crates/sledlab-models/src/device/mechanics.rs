//! The mechanism of a device, as schedulers see it: its state, the places of blocks, and positioning times.

use sledlab_core::{Span, Time};

use super::{Aim, MotionPath, PositionIndex, QueuedRequest, RotationalArc, Timing};
use crate::power::PowerRates;

/// State of a device's mechanism on which the time of the next access depends: its position, and when it can start to
/// move.
///
/// Every kind of device sets the fields that it uses, in its own units, and leaves the others at
/// [`ORIGIN`](DeviceState::ORIGIN): a sled its place and direction, a disk the cylinder and head of its arm and two
/// times. Other code may only assume that an access takes equally long from equal states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceState {
    /// Place along x.
    pub x: i32,
    /// Place along y.
    pub y: i32,
    /// Direction of motion along y: +1 or -1.
    pub direction: i8,
    /// When the mechanism can start to move for a read, if [`Mechanics::is_time_dependent`].
    pub earliest_read: Time,
    /// When the mechanism can start to move for a write, if [`Mechanics::is_time_dependent`].
    pub earliest_write: Time,
}

impl DeviceState {
    /// The state of a device without moving parts.
    pub const ORIGIN: DeviceState =
        DeviceState { x: 0, y: 0, direction: 1, earliest_read: Time::ZERO, earliest_write: Time::ZERO };
}

/// Location of a block, for schedulers that choose by location.
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
    pub const ORIGIN: Location = Location { cylinder: 0, row: 0, x: 0, y: 0 };
}

/// Numbers of cylinders and rows over which locations range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of cylinders.
    pub cylinders: u32,
    /// Number of rows of a cylinder.
    pub rows: u32,
    /// Number of blocks of a track.
    pub blocks_per_track: u64,
}

/// The order in which a device keeps queued requests: of requests that a scheduler ranks equal, the first in this
/// order goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// The order of arrival.
    Arrival,
    /// The order of block numbers, then of arrival.
    Blocks,
}

impl QueueOrder {
    /// Rank of `request` in the queue; of requests of equal rank the lower number goes first.
    pub fn rank(self, request: &QueuedRequest) -> u64 {
        match self {
            QueueOrder::Arrival => 0,
            QueueOrder::Blocks => request.lbn,
        }
    }
}

/// The mechanism of a device: geometry, motion and power, as pure functions of its state. Schedulers see a device
/// through it.
///
/// By default every place of the device is as near as any other, and requests are accessed one by one. A wrapper must
/// forward every method, as of [`Device`](super::Device).
pub trait Mechanics: Send + Sync {
    /// Number of blocks, at least 1.
    fn capacity_blocks(&self) -> u64;

    /// Present state of the mechanism.
    fn state(&self) -> DeviceState;

    /// Returns the location of block `lbn`.
    fn location(&self, lbn: u64) -> Location;

    /// Numbers of cylinders and rows over which locations range.
    fn extent(&self) -> Extent;

    /// Number of blocks that can be accessed at once, up to which requests are merged; of a device that accesses one
    /// sector at a time, the blocks of a track.
    fn parallel_blocks(&self) -> u32;

    /// Positioning time of `request` from `state`, as schedulers see it.
    fn positioning_from(&self, state: DeviceState, request: &QueuedRequest) -> Span;

    /// Positioning time of `request` from the present state.
    fn positioning(&self, request: &QueuedRequest) -> Span {
        self.positioning_from(self.state(), request)
    }

    /// Rank of `request` among requests of equal positioning time, such as the distance along x: the smallest goes
    /// first, of equal ranks the lowest number.
    fn tie_rank(&self, _request: &QueuedRequest) -> u64 {
        0
    }

    /// The order of the device's queue, which decides between requests that a scheduler ranks equal.
    fn queue_order(&self) -> QueueOrder {
        QueueOrder::Arrival
    }

    /// The square of the distance in the plane from a place, `x` and `y` in the units of [`DeviceState`], to the
    /// nearest place where an access to block `lbn` may begin. A change that needs no movement, such as to another
    /// head, adds no distance.
    fn distance_squared(&self, _from: (i32, i32), _lbn: u64) -> u64 {
        0
    }

    /// Whether the time of an access depends on when it begins, as on a disk, whose platters turn.
    fn is_time_dependent(&self) -> bool {
        false
    }

    /// Timing of serving `request` alone from `state`, without command overhead, and the state in which the mechanism
    /// ends.
    fn serve_from(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState);

    /// The path of the mechanism while it serves `request` alone from `state`, in units of [`DeviceState`], with
    /// times from when it sets out. It is for display only: results do not depend on it. By default the mechanism
    /// stands still.
    fn motion_path(&self, state: DeviceState, _request: &QueuedRequest) -> MotionPath {
        MotionPath::straight((state.x, state.y), (state.x, state.y), Span::ZERO)
    }

    /// The arc of a turning platter on which `request` lies, and the time of a turn. It is for display only: results
    /// do not depend on it. By default `None`, for mechanisms that do not turn.
    fn rotation_arc(&self, _request: &QueuedRequest) -> Option<RotationalArc> {
        None
    }

    /// Whether `candidate` can be served in one access together with all of `batch`: its next block lies at the same
    /// position, and the blocks that all of them have there can be accessed at once.
    fn can_join(&self, _batch: &[QueuedRequest], _candidate: &QueuedRequest) -> bool {
        false
    }

    /// An empty index over queued requests that finds the best request by `aim` exactly; `None` if the device has
    /// none for `aim`.
    fn position_index(&self, _aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        None
    }

    /// A copy of the mechanism in its present state.
    fn snapshot(&self) -> Box<dyn Mechanics>;

    /// Power of the device in each of its power states.
    fn power_rates(&self) -> PowerRates;

    /// Power while idle in the present state, in mW.
    fn idle_mw(&self) -> f64;
}
