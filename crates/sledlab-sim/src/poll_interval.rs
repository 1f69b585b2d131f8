//! How often a long computation polls for interrupts and failures and reports progress.

use std::time::{Duration, Instant};

/// Wall-clock time between two polls.
const INTERVAL: Duration = Duration::from_millis(50);

/// If the clock was read after less than this time, the next readings are less frequent.
const MIN_INTERVAL: Duration = Duration::from_millis(5);

/// If the clock was read after more than this time, the next readings are more frequent.
const MAX_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of iterations between two readings of the clock: less than a second even if iterations suddenly take
/// milliseconds, and enough to make the cost of the clock negligible.
const MAX_STRIDE: u32 = 128;

/// Iterations between two polls without a clock.
const ITERATIONS_WITHOUT_CLOCK: u32 = 65_536;

/// Tells a loop when to poll: about every 50 ms, for any duration of an iteration. The clock is read after the first
/// iteration, then after as many iterations as fit into a few milliseconds.
///
/// ```
/// let mut poll = sledlab_sim::PollInterval::default();
/// assert!(poll.tick(1), "polls after the first iteration");
/// assert!(!poll.tick(1), "50 ms have not passed");
/// ```
#[derive(Clone, Debug)]
pub struct PollInterval {
    /// Iterations until the next reading of the clock, and (`stride`) between readings.
    remaining_iterations: u32,
    stride: u32,
    max_stride: u32,
    clock: Option<Clock>,
}

#[derive(Clone, Debug)]
struct Clock {
    start: Instant,
    /// The times of the last reading of the clock and of the last poll.
    last_read: Duration,
    due: Option<Duration>,
}

impl Default for PollInterval {
    fn default() -> Self {
        let clock = Clock { start: Instant::now(), last_read: Duration::ZERO, due: None };
        PollInterval { remaining_iterations: 1, stride: 1, max_stride: MAX_STRIDE, clock: Some(clock) }
    }
}

impl PollInterval {
    /// Creates an interval that is counted in iterations, for platforms without a clock.
    pub fn without_clock() -> Self {
        PollInterval::from_iterations(ITERATIONS_WITHOUT_CLOCK)
    }

    /// Creates an interval of a fixed number of iterations, without a clock.
    pub(crate) fn from_iterations(iterations: u32) -> Self {
        let iterations = iterations.max(1);
        PollInterval {
            remaining_iterations: iterations,
            stride: iterations,
            max_stride: iterations,
            clock: None,
        }
    }

    /// Creates an interval that reads the clock after every iteration.
    #[cfg(test)]
    pub(crate) fn unit_stride() -> Self {
        PollInterval { max_stride: 1, ..PollInterval::default() }
    }

    /// Counts iterations; returns whether to poll now.
    #[inline]
    pub fn tick(&mut self, iterations: usize) -> bool {
        if iterations < self.remaining_iterations as usize {
            self.remaining_iterations -= iterations as u32;
            return false;
        }
        self.read_clock()
    }

    /// Reads the clock after the next iteration, since iterations may take much longer from now on.
    #[inline]
    pub(crate) fn restart(&mut self) {
        if self.clock.is_some() {
            (self.stride, self.remaining_iterations) = (1, 1);
        }
    }

    /// Iterations between two readings of the clock at the current speed.
    #[inline]
    pub(crate) fn stride(&self) -> usize {
        self.stride as usize
    }

    #[cold]
    fn read_clock(&mut self) -> bool {
        let due = match &self.clock {
            None => true,
            Some(clock) => self.is_due_at(clock.start.elapsed()),
        };
        self.remaining_iterations = self.stride;
        due
    }

