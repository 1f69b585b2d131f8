//! Arrivals in clumps, clumps in clusters, and now and then thousands of requests that copy data.

use rand::RngExt;
use rand_distr::Exp1;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Result, Span, Time};

use super::rate_control::RateControl;

/// Rates and lengths of a [`ClusteredArrivals`] process.
#[derive(Clone, Copy, Debug)]
pub struct ClusterRates {
    /// Mean requests per second, copies included.
    pub rate_per_s: f64,
    /// Mean requests of a clump.
    pub clump_requests: f64,
    /// Mean time between requests of a clump, and between those of a run of a copy.
    pub clump_gap_s: f64,
    /// Mean clumps of a cluster.
    pub cluster_clumps: f64,
    /// Mean time between clumps of a cluster.
    pub cluster_gap_s: f64,
    /// Requests of a copy; 0 for none.
    pub copy_requests: u64,
    /// Mean requests of a run of a copy.
    pub copy_run: f64,
    /// Mean time between runs of a copy.
    pub copy_gap_s: f64,
    /// Time between copies.
    pub copy_every_s: f64,
}

impl ClusterRates {
    /// Share of the requests that belong to copies.
    pub fn copy_share(&self) -> f64 {
        self.copy_requests as f64 / self.copy_every_s / self.rate_per_s
    }

    /// Mean time from the beginning of a cluster to that of the next, in seconds.
    fn cycle_s(&self) -> f64 {
        self.clump_requests * self.cluster_clumps / (self.rate_per_s * (1.0 - self.copy_share()))
    }

    /// Mean time between clusters, in seconds.
    fn quiet_s(&self) -> Result<f64> {
        if self.copy_share() >= 1.0 {
            let max_requests = self.rate_per_s * self.copy_every_s;
            return Err(Error::user(format!(
                "copies of {} requests every {} s use up the rate of {} requests/s",
                self.copy_requests, self.copy_every_s, self.rate_per_s
            ))
            .with_remedy(format!(
                "choose copies of fewer than {max_requests:.0} requests, or rarer copies"
            )));
        }
        let cluster_s = self.cluster_clumps * (self.clump_requests - 1.0) * self.clump_gap_s
            + (self.cluster_clumps - 1.0) * self.cluster_gap_s;
        let quiet_s = self.cycle_s() - cluster_s;
        if quiet_s > 0.0 {
            return Ok(quiet_s);
        }
        Err(Error::user(format!(
            "clusters that last {cluster_s:.3} s leave no time between them at {} requests/s",
            self.rate_per_s
        ))
        .with_remedy("take shorter gaps in clumps and clusters, or a lower rate"))
    }
}

/// The unit that begins with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitStart {
    /// Nothing: the request continues its clump or run.
    Nothing,
    /// A clump of a cluster, or a run of a copy.
    Clump,
    /// A cluster.
    Cluster,
    /// A copy.
    Copy,
}

/// One arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When the request arrives.
    pub at: Time,
    /// The unit that begins with the request.
    pub first: UnitStart,
    /// Whether the request belongs to a copy.
    pub is_copying: bool,
}

/// Arrival instants on three time scales.
///
/// Clumps and runs have a geometric number of requests; times between them are exponential. Clusters have any number of
/// clumps up to twice the mean, all equally likely: with a geometric number, the number of clusters in a day would
/// differ from seed to seed by several percent.
#[derive(Clone, Debug)]
pub struct ClusteredArrivals {
    rates: ClusterRates,
    quiet_s: f64,
    now: Time,
    /// Clumps still to come in the present cluster.
    cluster_left: u64,
    /// Requests still to come in the present copy.
    copy_left: u64,
    is_copying: bool,
    copies: u64,
    next_copy: Time,
    pace: RateControl,
    gaps: Stream,
    lengths: Stream,
    copy_times: Stream,
}

impl ClusteredArrivals {
    /// A process that begins with a quiet time. An error where copies or clusters leave no quiet time.
    pub fn new(rates: ClusterRates, streams: [Stream; 3]) -> Result<Self> {
        let [gaps, lengths, copy_times] = streams;
        let quiet_s = rates.quiet_s()?;
        let mut process = ClusteredArrivals {
            rates,
            quiet_s,
            now: Time::ZERO,
            cluster_left: 0,
            copy_left: 0,
            is_copying: false,
            copies: 0,
            next_copy: Time::MAX,
            pace: RateControl::new(rates.rate_per_s * (1.0 - rates.copy_share()), rates.cycle_s()),
            gaps,
            lengths,
            copy_times,
        };
        process.schedule_copy();
        Ok(process)
    }

    /// Copies come once in each stretch of `copy_every_s`, somewhere in the middle half of the stretch, so that a trace
    /// of some length has the same number of copies with every seed.
    fn schedule_copy(&mut self) {
        if self.rates.copy_requests == 0 {
            return;
        }
        let share_of_stretch = 0.25 + 0.5 * self.copy_times.random::<f64>();
        let at_s = (self.copies as f64 + share_of_stretch) * self.rates.copy_every_s;
        self.next_copy = Time::ZERO + Span::from_seconds(at_s);
        self.copies += 1;
    }

    /// The next arrival.
    #[inline]
    pub fn next(&mut self) -> Arrival {
        let first = self.first();
        let gap_s = match first {
            UnitStart::Nothing => self.exponential(self.rates.clump_gap_s),
            UnitStart::Clump if self.is_copying => self.exponential(self.rates.copy_gap_s),
            UnitStart::Clump => self.exponential(self.rates.cluster_gap_s),
            UnitStart::Cluster | UnitStart::Copy => {
                self.exponential(self.quiet_s * self.pace.stretch(self.now))
            }
        };
        self.now += Span::from_seconds(gap_s);
        if !self.is_copying {
            // Requests of copies have their own share of the rate: quiet times need not make up for them.
            self.pace.count();
        }
        Arrival { at: self.now, first, is_copying: self.is_copying }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        mean * self.gaps.sample::<f64, _>(Exp1)
    }

    fn first(&mut self) -> UnitStart {
        // Both drawn whether used or not, so that no length shifts another.
        let [end_draw, clump_draw] = [self.lengths.random::<f64>(), self.lengths.random::<f64>()];
        if self.is_copying && self.copy_left > 0 {
            self.copy_left -= 1;
            return if end_draw * self.rates.copy_run < 1.0 { UnitStart::Clump } else { UnitStart::Nothing };
        }
        if self.cluster_left > 0 && end_draw * self.rates.clump_requests >= 1.0 {
            return UnitStart::Nothing;
        }
        self.cluster_left = self.cluster_left.saturating_sub(1);
        if self.cluster_left > 0 {
            return UnitStart::Clump;
        }
        self.is_copying = self.now >= self.next_copy;
        if self.is_copying {
            self.copy_left = self.rates.copy_requests - 1;
            self.schedule_copy();
            return UnitStart::Copy;
        }
        self.cluster_left = 1 + (clump_draw * (2.0 * self.rates.cluster_clumps - 1.0)) as u64;
        UnitStart::Cluster
    }
}
