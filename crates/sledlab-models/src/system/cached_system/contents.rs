//! Contents of the blocks in a cache, where media keep contents.

use sledlab_core::hash::Map;

use crate::cache::BlockRun;
use crate::device::QueuedRequest;
use crate::system::{Content, Contents};

/// The newest contents of the blocks in a cache, and the data of requests.
#[derive(Default)]
pub(super) struct CachedContents {
    newest: Contents,
    /// Data of writes that are not completely in the cache, by request.
    write_data: Map<u64, Vec<Content>>,
    /// Blocks and contents of reads, by request.
    reads: Map<u64, (BlockRun, Vec<Content>)>,
}

impl CachedContents {
    /// The data of a write that is about to arrive.
    pub fn supply_data(&mut self, request: u64, data: Vec<Content>) {
        self.write_data.insert(request, data);
    }

    /// The blocks `run` of a write have been written into the cache.
    pub fn write(&mut self, request: &QueuedRequest, run: BlockRun) {
        let Some(data) = self.write_data.get(&request.id) else { return };
        let offset = (run.first - request.lbn) as usize;
        self.newest.extend((run.first..run.end).zip(data[offset..].iter().cloned()));
        if run.end == request.lbn + u64::from(request.blocks) {
            self.write_data.remove(&request.id);
        }
    }

    /// A read begins with the contents of its cached blocks; the others are filled in by
    /// [`complete_fetch`](CachedContents::complete_fetch).
    pub fn begin_read(&mut self, request: u64, run: BlockRun) {
        let contents = self.contents(run);
        self.reads.insert(request, (run, contents));
    }

    /// The blocks `run` have been fetched for `readers`; they are cached where `is_current`.
    pub fn complete_fetch(&mut self, run: BlockRun, contents: &[Content], readers: &[u64], is_current: bool) {
        for (block, content) in (run.first..run.end).zip(contents) {
            for reader in readers {
                let Some((read_run, data)) = self.reads.get_mut(reader) else { continue };
                if (read_run.first..read_run.end).contains(&block) {
                    data[(block - read_run.first) as usize] = content.clone();
                }
            }
            if is_current {
                self.newest.insert(block, content.clone());
            }
        }
    }

    /// The contents that a read has found.
    pub fn read_contents(&mut self, request: u64) -> Vec<Content> {
        self.reads.remove(&request).map(|(_, data)| data).unwrap_or_default()
    }

    /// Contents of blocks in the cache.
    pub fn contents(&self, run: BlockRun) -> Vec<Content> {
        (run.first..run.end).map(|block| self.newest.get(&block).cloned().unwrap_or_default()).collect()
    }
}
