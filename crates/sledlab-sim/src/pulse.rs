//! How often a long computation looks up: for an interrupt, for a failure, to report progress.

use std::time::{Duration, Instant};

/// Real time from one look-up to the next.
const EVERY: Duration = Duration::from_millis(50);

/// Readings of the clock closer together than this make the next ones rarer.
const SOON: Duration = Duration::from_millis(5);

/// Readings of the clock farther apart than this make the next ones more frequent.
const LATE: Duration = Duration::from_millis(20);

/// Most turns between two readings of the clock: they take less than a second even if turns suddenly take milliseconds,
/// and the clock costs next to nothing.
const MOST: u32 = 128;

/// Turns between two look-ups where no clock is read.
const BLIND: u32 = 65_536;

/// Tells a loop when to look up: about every 50 ms, whatever a turn takes. It reads the clock after one turn, and then
/// after as many turns as fit into a few milliseconds.
///
/// ```
/// let mut pulse = sledlab_sim::Pulse::default();
/// assert!(pulse.beat(1), "the first turn looks up");
/// assert!(!pulse.beat(1), "50 ms have not passed since");
/// ```
#[derive(Clone, Debug)]
pub struct Pulse {
    /// Turns until the next reading of the clock, and (`stride`) between readings.
    left: u32,
    stride: u32,
    most: u32,
    clock: Option<Clock>,
}

#[derive(Clone, Debug)]
struct Clock {
    begun: Instant,
    /// When the clock was read last, and when a look-up was due last.
    looked: Duration,
    due: Option<Duration>,
}

impl Default for Pulse {
    fn default() -> Self {
        let clock = Clock { begun: Instant::now(), looked: Duration::ZERO, due: None };
        Pulse { left: 1, stride: 1, most: MOST, clock: Some(clock) }
    }
}

impl Pulse {
    /// A pulse that reads no clock, which not every platform has, and looks up after many turns.
    pub fn blind() -> Self {
        Pulse::every(BLIND)
    }

    /// A pulse that reads no clock and looks up after `turns` turns.
    pub(crate) fn every(turns: u32) -> Self {
        let turns = turns.max(1);
        Pulse { left: turns, stride: turns, most: turns, clock: None }
    }

    /// A pulse that reads the clock after every turn.
    #[cfg(test)]
    pub(crate) fn slow() -> Self {
        Pulse { most: 1, ..Pulse::default() }
    }

    /// Counts `turns` turns; returns whether to look up now.
    #[inline]
    pub fn beat(&mut self, turns: usize) -> bool {
        if turns < self.left as usize {
            self.left -= turns as u32;
            return false;
        }
        self.look()
    }

    /// Reads the clock after the next turn, as turns may take much longer from now on.
    #[inline]
    pub(crate) fn restart(&mut self) {
        if self.clock.is_some() {
            (self.stride, self.left) = (1, 1);
        }
    }

    /// Turns between two readings of the clock, as long as a turn takes about as long as lately.
    #[inline]
    pub(crate) fn stride(&self) -> usize {
        self.stride as usize
    }

    #[cold]
    fn look(&mut self) -> bool {
        let due = match &self.clock {
            None => true,
            Some(clock) => self.look_at(clock.begun.elapsed()),
        };
        self.left = self.stride;
        due
    }

    /// Whether to look up; `now` is the time since the pulse was made.
    fn look_at(&mut self, now: Duration) -> bool {
        let Some(clock) = &mut self.clock else { return true };
        let apart = now.saturating_sub(clock.looked);
        clock.looked = now;
        if apart < SOON {
            self.stride = (2 * self.stride).min(self.most);
        } else if apart > LATE {
            let fitting = f64::from(self.stride) * SOON.as_secs_f64() / apart.as_secs_f64();
            self.stride = (fitting as u32).max(1);
        }
        let is_due = clock.due.is_none_or(|due| now.saturating_sub(due) >= EVERY);
        if is_due {
            clock.due = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes turns of the given lengths, and returns the times of the look-ups and the number of readings of the clock.
    fn run(turns: impl IntoIterator<Item = Duration>) -> (Vec<Duration>, u64) {
        let (mut pulse, mut now, mut ups, mut looks) = (Pulse::default(), Duration::ZERO, Vec::new(), 0);
        for turn in turns {
            now += turn;
            pulse.left -= 1;
            if pulse.left == 0 {
                looks += 1;
                if pulse.look_at(now) {
                    ups.push(now);
                }
                pulse.left = pulse.stride;
            }
        }
        (ups, looks)
    }

    fn most_apart(ups: &[Duration]) -> Duration {
        ups.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or_default()
    }

    #[test]
    fn looks_up_every_50_ms_whatever_a_turn_takes() {
        for turn in [Duration::from_nanos(100), Duration::from_micros(30), Duration::from_millis(2)] {
            let turns = (Duration::from_secs(2).as_nanos() / turn.as_nanos()) as usize;
            let (ups, _) = run(std::iter::repeat_n(turn, turns));
            assert_eq!(ups[0], turn, "the first turn looks up");
            assert!((25..=40).contains(&ups.len()), "{} look-ups", ups.len());
            assert!(most_apart(&ups) <= EVERY + LATE, "{:?}", most_apart(&ups));
        }
        let (ups, looks) = run(std::iter::repeat_n(Duration::from_millis(300), 7));
        assert_eq!((ups.len(), looks), (7, 7));
    }

    #[test]
    fn cheap_turns_hardly_look_at_the_clock() {
        let (_, looks) = run(std::iter::repeat_n(Duration::from_nanos(100), 1_000_000));
        assert!(looks < 10_000, "{looks}");
    }

    #[test]
    fn notices_within_a_second_that_turns_have_become_dear() {
        let cheap = std::iter::repeat_n(Duration::from_nanos(100), 1_000_000);
        let dear = std::iter::repeat_n(Duration::from_millis(7), 1_000);
        let (ups, _) = run(cheap.chain(dear));
        assert!(most_apart(&ups) < Duration::from_secs(1), "{:?}", most_apart(&ups));
        let late = ups.len() - 20;
        assert!(most_apart(&ups[late..]) <= EVERY + LATE);
    }

    #[test]
    fn after_a_warning_it_looks_at_the_clock_at_once() {
        let mut pulse = Pulse::default();
        (0..1_000).for_each(|_| {
            pulse.beat(1);
        });
        pulse.restart();
        assert_eq!((pulse.stride, pulse.left), (1, 1));
        let mut blind = Pulse::blind();
        blind.restart();
        assert_eq!(blind.left, BLIND);
    }

    #[test]
    fn without_a_clock_it_counts() {
        let mut pulse = Pulse::blind();
        let ups: Vec<u32> = (1..=2 * BLIND).filter(|_| pulse.beat(1)).collect();
        assert_eq!(ups, [BLIND, 2 * BLIND]);
        assert!(!pulse.beat(1) && pulse.beat(BLIND as usize));
    }
}
