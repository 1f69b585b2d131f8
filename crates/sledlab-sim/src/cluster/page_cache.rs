//! The page cache of a node's operating system: pages that were read or written last.

use sledlab_core::request::BLOCK_BYTES;
use sledlab_core::{Error, Op, Result};
use sledlab_models::node::{KB, Node};
use sledlab_models::replacement::{AccessResult, Choice, ReplacementPolicy, Use};

/// A page cache. Writes go to the store at once, so the cache only saves reads.
pub(super) struct PageCache {
    policy: Box<dyn ReplacementPolicy>,
    /// Bytes that were read from the cache.
    pub read_bytes: u64,
}

impl PageCache {
    /// Returns the empty page cache of a node; `None` if it has none.
    ///
    /// # Errors
    /// A page cache of less than a page.
    pub fn new(node: &Node) -> Result<Option<Self>> {
        if node.params.page_cache_mb == 0.0 {
            return Ok(None);
        }
        let pages = (node.params.page_cache_mb * (KB * KB) as f64 / node.page_bytes() as f64) as usize;
        if pages == 0 {
            return Err(Error::user(format!(
                "node.page_cache_mb = {} is less than a page of {} KB",
                node.params.page_cache_mb, node.params.page_kb
            ))
            .with_remedy("make it larger, or 0 for no page cache"));
        }
        Ok(Some(PageCache { policy: Choice::parse("lru")?.make(pages)?, read_bytes: 0 }))
    }

    /// Uses the page at block `lbn`; returns whether the request is a read that the cache serves.
    pub fn serve(&mut self, op: Op, lbn: u64, blocks: u32) -> bool {
        let is_cached = self.policy.access(Use { key: lbn, next: Use::NO_NEXT }) == AccessResult::Hit;
        let is_hit = is_cached && op == Op::Read;
        self.read_bytes += if is_hit { u64::from(blocks) * BLOCK_BYTES } else { 0 };
        is_hit
    }
}
