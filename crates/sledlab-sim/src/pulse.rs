//! How often a long work looks up: for an interrupt, for a failure, to say how far it is.

use std::time::{Duration, Instant};

/// From one look-up to the next, in real time.
const EVERY: Duration = Duration::from_millis(50);

/// Looks at the clock that are closer together come less often from then on.
const SOON: Duration = Duration::from_millis(5);

/// Those that are farther apart come more often.
const LATE: Duration = Duration::from_millis(20);

/// Most turns between two looks at the clock: less than a second even if they suddenly take milliseconds, and enough
/// for the clock to cost next to nothing.
const MOST: u32 = 128;

/// Turns between two look-ups where nobody is to be told.
const BLIND: u32 = 65_536;

/// Tells a loop when to look up: about every 50 ms, whatever a turn takes. It looks at the clock after one turn, and
/// then after as many as a few milliseconds hold.
///
/// ```
/// let mut pulse = sledlab_sim::Pulse::default();
/// assert!(pulse.beat(1), "the first turn looks up");
/// assert!(!pulse.beat(1), "50 ms have not passed since");
/// ```
#[derive(Clone, Debug)]
pub struct Pulse {
    /// Turns until the next look at the clock, and between looks.
    left: u32,
    stride: u32,
    most: u32,
    clock: Option<Clock>,
}

#[derive(Clone, Debug)]
struct Clock {
    begun: Instant,
    /// When it was looked at last, and when a look-up was due last.
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
    /// Reads no clock, which not every platform has, and looks up after many turns.
    pub fn blind() -> Self {
        Pulse::every(BLIND)
    }

    /// The same after so many.
    pub(crate) fn every(turns: u32) -> Self {
        let turns = turns.max(1);
        Pulse { left: turns, stride: turns, most: turns, clock: None }
    }

    /// Believes that every turn takes long.
    #[cfg(test)]
    pub(crate) fn slow() -> Self {
        Pulse { most: 1, ..Pulse::default() }
    }

    /// So many turns have been made; whether to look up now.
    #[inline]
    pub fn beat(&mut self, turns: usize) -> bool {
        if turns < self.left as usize {
            self.left -= turns as u32;
            return false;
        }
        self.look()
    }

    /// From now on turns may take much longer: looks at the clock after the next one.
    #[inline]
    pub(crate) fn restart(&mut self) {
        if self.clock.is_some() {
            (self.stride, self.left) = (1, 1);
        }
    }

    /// Turns before the next look at the clock, as long as they take what they took lately.
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

    /// `now` is the time since the beginning.
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

    /// Makes turns that take so long each, and gives the times of the look-ups.
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
