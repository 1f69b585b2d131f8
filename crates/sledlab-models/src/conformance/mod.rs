//! Rules that every model of a kind must keep: the tests check the listed models, and users check their plug-ins.

pub mod device;
pub mod replacement;
pub mod scheduler;

use std::fmt;

use sledlab_core::conformance::{CheckResult, Violation};
use sledlab_core::{Op, Time};

use crate::device::{BusyPeriod, Device, QueuedRequest, ServedRequest};

/// A request as messages describe it.
struct RequestDisplay<'a>(&'a QueuedRequest);

impl fmt::Display for RequestDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueuedRequest { id, lbn, blocks, op, .. } = self.0;
        let operation = if *op == Op::Write { "write" } else { "read" };
        write!(f, "request {id}, a {operation} of {blocks} blocks from {lbn}")
    }
}

/// Serves `batch` on an idle mechanism, and calls `wake` at every `next_wakeup`.
fn serve(
    device: &mut dyn Device,
    now: Time,
    batch: &[QueuedRequest],
) -> CheckResult<(Vec<ServedRequest>, BusyPeriod)> {
    let first = RequestDisplay(&batch[0]);
    let mut served = Vec::new();
    let ready = batch.iter().map(|request| device.admit(now, request)).max().unwrap_or(now);
    let mut busy = device.issue(ready, batch, &mut served);
    let busy = loop {
        if let Some(failure) = device.failure() {
            return Err(Violation::from_failure(first, failure));
        }
        if let Some(period) = busy.filter(|_| served.len() >= batch.len()) {
            break period;
        }
        let Some(wakeup) = device.next_wakeup() else {
            return Err(Violation::new(
                first,
                "it is never served: the device is busy, but next_wakeup is None",
            ));
        };
        busy = device.wake(wakeup, &mut served).map(|work| BusyPeriod { until: wakeup, work }).or(busy);
    };
    Violation::check(served.len() == batch.len(), first, || format!("{} completions", served.len()))?;
    Ok((served, busy))
}
