//! Reuse of data below the cache of a host: which places requests repeat, and how often they go to new data.
//!
//! A host with a cache seldom reads back from a device what it has just written, and does not read again what it still
//! holds. So reads and writes have separate histories, and a read goes to new data more often than a write. In the
//! public week of a workstation (`ajw.1week.srt`, distributed with DiskSim 4.0), hits of LRU caches grow linearly with
//! the logarithm of the size of the cache: the distance between two uses of a place is log-uniform.

use std::collections::VecDeque;

use rand::RngExt;
use sledlab_core::hash::Map;
use sledlab_core::seed::Stream;
use sledlab_core::{Op, math};

use super::permutation::Permutation;

/// Places that a history remembers: the last 2^20.
const MAX_HISTORY: usize = 1 << 20;

/// Draws of a place until one is accepted that the host cache does not hold.
const MAX_DRAWS: usize = 12;

/// How requests reuse data.
#[derive(Clone, Copy, Debug)]
pub struct ReuseShape {
    /// Share of writes that go to data not written before.
    pub new_write_share: f64,
    /// Share of reads that go to new data, over that of writes.
    pub new_read_ratio: f64,
    /// Share of the writes to data not written before that go to data that was read.
    pub write_after_read_share: f64,
    /// Share of the reads of old data that go to data in the history of writes.
    pub read_after_write_share: f64,
    /// Visits during which the host cache keeps data that was read or written: no read goes to it.
    pub min_read_lag: u64,
    /// Visits during which data is not written again.
    pub min_write_lag: u64,
}

/// A place on the device that a visit reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPlace {
    /// First block.
    pub lbn: u64,
    /// Blocks from the first to the last.
    pub blocks: u32,
}

impl DataPlace {
    /// The first block after the place.
    pub fn end(self) -> u64 {
        self.lbn + u64::from(self.blocks)
    }
}

/// The places of one operation, oldest first.
#[derive(Clone, Debug, Default)]
struct History {
    places: Vec<DataPlace>,
    /// Index of the oldest place.
    oldest: usize,
}

impl History {
    fn push(&mut self, place: DataPlace) {
        if self.places.len() < MAX_HISTORY {
            self.places.push(place);
        } else {
            self.places[self.oldest] = place;
            self.oldest = (self.oldest + 1) % MAX_HISTORY;
        }
    }

    /// The place at a lag that is log-uniform from `min_lag` to the length of the history, or uniform in a history that
    /// is not longer than `min_lag`. `quantile` is below 1.
    fn at_quantile(&self, quantile: f64, min_lag: u64) -> Option<DataPlace> {
        let (length, min_lag) = (self.places.len() as f64, min_lag.max(1) as f64);
        let lag = if min_lag < length {
            min_lag * math::pow(length / min_lag, quantile)
        } else {
            length * quantile
        };
        let lag = (lag as usize).max(1);
        (lag <= self.places.len())
            .then(|| self.places[(self.oldest + self.places.len() - lag) % self.places.len()])
    }
}

/// The places used last, as many as the longest minimum lag.
#[derive(Clone, Debug, Default)]
struct RecentUses {
    window: VecDeque<u64>,
    /// Number of the last visit and of the last write of each place in the window.
    last_visits: Map<u64, [Option<u64>; 2]>,
    visits: u64,
}

impl RecentUses {
    fn is_within(&self, lbn: u64, op: Op, min_lag: u64) -> bool {
        let last = self.last_visits.get(&lbn).and_then(|last| last[usize::from(op == Op::Write)]);
        last.is_some_and(|last| self.visits - last < min_lag)
    }

    fn push(&mut self, lbn: u64, op: Op, length: u64) {
        if length <= 1 {
            return;
        }
        self.visits += 1;
        let last = self.last_visits.entry(lbn).or_default();
        last[0] = Some(self.visits);
        if op == Op::Write {
            last[1] = Some(self.visits);
        }
        self.window.push_back(lbn);
        if self.window.len() as u64 > length
            && let Some(oldest) = self.window.pop_front()
            && self.last_visits.get(&oldest).is_some_and(|last| last[0] == Some(self.visits - length))
        {
            self.last_visits.remove(&oldest);
        }
    }
}

