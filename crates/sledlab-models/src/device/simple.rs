//! Devices that serve one request after another and have no positions that schedulers could use.

use sledlab_core::{Error, Span, Time};

use super::{
    BusyPeriod, Device, DeviceState, Extent, Location, Mechanics, MotionPath, QueuedRequest, ServedRequest,
    Timing,
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

    fn serve_from(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        let (timing, next_state) = self.device.serve(state, request);
        (Timing { overhead: Span::ZERO, ..timing }, next_state)
    }

    fn motion_path(&self, state: DeviceState, request: &QueuedRequest) -> MotionPath {
        let (timing, next_state) = self.device.serve(state, request);
        MotionPath::straight((state.x, state.y), (next_state.x, next_state.y), timing.positioning())
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

    fn failure(&mut self) -> Option<Error> {
        self.device.failure()
    }
}
