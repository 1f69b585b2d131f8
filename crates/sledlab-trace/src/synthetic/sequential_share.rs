//! Keeps the share of sequential requests.

/// How many sequential requests there should have been so far, less those there were.
///
/// A file ends, or a request does not fit what is left of it, and a run is over before its time.
/// Steering by what is owed reaches a share whatever ends the runs, where drawing
/// with that probability would fall short of it.
#[derive(Clone, Copy, Debug)]
pub struct SequentialShare {
    share: f64,
    owed: f64,
}

impl SequentialShare {
    /// What is owed when the chance reaches certainty: enough that runs still come at random.
    const MOST_OWED: f64 = 100.0;

    pub fn new(share: f64) -> Self {
        SequentialShare { share, owed: 0.0 }
    }

    /// The probability with which to go on with a run, or to begin one.
    #[inline]
    pub fn chance(&self) -> f64 {
        self.owed / Self::MOST_OWED
    }

    /// Takes note of a request.
    #[inline]
    pub fn count(&mut self, sequential: bool) {
        self.owed += self.share - f64::from(u8::from(sequential));
    }
}
