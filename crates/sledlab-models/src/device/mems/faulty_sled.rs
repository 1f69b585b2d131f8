//! A sled with tips that are bad or fail: it moves like a sound one, and data under such tips is lost.

use std::sync::Arc;

use sledlab_core::{Error, Time};

use super::shared_sled::SharedSled;
use super::tips::Tips;
use crate::device::{
    BusyPeriod, Device, FaultCounts, FlashCounts, IdleOutcome, Mechanics, QueuedRequest, ServedRequest,
    Timing,
};
use crate::power::MechanicalWork;

/// A device that knows which requests are for lost blocks.
pub(super) struct FaultySled {
    device: Box<dyn Device>,
    sled: Arc<SharedSled>,
    tips: Tips,
}

impl FaultySled {
    pub fn new(device: Box<dyn Device>, sled: Arc<SharedSled>, tips: Tips) -> Self {
        FaultySled { device, sled, tips }
    }
}

#[deny(clippy::missing_trait_methods)]
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

    fn faults(&self, now: Time) -> Option<FaultCounts> {
        Some(FaultCounts {
            lost_blocks: self.tips.lost_blocks(now),
            bad_tips: self.tips.bad_tips(now),
            remapped_tips: self.tips.remapped_tips(),
            ..FaultCounts::default()
        })
    }

    fn flash(&self) -> Option<FlashCounts> {
        self.device.flash()
    }

    fn is_lost(&self, now: Time, request: &QueuedRequest) -> bool {
        let mut blocks = request.lbn..request.lbn + u64::from(request.blocks);
        blocks.any(|lbn| self.tips.is_lost(now, self.sled.place(lbn)))
    }

    fn disable_energy(&mut self) {
        self.device.disable_energy();
    }

    fn destage_end(&self) -> Time {
        self.device.destage_end()
    }

    fn end_idle_period(&mut self, outcome: IdleOutcome) {
        self.device.end_idle_period(outcome);
    }

    fn failure(&mut self) -> Option<Error> {
        self.device.failure()
    }
}
