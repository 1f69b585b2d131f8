//! Controls the share of sequential requests.

/// Counts the sequential requests that are missing so far to reach the share.
///
/// Runs end early: a file ends, or the next request does not fit the remaining file. A probability that grows with the
/// missing requests reaches the share whatever ends the runs, where a constant chance would fall short of it.
#[derive(Clone, Copy, Debug)]
pub struct SequentialShare {
    share: f64,
    /// The chance while no sequential request is missing.
    chance: f64,
    missing: f64,
}

impl SequentialShare {
    /// Missing requests that raise the chance by 1: enough that runs still begin and end at random.
    const MAX_PENDING: f64 = 100.0;

    /// `chance` is the probability of a run that reaches the share on average; where it is not known exactly, the share
    /// is reached after some hundred requests.
    pub fn new(share: f64, chance: f64) -> Self {
        SequentialShare { share, chance: chance.min(1.0), missing: 0.0 }
    }

    /// The probability with which to continue a run, or to begin one.
    #[inline]
    pub fn chance(&self) -> f64 {
        self.chance + self.missing / Self::MAX_PENDING
    }

    /// Counts a request, which is sequential or not.
    #[inline]
    pub fn count(&mut self, is_sequential: bool) {
        self.missing += self.share - f64::from(u8::from(is_sequential));
    }
}