/// Addresses of new data: clusters in random order over an address space, each filled from its end, so that new data is
/// near earlier data without being read or written sequentially.
#[derive(Clone, Debug)]
struct NewPlaces {
    clusters: Permutation,
    cluster_blocks: u64,
    next_cluster: u64,
    /// First block of the present cluster, and blocks that are free from there on.
    cluster_lbn: u64,
    free_blocks: u64,
}

impl NewPlaces {
    fn new(space_blocks: u64, cluster_blocks: u64, order: Stream) -> Self {
        let clusters = Permutation::new((space_blocks / cluster_blocks).max(1), order);
        NewPlaces { clusters, cluster_blocks, next_cluster: 0, cluster_lbn: 0, free_blocks: 0 }
    }

    /// Takes `blocks`, or a cluster if that is smaller. `None` once all clusters are taken.
    fn take(&mut self, blocks: u64) -> Option<u64> {
        let blocks = blocks.min(self.cluster_blocks);
        if self.free_blocks < blocks {
            if self.next_cluster == self.clusters.count() {
                return None;
            }
            self.cluster_lbn = self.clusters.at(self.next_cluster) * self.cluster_blocks;
            self.free_blocks = self.cluster_blocks;
            self.next_cluster += 1;
        }
        self.free_blocks -= blocks;
        Some(self.cluster_lbn + self.free_blocks)
    }
}

/// The random numbers of a [`DataReuse`].
pub struct ReuseStreams {
    /// Whether a visit goes to new data.
    pub kinds: Stream,
    /// Lags of repeated places.
    pub lags: Stream,
    /// Order in which clusters of new data are taken.
    pub order: Stream,
}

impl ReuseStreams {
    /// The streams of the names that `stream` is called with.
    pub fn new(stream: impl Fn(&str) -> Stream) -> Self {
        ReuseStreams { kinds: stream("kinds"), lags: stream("lags"), order: stream("order") }
    }
}

/// Draws the places that visits go to.
#[derive(Clone, Debug)]
pub struct DataReuse {
    shape: ReuseShape,
    reads: History,
    writes: History,
    recent: RecentUses,
    new_places: NewPlaces,
    kinds: Stream,
    lags: Stream,
}

impl DataReuse {
    /// Places in `space_blocks`, of which new data takes clusters of `cluster_blocks`.
    pub fn new(shape: ReuseShape, space_blocks: u64, cluster_blocks: u64, streams: ReuseStreams) -> Self {
        DataReuse {
            shape,
            reads: History::default(),
            writes: History::default(),
            recent: RecentUses::default(),
            new_places: NewPlaces::new(space_blocks, cluster_blocks.min(space_blocks), streams.order),
            kinds: streams.kinds,
            lags: streams.lags,
        }
    }

    /// The place of the next visit; new data has `blocks`. Places of more blocks than a cluster may overlap.
    #[inline]
    pub fn next(&mut self, op: Op, blocks: u32) -> DataPlace {
        // Drawn whether used or not, so that no choice shifts another.
        let [kind, other] = [self.kinds.random::<f64>(), self.kinds.random::<f64>()];
        let new_share = match op {
            Op::Read => self.shape.new_write_share * self.shape.new_read_ratio,
            _ => self.shape.new_write_share,
        };
        let place =
            if kind < new_share { self.first_use(op, other, blocks) } else { self.old_place(op, other) };
        let place = place
            .or_else(|| self.new_place(blocks))
            .or_else(|| self.reads.at_quantile(other, 1))
            .or_else(|| self.writes.at_quantile(other, 1))
            .unwrap_or(DataPlace { lbn: 0, blocks });
        if op == Op::Read {
            self.reads.push(place);
        } else {
            self.writes.push(place);
        }
        self.recent.push(place.lbn, op, self.shape.min_read_lag.max(self.shape.min_write_lag));
        place
    }

    fn new_place(&mut self, blocks: u32) -> Option<DataPlace> {
        let lbn = self.new_places.take(u64::from(blocks))?;
        Some(DataPlace { lbn, blocks })
    }

