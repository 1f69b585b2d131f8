//! A transformation step that sets the requested part of the last block of each request.

use rand::RngExt;
use sledlab_core::seed::{self, Stream};
use sledlab_core::{MAX_UNREQUESTED_WORDS, Request, Result};

use super::{Next, TransformStep};

/// Every read and write requests a random number of words of its last block, from one to all with equal probability
/// (Lin, section 5.3). The number in the trace is ignored.
///
/// The draw depends only on the seed and on the number of reads and writes before: a trace that is replayed faster
/// requests the same words.
#[derive(Clone, Debug)]
pub struct RandomLastBlock {
    words: Stream,
}

impl RandomLastBlock {
    /// Draws under the root seed `seed`.
    pub fn new(seed: u64) -> Self {
        RandomLastBlock { words: seed::stream(seed, "transform.last_block") }
    }
}

impl TransformStep for RandomLastBlock {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        if request.op.is_media() {
            request.unrequested_words = self.words.random_range(0..=MAX_UNREQUESTED_WORDS);
            request.is_partial_throughout = false;
        }
        Ok(Next::Pass(request))
    }
}
