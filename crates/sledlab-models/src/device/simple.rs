//! Devices that serve one request after another and have no positions that schedulers could use.

use sledlab_core::{Error, Span, Time};

use super::{
    Aim, BusyPeriod, Device, DeviceState, Extent, FaultCounts, IdleOutcome, Location, Mechanics, MotionPath,
    PositionIndex, QueueOrder, QueuedRequest, ServedRequest, Timing,
};
use crate::power::{MechanicalWork, PowerRates};

/// A device without parallel commands, background work or failing parts. [`SimpleAdapter`] makes a [`Device`] of it.
///
/// The time of a request may depend on a state, which [`SimpleAdapter`] stores.
pub trait SimpleDevice: Clone + Send + Sync + 'static {
    /// Number of blocks, at least 1.
    fn capacity_blocks(&self) -> u64;

    /// Timing of `request` from `state`, and the state after the request. Requests start in
    /// [`DeviceState::ORIGIN`].
    fn serve(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState);

    /// Power of the device in each of its power states.
    fn power_rates(&self) -> PowerRates;

    /// Power while idle, in mW.
    fn idle_mw(&self) -> f64;

    /// Called after each request.
    fn on_completion(&mut self, served: &ServedRequest);

    /// The error of a failed device; see [`Device::failure`].
    fn failure(&mut self) -> Option<Error>;
}

/// A [`Device`] and [`Mechanics`] made of a [`SimpleDevice`].
#[derive(Clone, Debug)]
pub struct SimpleAdapter<D> {
    device: D,
    state: DeviceState,
}

impl<D> SimpleAdapter<D> {
    /// An idle device.
    pub fn new(device: D) -> Self {
        SimpleAdapter { device, state: DeviceState::ORIGIN }
    }
}

impl<D: SimpleDevice> Mechanics for SimpleAdapter<D> {
    fn capacity_blocks(&self) -> u64 {
        self.device.capacity_blocks()
    }

    fn state(&self) -> DeviceState {
        self.state
    }

    fn location(&self, _lbn: u64) -> Location {
        Location::ORIGIN
    }

    fn extent(&self) -> Extent {
        Extent { cylinders: 1, rows: 1, blocks_per_track: self.capacity_blocks() }
    }

    fn parallel_blocks(&self) -> u32 {
        u32::try_from(self.capacity_blocks()).unwrap_or(u32::MAX)
    }

    fn positioning_from(&self, state: DeviceState, request: &QueuedRequest) -> Span {
        self.device.serve(state, request).0.positioning()
    }

    fn positioning(&self, request: &QueuedRequest) -> Span {
        self.positioning_from(self.state, request)
    }

    fn tie_rank(&self, _request: &QueuedRequest) -> u64 {
        0
    }

    fn queue_order(&self) -> QueueOrder {
        QueueOrder::Arrival
    }

    fn distance_squared(&self, _from: (i32, i32), _lbn: u64) -> u64 {
        0
    }

    fn is_time_dependent(&self) -> bool {
        false
    }

    fn serve_from(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        let (timing, next_state) = self.device.serve(state, request);
        (Timing { overhead: Span::ZERO, ..timing }, next_state)
    }

    fn motion_path(&self, state: DeviceState, request: &QueuedRequest) -> MotionPath {
        let (timing, next_state) = self.device.serve(state, request);
        MotionPath::straight((state.x, state.y), (next_state.x, next_state.y), timing.positioning())
    }

    fn can_join(&self, _batch: &[QueuedRequest], _candidate: &QueuedRequest) -> bool {
        false
    }

    fn position_index(&self, _aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        None
    }

    fn snapshot(&self) -> Box<dyn Mechanics> {
        Box::new(self.clone())
    }

    fn power_rates(&self) -> PowerRates {
        self.device.power_rates()
    }

    fn idle_mw(&self) -> f64 {
        self.device.idle_mw()
    }
}

impl<D: SimpleDevice> Device for SimpleAdapter<D> {
    fn mechanics(&self) -> &dyn Mechanics {
        self
    }

    fn probe(&self, _now: Time, request: &QueuedRequest) -> Timing {
        self.device.serve(self.state, request).0
    }

    fn set_time(&mut self, _now: Time) {}

    fn admit(&mut self, now: Time, _request: &QueuedRequest) -> Time {
        now
    }

    fn pop_admitted(&mut self) -> Option<QueuedRequest> {
        None
    }

    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod> {
        let mut busy = BusyPeriod { until: now, work: MechanicalWork::default() };
        for request in batch {
            let start = busy.until;
            let (timing, next_state) = self.device.serve(self.state, request);
            self.state = next_state;
            let (service, seek) = (timing.service(), timing.positioning());
            // The device is powered during the command overhead.
            let work = MechanicalWork { seek, access: service - seek, ..MechanicalWork::default() };
            busy.work += work;
            busy.until = start + service;
            let (completion, energy) = (busy.until, self.power_rates().energy(&work));
            let served_request = ServedRequest {
                request: *request,
                start,
                completion,
                write_behind: Span::ZERO,
                timing,
                energy,
                device: Some(0),
            };
            self.device.on_completion(&served_request);
            served.push(served_request);
        }
        Some(busy)
    }

    fn can_accept_batch(&self) -> bool {
        false
    }

    fn has_background_work(&self) -> bool {
        false
    }

    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    fn wake(&mut self, _now: Time, _served: &mut Vec<ServedRequest>) -> Option<MechanicalWork> {
        None
    }

    fn has_volatile_buffer(&self) -> bool {
        false
    }

    fn faults(&self, _now: Time) -> Option<FaultCounts> {
        None
    }

    fn is_lost(&self, _now: Time, _request: &QueuedRequest) -> bool {
        false
    }

    fn disable_energy(&mut self) {}

    fn destage_end(&self) -> Time {
        Time::ZERO
    }

    fn end_idle_period(&mut self, _outcome: IdleOutcome) {}

    fn failure(&mut self) -> Option<Error> {
        self.device.failure()
    }
}
