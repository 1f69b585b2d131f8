//! Streaming statistics of completed requests, and the optional per-request table.

use sledlab_core::stats::{BatchMeans, Checksum, Distribution, Sum};
use sledlab_core::{Op, Result, Time};
use sledlab_models::power::TotalEnergy;
use sledlab_models::system::Completion;

use crate::queue_trend::{Arrival, QueueTrend};
use crate::rows::Rows;
use crate::timeline::Timeline;

/// Receives chunks of the per-request table.
pub type RowSink<'a> = Box<dyn FnMut(&Rows) -> Result<()> + Send + 'a>;

/// Sums of the parts of service times, and of the queue times, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServiceParts {
    pub overhead: u64,
    pub seek_x: u64,
    pub settle: u64,
    pub seek_y: u64,
    pub turnaround: u64,
    pub rotation: u64,
    pub transfer: u64,
    pub reposition: u64,
    pub startup: u64,
}

/// Work in the counted time for requests that arrived before it.
#[derive(Clone, Copy, Debug, Default)]
struct UncountedRequests {
    requests: u64,
    blocks: u64,
    /// How long they waited in the counted time.
    queue_ns: u128,
}

/// Statistics of completed requests in constant memory.
pub struct Recorder<'a> {
    warmup: u64,
    pub(crate) start: Time,
    /// When the last request was completed; at the end of a run, the end of background work if that is later.
    pub(crate) end: Time,
    /// Checksum of all completions, including those excluded from statistics.
    pub(crate) checksum: Checksum,
    /// Response times of reads and of writes.
    pub(crate) response_times: [Distribution; 2],
    pub(crate) queue: Sum,
    pub(crate) service: Sum,
    pub(crate) positioning: Sum,
    pub(crate) parts: ServiceParts,
    pub(crate) blocks: [u64; 2],
    /// Energy of reads and of writes that count.
    pub(crate) energy: [TotalEnergy; 2],
    charges_energy: bool,
    /// Requests that arrived in the warm-up and were completed after it.
    uncounted: UncountedRequests,
    /// How long the requests waited that were outstanding at the end of the run.
    pub(crate) outstanding_ns: u128,
    /// Whether the warm-up is over.
    is_open: bool,
    /// Energy of requests that do not count, and of background work.
    pub(crate) uncounted_energy: TotalEnergy,
    pub(crate) batches: BatchMeans,
    pub(crate) timeline: Timeline,
    pub(crate) trend: QueueTrend,
    rows: Rows,
    /// Number of rows passed to the sink at a time.
    chunk: usize,
    has_device_column: bool,
    sink: Option<RowSink<'a>>,
}

impl<'a> Recorder<'a> {
    /// Returns an empty recorder. The first `warmup` operations do not count; `sink` receives the per-request table in
    /// chunks.
    pub fn new(warmup: u64, sink: Option<RowSink<'a>>) -> Self {
        Recorder {
            warmup,
            start: Time::ZERO,
            end: Time::ZERO,
            checksum: Checksum::default(),
            response_times: Default::default(),
            queue: Sum::default(),
            service: Sum::default(),
            positioning: Sum::default(),
            parts: ServiceParts::default(),
            blocks: [0; 2],
            energy: Default::default(),
            charges_energy: true,
            uncounted: UncountedRequests::default(),
            outstanding_ns: 0,
            is_open: warmup == 0,
            uncounted_energy: TotalEnergy::default(),
            batches: BatchMeans::default(),
            timeline: Timeline::default(),
            trend: QueueTrend::new(if warmup == 0 { Time::ZERO } else { Time::MAX }),
            rows: Rows::default(),
            chunk: Rows::CHUNK,
            has_device_column: false,
            sink,
        }
    }

    /// Returns the same recorder without sums of energy; see `Station::without_energy`.
    #[must_use]
    pub fn without_energy(self) -> Self {
        Recorder { charges_energy: false, ..self }
    }

    /// Returns the same recorder with the number of the device in the per-request table.
    #[must_use]
    pub fn with_device_column(self) -> Self {
        Recorder { has_device_column: true, ..self }
    }

    /// Returns the same recorder with small chunks of the per-request table, so that no row is delayed long.
    #[must_use]
    pub(crate) fn with_small_chunks(self) -> Self {
        Recorder { chunk: Rows::SMALL_CHUNK, ..self }
    }

    /// Returns whether operation `id` counts in statistics.
    #[inline]
    pub(crate) fn is_counted(&self, id: u64) -> bool {
        id >= self.warmup
    }

    /// Records the arrival of `count` requests, of which one is operation `id`.
    #[inline]
    pub(crate) fn arrive(&mut self, id: u64, arrival: Arrival, count: u64) {
        if self.is_counted(id) {
            self.trend.last = arrival;
            self.timeline.arrive(arrival.at, arrival.waiting, count);
        }
    }

