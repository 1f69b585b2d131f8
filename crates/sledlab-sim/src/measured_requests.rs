//! Replay of requests measured on a real drive, with the measured gaps between them.

use sledlab_core::{Error, Result, Span, Time};
use sledlab_models::device::preset::DeviceFile;
use sledlab_models::device::{self, QueuedRequest};
use sledlab_trace::format::MeasuredRequest;

/// Returns the service times of a device that serves one request at a time. The gap between a completion and the next
/// request is the measured one, so that the platters turn by the same angle.
///
/// # Errors
/// A device that cannot be constructed, a request beyond its end, and a device that does not report its completion
/// times (the `interleaved` pipeline); and the error of `watch`, which is called before every request.
pub fn replay_measured_requests(
    file: &DeviceFile,
    requests: &[MeasuredRequest],
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Span>> {
    let mut device = device::build(file)?;
    let capacity = device.mechanics().capacity_blocks();
    let mut served = Vec::new();
    let mut now = Time::ZERO;
    let mut serve = |(id, measured_request): (usize, &MeasuredRequest)| {
        watch()?;
        if measured_request.request.end() > capacity {
            return Err(Error::user(format!(
                "request {id} ends at block {}, but the device has {capacity} blocks",
                measured_request.request.end()
            ))
            .with_remedy("check that the trace was measured on this drive"));
        }
        let request = QueuedRequest {
            arrival: now,
            queue_time: now,
            ..QueuedRequest::new(id as u64, &measured_request.request)
        };
        device.set_time(now);
        let busy = device.issue(now, &[request], &mut served).ok_or_else(|| {
            Error::user("measured streams cannot be replayed behind an interleaved bus")
                .with_remedy("set device.pipeline = \"serial\"")
        })?;
        let service = served.pop().map_or(busy.until, |completion| completion.completion).since(now);
        now = now + service + measured_request.gap;
        Ok(service)
    };
    requests.iter().enumerate().map(&mut serve).collect()
}
