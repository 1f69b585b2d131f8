//! A sled with tips that are bad or fail: it moves like a sound one, and data under such tips is lost.

use std::sync::Arc;

use sledlab_core::{Error, Time};

use super::sled::Sled;
use super::tips::Tips;
use crate::device::{
    BusyPeriod, Device, FaultCounts, IdleOutcome, Mechanics, QueuedRequest, ServedRequest, Timing,
};
use crate::power::MechanicalWork;

/// A device whose requests are checked for lost blocks.
pub(super) struct FaultySled {
    device: Box<dyn Device>,
    sled: Arc<Sled>,
    tips: Tips,
    lost_requests: u64,
    /// When requests were last issued to the device.
    now: Time,
}

impl FaultySled {
    pub fn new(device: Box<dyn Device>, sled: Arc<Sled>, tips: Tips) -> Self {
        FaultySled { device, sled, tips, lost_requests: 0, now: Time::ZERO }
    }
}

impl Device for FaultySled {
    fn mechanics(&self) -> &dyn Mechanics {
        self.device.mechanics()
    }

    fn probe(&self, now: Time, request: &QueuedRequest) -> Timing {
        self.device.probe(now, request)
    }

    fn set_time(&mut self, now: Time) {
        self.device.set_time(now);
    }

    fn admit(&mut self, now: Time, request: &QueuedRequest) -> Time {
        self.device.admit(now, request)
    }

    fn pop_admitted(&mut self) -> Option<QueuedRequest> {
        self.device.pop_admitted()
    }

    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod> {
        self.now = now;
        let is_lost = |request: &&QueuedRequest| {
            let mut blocks = request.lbn..request.lbn + u64::from(request.blocks);
            blocks.any(|lbn| self.tips.is_lost(now, self.sled.place(lbn)))
        };
        self.lost_requests += batch.iter().filter(is_lost).count() as u64;
        self.device.issue(now, batch, served)
    }

    fn can_accept_batch(&self) -> bool {
        self.device.can_accept_batch()
    }

    fn has_background_work(&self) -> bool {
        self.device.has_background_work()
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.device.next_wakeup()
    }

    fn wake(&mut self, now: Time, served: &mut Vec<ServedRequest>) -> Option<MechanicalWork> {
        self.device.wake(now, served)
    }

    fn has_volatile_buffer(&self) -> bool {
        self.device.has_volatile_buffer()
    }

    fn faults(&self) -> Option<FaultCounts> {
        Some(FaultCounts {
            lost_blocks: self.tips.lost_blocks(self.now),
            lost_requests: self.lost_requests,
            bad_tips: self.tips.bad_tips(self.now),
            remapped_tips: self.tips.remapped_tips(),
            ..FaultCounts::default()
        })
    }

    fn disable_energy(&mut self) {
        self.device.disable_energy();
    }

    fn end_idle_period(&mut self, remaining: IdleOutcome) {
        self.device.end_idle_period(remaining);
    }

    fn failure(&mut self) -> Option<Error> {
        self.device.failure()
    }
}