    /// A place that `op` did not use before: new, or of a write to data that was read at any lag.
    fn first_use(&mut self, op: Op, kind: f64, blocks: u32) -> Option<DataPlace> {
        if op == Op::Write && kind < self.shape.write_after_read_share {
            return self.reads.at_quantile(self.lags.random(), 1);
        }
        self.new_place(blocks)
    }

    /// A place that was used before and that the host cache does not hold. `None` where it seems to hold all places.
    fn old_place(&mut self, op: Op, kind: f64) -> Option<DataPlace> {
        let is_reread = op == Op::Read;
        let min_lag = if is_reread { self.shape.min_read_lag } else { self.shape.min_write_lag };
        let of_writes = kind < self.shape.read_after_write_share && !self.writes.places.is_empty();
        let history = if is_reread && !of_writes { &self.reads } else { &self.writes };
        (0..MAX_DRAWS)
            .filter_map(|_| history.at_quantile(self.lags.random(), min_lag))
            .find(|place| !self.recent.is_within(place.lbn, op, min_lag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledlab_core::hash::Set;
    use sledlab_core::seed::stream;

    const SHAPE: ReuseShape = ReuseShape {
        new_write_share: 0.05,
        new_read_ratio: 4.0,
        write_after_read_share: 0.65,
        read_after_write_share: 0.0,
        min_read_lag: 1,
        min_write_lag: 1,
    };

    fn make_reuse(shape: ReuseShape, space_blocks: u64) -> DataReuse {
        DataReuse::new(shape, space_blocks, 16, ReuseStreams::new(|purpose| stream(1, purpose)))
    }

    #[test]
    fn lags_are_log_uniform() {
        let mut history = History::default();
        for lbn in 0..10_000 {
            history.push(DataPlace { lbn, blocks: 16 });
        }
        let lag =
            |quantile: f64| 10_000 - history.at_quantile(quantile, 1).expect("the history has places").lbn;
        assert_eq!([0.0, 0.25, 0.5, 0.75].map(lag), [1, 10, 100, 1000]);
        assert!(history.at_quantile(0.0, 500).is_some_and(|place| place.lbn == 10_000 - 500));
    }

    #[test]
    fn history_keeps_last_places() {
        let mut history = History::default();
        for lbn in 0..MAX_HISTORY as u64 + 3 {
            history.push(DataPlace { lbn, blocks: 16 });
        }
        assert_eq!(history.places.len(), MAX_HISTORY);
        assert_eq!(history.at_quantile(0.0, 1).map(|place| place.lbn), Some(MAX_HISTORY as u64 + 2));
    }

    #[test]
    fn recent_uses_end_after_the_window() {
        let mut recent = RecentUses::default();
        for (lbn, op) in [(1, Op::Write), (2, Op::Read), (1, Op::Read), (3, Op::Read)] {
            recent.push(lbn, op, 3);
        }
        assert!(recent.is_within(1, Op::Read, 3) && !recent.is_within(1, Op::Write, 3));
        assert_eq!(recent.last_visits.len(), 3);
        recent.push(4, Op::Read, 3);
        assert!(!recent.is_within(2, Op::Read, 3));
        assert_eq!(recent.last_visits.len(), 3);
    }

    #[test]
    fn reads_return_to_written_data_only_if_read_before() {
        let mut reuse = make_reuse(ReuseShape { write_after_read_share: 0.0, ..SHAPE }, 1 << 30);
        let mut written = Set::default();
        for visit in 0..20_000 {
            let op = if visit % 2 == 0 { Op::Read } else { Op::Write };
            let lbn = reuse.next(op, 16).lbn;
            if op == Op::Write {
                written.insert(lbn);
            } else {
                assert!(!written.contains(&lbn));
            }
        }
    }

    #[test]
    fn full_space_is_used_again() {
        for space_blocks in [1, 16, 1000] {
            let mut reuse = make_reuse(ReuseShape { new_write_share: 1.0, ..SHAPE }, space_blocks);
            for visit in 0..1000 {
                let op = if visit % 3 == 0 { Op::Write } else { Op::Read };
                assert!(reuse.next(op, 16).lbn < space_blocks);
            }
        }
    }
}
