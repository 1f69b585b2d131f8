//! Controls the share of requests of a kind, such as sequential requests or reads.

/// Counts the requests of a kind that are missing so far to reach their share.
///
/// Runs end early: a file ends, or the next request does not fit the remaining file. Files that are read may be longer
/// than files that are written. A probability that grows with the missing requests reaches the share nevertheless,
/// where a constant chance would miss it.
#[derive(Clone, Copy, Debug)]
pub struct ShareControl {
    share: f64,
    /// The chance while no request of the kind is missing.
    chance: f64,
    missing: f64,
}

impl ShareControl {
    /// Missing requests that raise the chance by 1: enough that runs still begin and end at random.
    const MAX_PENDING: f64 = 100.0;

    /// `chance` is the probability that reaches the share on average; where it is not known exactly, the share
    /// is reached after some hundred requests.
    pub fn new(share: f64, chance: f64) -> Self {
        ShareControl { share, chance: chance.min(1.0), missing: 0.0 }
    }

    /// The probability with which to choose the kind, such as to continue a run.
    #[inline]
    pub fn chance(&self) -> f64 {
        self.chance + self.missing / Self::MAX_PENDING
    }

    /// Counts a request, which is of the kind or not.
    #[inline]
    pub fn count(&mut self, is_of_kind: bool) {
        self.missing += self.share - f64::from(u8::from(is_of_kind));
    }
}
