//! A transformation step that sets the requested part of every block of requests for metadata.

use sledlab_core::{BLOCK_BYTES, Request, Result, unrequested_words};

use super::{Next, TransformStep};

/// Every read and write of metadata requests the same number of bytes of each of its blocks, such as an i-node of
/// each (Hong 2006, section 5.3.3). The part given in the trace is ignored.
#[derive(Clone, Copy, Debug)]
pub struct MetadataBlocks {
    unrequested_words: u8,
}

impl MetadataBlocks {
    /// Requests `block_bytes` bytes of each block, at least 1 and at most a block.
    pub fn new(block_bytes: u64) -> Self {
        MetadataBlocks { unrequested_words: unrequested_words(0, block_bytes.clamp(1, BLOCK_BYTES)) }
    }
}

impl TransformStep for MetadataBlocks {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        if request.metadata && request.op.is_media() {
            request.unrequested_words = self.unrequested_words;
            request.is_partial_throughout = true;
        }
        Ok(Next::Pass(request))
    }
}
