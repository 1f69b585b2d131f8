//! A disk: platters that turn at a constant speed under an arm with one head for each surface.
//!
//! One zone, no cache, no read-ahead: a stream of requests loses a turn whenever the command overhead lets the
//! next sector pass. It has four power states (paper 000, section 3.1): ACTIVE while it seeks, waits for a sector
//! or accesses it, IDLE while it only spins, and, when it is parked, SLEEP or OFF.

mod drive;
mod geometry;
pub mod params;
mod seek;
mod spindle;

use sledlab_core::{Result, Span, Time};

pub use geometry::DiskState;
pub use params::DiskParams;

use self::drive::Drive;
use super::{Busy, Device, Mechanics, Queued, Served, Timing, Work};

/// A disk that serves one request after another.
///
/// The platters are where the time of the run says, also after a spin-up, so that a service is exact as soon as
/// its start is known. [`probe`](Device::probe) does not know it, and takes half a turn of rotational latency.
#[derive(Debug)]
pub struct Disk {
    drive: Drive,
    overhead: Span,
}

impl Disk {
    /// A parked disk with its arm over the first track.
    pub fn new(params: &DiskParams) -> Result<Self> {
        Ok(Disk { drive: Drive::new(params)?, overhead: Span::from_ms(params.command_overhead_ms) })
    }
}

impl Device for Disk {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.drive
    }

    fn probe(&self, request: &Queued) -> Timing {
        let (timing, _) = self.drive.serve_from_any_angle(self.drive.at, request);
        Timing { overhead: self.overhead, ..timing }
    }

    fn issue(&mut self, now: Time, batch: &[Queued], served: &mut Vec<Served>) -> Option<Busy> {
        let mut busy = Busy { until: now, work: Work::default() };
        for request in batch {
            let start = busy.until;
            let (timing, mut work, then) = self.drive.serve_at(start + self.overhead, self.drive.at, request);
            let timing = Timing { overhead: self.overhead, ..timing };
            self.drive.at = then;
            // The disk is as active while it takes the command.
            work.seek += self.overhead;
            busy.work += work;
            busy.until += timing.service();
            let energy = self.drive.power_rates().spent(&work);
            served.push(Served { request: *request, start, completion: busy.until, timing, energy });
        }
        Some(busy)
    }
}