    /// Returns whether to poll; `now` is the time since the interval was created.
    fn is_due_at(&mut self, now: Duration) -> bool {
        let Some(clock) = &mut self.clock else { return true };
        let elapsed = now.saturating_sub(clock.last_read);
        clock.last_read = now;
        if elapsed < MIN_INTERVAL {
            self.stride = (2 * self.stride).min(self.max_stride);
        } else if elapsed > MAX_INTERVAL {
            let fitting_iterations =
                f64::from(self.stride) * MIN_INTERVAL.as_secs_f64() / elapsed.as_secs_f64();
            self.stride = (fitting_iterations as u32).max(1);
        }
        let is_due = clock.due.is_none_or(|due| now.saturating_sub(due) >= INTERVAL);
        if is_due {
            clock.due = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs iterations of the given lengths; returns the times of the polls and the number of readings of the clock.
    fn run(iterations: impl IntoIterator<Item = Duration>) -> (Vec<Duration>, u64) {
        let (mut poll, mut now, mut polls, mut readings) =
            (PollInterval::default(), Duration::ZERO, Vec::new(), 0);
        for iteration in iterations {
            now += iteration;
            poll.remaining_iterations -= 1;
            if poll.remaining_iterations == 0 {
                readings += 1;
                if poll.is_due_at(now) {
                    polls.push(now);
                }
                poll.remaining_iterations = poll.stride;
            }
        }
        (polls, readings)
    }

    fn longest_gap(polls: &[Duration]) -> Duration {
        polls.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or_default()
    }

    #[test]
    fn polls_every_50_ms_at_any_iteration_length() {
        for iteration in [Duration::from_nanos(100), Duration::from_micros(30), Duration::from_millis(2)] {
            let count = (Duration::from_secs(2).as_nanos() / iteration.as_nanos()) as usize;
            let (polls, _) = run(std::iter::repeat_n(iteration, count));
            assert_eq!(polls[0], iteration, "polls after the first iteration");
            assert!((25..=40).contains(&polls.len()), "{} polls", polls.len());
            assert!(longest_gap(&polls) <= INTERVAL + MAX_INTERVAL, "{:?}", longest_gap(&polls));
        }
        let (polls, readings) = run(std::iter::repeat_n(Duration::from_millis(300), 7));
        assert_eq!((polls.len(), readings), (7, 7));
    }

    #[test]
    fn short_iterations_rarely_read_the_clock() {
        let (_, readings) = run(std::iter::repeat_n(Duration::from_nanos(100), 1_000_000));
        assert!(readings < 10_000, "{readings}");
    }

    #[test]
    fn polls_within_a_second_after_iterations_become_long() {
        let short = std::iter::repeat_n(Duration::from_nanos(100), 1_000_000);
        let long = std::iter::repeat_n(Duration::from_millis(7), 1_000);
        let (polls, _) = run(short.chain(long));
        assert!(longest_gap(&polls) < Duration::from_secs(1), "{:?}", longest_gap(&polls));
        let late_index = polls.len() - 20;
        assert!(longest_gap(&polls[late_index..]) <= INTERVAL + MAX_INTERVAL);
    }

    #[test]
    fn restart_reads_the_clock_after_one_iteration() {
        let mut poll = PollInterval::default();
        (0..1_000).for_each(|_| {
            poll.tick(1);
        });
        poll.restart();
        assert_eq!((poll.stride, poll.remaining_iterations), (1, 1));
        let mut without_clock = PollInterval::without_clock();
        without_clock.restart();
        assert_eq!(without_clock.remaining_iterations, ITERATIONS_WITHOUT_CLOCK);
    }

    #[test]
    fn without_clock_counts_iterations() {
        let mut poll = PollInterval::without_clock();
        let polls: Vec<u32> = (1..=2 * ITERATIONS_WITHOUT_CLOCK).filter(|_| poll.tick(1)).collect();
        assert_eq!(polls, [ITERATIONS_WITHOUT_CLOCK, 2 * ITERATIONS_WITHOUT_CLOCK]);
        assert!(!poll.tick(1) && poll.tick(ITERATIONS_WITHOUT_CLOCK as usize));
    }
}