    /// Ends the warm-up at `now`.
    pub(crate) fn open(&mut self, now: Time) {
        self.start = now;
        self.is_open = true;
        self.trend = QueueTrend::new(now);
    }

    /// Records the completion of a request that arrived in the warm-up.
    #[cold]
    fn complete_uncounted(&mut self, completion: &Completion) {
        if self.charges_energy {
            self.uncounted_energy += completion.energy;
        }
        if self.is_open && completion.completion > self.start {
            self.uncounted.requests += 1;
            self.uncounted.blocks += u64::from(completion.request.blocks);
            let arrival = completion.request.arrival.max(self.start);
            self.uncounted.queue_ns += u128::from(completion.start.since(arrival).as_ns());
            self.timeline.complete_uncounted(completion.completion, completion.request.blocks);
        }
    }

    /// Returns the number of requests completed in the counted time, and their blocks: those that arrived in the
    /// warm-up included.
    pub(crate) fn completed(&self) -> (u64, u64) {
        let counted: u64 = self.response_times.iter().map(|times| times.moments().count()).sum();
        (counted + self.uncounted.requests, self.blocks.iter().sum::<u64>() + self.uncounted.blocks)
    }

    /// Returns the sum of the times in ns that requests waited in the counted time.
    pub(crate) fn waited_ns(&self) -> u128 {
        self.queue.sum() + self.uncounted.queue_ns + self.outstanding_ns
    }

    /// Records the completion of a request.
    #[inline]
    pub(crate) fn complete(&mut self, completion: &Completion) -> Result<()> {
        self.end = completion.completion;
        self.checksum.record(completion.request.id, completion.completion);
        if !self.is_counted(completion.request.id) {
            self.complete_uncounted(completion);
            return Ok(());
        }
        let response_ns = completion.completion.since(completion.request.arrival).as_ns();
        let op = usize::from(completion.request.op != Op::Read);
        self.response_times[op].record(response_ns);
        self.blocks[op] += u64::from(completion.request.blocks);
        if self.charges_energy {
            self.energy[op] += completion.energy;
        }
        let timing = &completion.timing;
        self.queue.record(completion.start.since(completion.request.arrival).as_ns());
        self.service.record(completion.completion.since(completion.start).as_ns());
        self.positioning.record(timing.positioning().as_ns());
        self.parts.overhead += timing.overhead.as_ns();
        self.parts.seek_x += timing.seek_x.as_ns();
        self.parts.settle += timing.settle.as_ns();
        self.parts.seek_y += timing.seek_y.as_ns();
        self.parts.turnaround += timing.turnaround.as_ns();
        self.parts.rotation += timing.rotation.as_ns();
        self.parts.transfer += timing.transfer.as_ns();
        self.parts.reposition += timing.reposition.as_ns();
        self.parts.startup += timing.startup.as_ns();
        self.batches.record(response_ns as f64);
        self.timeline.complete(completion.completion, completion.request.blocks, response_ns);
        if self.sink.is_some() {
            self.rows.push(completion);
            if self.has_device_column {
                self.rows.device.push(completion.device.map_or(u64::MAX, u64::from));
            }
            if self.rows.len() == self.chunk {
                self.flush_rows()?;
            }
        }
        Ok(())
    }

    /// Returns the energy of all seeks and accesses, for requests and background work, in microjoules; it must equal
    /// that of the ledgers.
    pub(crate) fn served_uj(&self) -> f64 {
        let [reads, writes] = &self.energy;
        let parts = [reads, writes, &self.uncounted_energy].map(TotalEnergy::sum);
        parts.iter().map(|energy| energy.seek_uj + energy.access_uj).sum()
    }

    /// Passes the collected rows to the sink.
    pub(crate) fn flush_rows(&mut self) -> Result<()> {
        if let Some(sink) = &mut self.sink
            && !self.rows.is_empty()
        {
            sink(&self.rows)?;
            self.rows.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sledlab_models::device::QueuedRequest;
    use sledlab_models::power::RequestEnergy;

    use super::*;

    /// After 2e8 requests a plain sum is off by more than the conservation check tolerates: such small energies would
    /// be lost by rounding.
    #[test]
    fn small_costs_add_to_large_sums() {
        let mut recorder = Recorder::new(0, None);
        let mut serve = |seek_uj, access_uj| {
            let energy = RequestEnergy { seek_uj, access_uj, startup_uj: 0.0 };
            let completion =
                Completion { energy, ..Completion::immediate(QueuedRequest::default(), Time::ZERO) };
            recorder.complete(&completion).unwrap();
        };
        serve(2e16, 3e16);
        (0..100_000).for_each(|_| serve(0.25, 0.5));
        let sum = RequestEnergy { seek_uj: 2e16 + 25_000.0, access_uj: 3e16 + 50_000.0, startup_uj: 0.0 };
        assert_eq!(recorder.energy[0].sum(), sum);
        assert_eq!(recorder.served_uj().to_bits(), (5e16_f64 + 75_000.0).to_bits());
    }
}
