//! Updates the status of the server without waiting for the readers of the status.

use sledlab_core::Error;
use sledlab_sim::Outcome;

use super::ServerState;
use crate::report::{ServerReport, Status};
use crate::timing::lateness::{Cause, Stalls};

/// Minimum time between two updates of the status, in nanoseconds.
const UPDATE_INTERVAL_NS: u64 = 250_000_000;

/// A thread that waits for less than this has no time for an update, in nanoseconds.
const MIN_UPDATE_WAIT_NS: u64 = 200_000;

/// The time of the last status update, and whether the status has changed since.
#[derive(Debug)]
pub(super) struct StatusUpdates {
    pub last_update: u64,
    pub due: bool,
}

impl ServerState {
    /// Updates the status if there is time for that; returns the maximum time to wait.
    pub(super) fn update_when_idle(&mut self, now: u64, wait_ns: u64) -> u64 {
        let due_at = self.status_updates.last_update + UPDATE_INTERVAL_NS;
        if !self.status_updates.due || wait_ns < MIN_UPDATE_WAIT_NS && now < due_at + UPDATE_INTERVAL_NS {
            return wait_ns;
        }
        if now < due_at {
            return wait_ns.min(due_at - now);
        }
        self.status_updates.last_update = now;
        self.update_status(false);
        // The update has taken some time.
        wait_ns.saturating_sub(self.clock.now() - now)
    }

    /// Updates the status; waits for its lock only if `patient`.
    pub(super) fn update_status(&mut self, waits_for_lock: bool) {
        let status = self.status();
        // A reader holds the lock while it copies the status; a real-time thread does not wait for that.
        let shared_status =
            if waits_for_lock { Some(self.shared.status()) } else { self.shared.status.try_lock().ok() };
        if let Some(mut shared_status) = shared_status {
            *shared_status = status;
            self.status_updates.due = false;
        }
        if let Some(recording) = &mut self.recording {
            recording.try_send();
        }
    }

    fn status(&self) -> Status {
        let now = self.clock.now();
        Status {
            real_s: now as f64 / 1e9,
            power_failures: self.power_failures.into(),
            model_s: self.time.model(now).as_seconds(),
            counts: self.counts,
            in_flight: self.flights.len() as u64,
            queue_length: self.model.as_ref().map_or(0, |model| model.queue_length() as u64),
            longest_queue: self.longest_queue,
            connected: self.connections.len() as u64,
            response_mean_ms: self
                .lateness
                .response_mean_us()
                .map(|us| us / 1e3 / self.time.scale().as_f64()),
            lateness_us: self.lateness.percentiles(),
            within: self.lateness.within,
            stalls: Stalls { listed: Vec::new(), ..self.stalls.clone() },
            realtime: self.budget.is_limited(),
            host: self.host,
            error: None,
        }
    }

    /// The report of the run.
    pub(super) fn report(&mut self, outcome: Option<Outcome>, failure: Option<Error>) -> ServerReport {
        let (digest_of_rows, _) = (self.rows)();
        let lateness = &self.lateness;
        ServerReport {
            outcome,
            failure,
            digest_of_rows,
            power_failures: self.power.take().map(|power| power.failures).unwrap_or_default(),
            counts: self.counts,
            lateness_us: lateness.percentiles(),
            within: lateness.within,
            causes: Cause::ALL.into_iter().map(|cause| (cause, lateness.causes[cause as usize])).collect(),
            beyond_5_ms: lateness.beyond_5_ms,
            response_p10_us: lateness.response_p10_us(),
            response_mean_us: lateness.response_mean_us(),
            stalls: self.stalls.clone(),
            shifted: self.shifted,
            cpu_s: (self.clock.processor() - self.initial_processor_ns) as f64 / 1e9,
            wall_s: self.clock.now() as f64 / 1e9,
            spin_limited_s: self.pacer.limited_ns() as f64 / 1e9,
            naps: self.naps,
            host: self.host,
            send_us: self.pacer.send_ns(4096) as f64 / 1e3,
            spin_us: self.pacer.spin() as f64 / 1e3,
            scale: self.time.scale(),
            untimed: self.is_untimed,
            realtime: self.budget.is_limited(),
        }
    }
}
