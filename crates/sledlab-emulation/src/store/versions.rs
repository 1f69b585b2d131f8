//! Superseded data of blocks, kept as long as a power failure of the device may restore it.
//!
//! A store holds the data that was last written to every block, from the moment the write arrives. When the power of
//! the device fails, the model determines which write a block contains. That may be an older write, if the newest was
//! in flight, or in a cache or buffer that has lost its contents. This module keeps the data of the older write until
//! no failure can restore it: until a later write to the block, which arrived after the older write was complete, is
//! safe. A write is safe when it is durable: when it is complete, when the buffer of a disk is on the medium, or when a
//! volatile cache was flushed.
//!
//! The model completes a write; its reply acknowledges it to a client. The reply to a write with force unit access
//! follows the flush, and the reply to a client that has gone is never sent. Only an acknowledged write can be lost.
//!
//! So this module keeps the versions of writes that are not safe yet, and the versions that these replace. For blocks
//! with two writes in flight at once, both are kept until the blocks are written again, because either may be on the
//! medium. Blocks of zeroes use no memory.
//!
//! A trim is durable at once and comes after all operations that arrived before: no failure restores the data before
//! it. The model does not simulate trims, so a medium may contain a write that was trimmed in flight, even after later
//! writes: the block then has the oldest data that a failure can restore.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Error, Result, Time};
use sledlab_models::system::{Content, Contents};
use sledlab_sim::version;

const BLOCK: usize = BLOCK_BYTES as usize;

/// The data of a block.
pub type Block = [u8; BLOCK];

/// Overwritten data that a power failure may restore.
#[derive(Debug)]
pub struct Versions {
    is_volatile: bool,
    /// Version of the last write that arrived.
    last: u64,
    /// Possible versions, in order of arrival, of each block that may differ from the store after a power failure; the
    /// last version is in the store.
    blocks: Map<u64, Vec<PossibleVersion>>,
    /// For each block that was trimmed while a failure could restore data of it: the last version before the trim.
    trimmed: Map<u64, u64>,
    /// Writes that are not complete, or not safe, by number.
    writes: BTreeMap<u64, Write>,
    /// Complete writes by the time at which they are durable.
    undurable: BinaryHeap<Reverse<(Time, u64)>>,
    version_count: usize,
    bytes: usize,
}

/// A version that a block may contain after a power failure.
#[derive(Debug)]
struct PossibleVersion {
    /// Version of the write; [`OLDEST_VERSION`] of the data before all writes that are known.
    version: u64,
    /// Version of the last write that had arrived when this write was complete. Every later write overwrites this one.
    followed_after: Option<u64>,
    is_acknowledged: bool,
    is_safe: bool,
    /// The data; `None` for zeroes, and for the version in the store.
    data: Option<Box<Block>>,
}

/// Contents, after a power failure, of the blocks whose last write was not durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveredBlocks {
    /// Number of blocks that contain the last write, as the store does.
    pub newest: u64,
    /// Blocks that contain an older version, in order, with its data.
    pub older: Vec<(u64, Block)>,
    /// Number of these blocks that lost an acknowledged write, for example because of a volatile cache.
    pub lost: u64,
}

impl RecoveredBlocks {
    /// Adds a block that contains `version`; fails if that version is not kept.
    fn add(&mut self, lbn: u64, block: &[PossibleVersion], version: u64) -> Result<()> {
        let [.., newest] = block else { return Ok(()) };
        if newest.version == version {
            self.newest += 1;
            return Ok(());
        }
        // The data before all known writes has an older version than any of these.
        let is_oldest = block.get(1).is_some_and(|second| version < second.version);
        let stands_for = |candidate: &PossibleVersion| {
            candidate.version == version || (candidate.version == OLDEST_VERSION && is_oldest)
        };
        let Some(index) = block.iter().position(stands_for) else {
            return Err(Error::internal(format!(
                "block {lbn} has version {version} after a power failure, which was already discarded"
            )));
        };
        let candidate = &block[index];
        let is_newer =
            |later: &PossibleVersion| candidate.followed_after.is_some_and(|last| later.version > last);
        let is_lost = |later: &PossibleVersion| is_newer(later) && later.is_acknowledged;
        self.lost += u64::from(block[index..].iter().any(is_lost));
        self.older.push((lbn, candidate.data.as_deref().copied().unwrap_or([0; BLOCK])));
        Ok(())
    }
}

/// Number of the unknown version of a block before all known writes.
const OLDEST_VERSION: u64 = 0;

#[derive(Clone, Copy, Debug)]
struct Write {
    first: u64,
    end: u64,
    is_complete: bool,
    is_safe: bool,
}

impl Versions {
    /// Returns the versions for a device with the contents of its store. `is_volatile` is whether only a flush makes
    /// writes safe ([`LiveRun::is_volatile`](sledlab_sim::LiveRun::is_volatile)).
    pub fn new(is_volatile: bool) -> Self {
        Versions {
            is_volatile,
            last: OLDEST_VERSION,
            blocks: Map::default(),
            trimmed: Map::default(),
            writes: BTreeMap::new(),
            undurable: BinaryHeap::new(),
            version_count: 0,
            bytes: 0,
        }
    }

    /// Records a write with the number `id` that has arrived and is about to change the store. `replaced` is the
    /// previous data of its blocks from `lbn` on, in complete blocks even if only parts are written. Numbers increase.
    pub fn arrive(&mut self, id: u64, lbn: u64, previous_data: &[u8]) {
        let (previous_data, partial_block) = previous_data.as_chunks::<BLOCK>();
        debug_assert!(partial_block.is_empty(), "writes have complete blocks");
        self.last = version(id);
        let end = lbn + previous_data.len() as u64;
        self.writes.insert(id, Write { first: lbn, end, is_complete: false, is_safe: false });
        for (lbn, previous_data) in (lbn..).zip(previous_data) {
            let block = self.blocks.entry(lbn).or_default();
            if block.is_empty() {
                block.push(PossibleVersion {
                    version: OLDEST_VERSION,
                    followed_after: Some(OLDEST_VERSION),
                    is_acknowledged: true,
                    is_safe: true,
                    data: None,
                });
                self.version_count += 1;
            }
            if let Some(newest) = block.last_mut()
                && previous_data.iter().any(|byte| *byte != 0)
            {
                newest.data = Some(Box::new(*previous_data));
                self.bytes += BLOCK;
            }
            block.push(PossibleVersion {
                version: self.last,
                followed_after: None,
                is_acknowledged: false,
                is_safe: false,
                data: None,
            });
            self.version_count += 1;
        }
    }

    /// Records a trim that has arrived: its blocks read as zeroes in the store.
    pub fn trim(&mut self, lbn: u64, blocks: u64) {
        let trimmed_blocks = lbn..lbn + blocks;
        // An entire device may be trimmed at once, so the loop is over the smaller set.
        let affected: Vec<u64> = if blocks < self.blocks.len() as u64 {
            trimmed_blocks.collect()
        } else {
            self.blocks.keys().copied().filter(|lbn| trimmed_blocks.contains(lbn)).collect()
        };
        for lbn in affected {
            if let Some(block) = self.blocks.remove(&lbn) {
                self.version_count -= block.len();
                self.bytes -= bytes(&block);
                self.trimmed.insert(lbn, self.last);
            }
        }
    }

    /// Records that the model has completed a write, which is durable at `durable` unless only a flush makes it so.
    pub fn complete(&mut self, id: u64, durable: Time) {
        self.update_write(id, |write| write.is_complete = true);
        if !self.is_volatile {
            self.undurable.push(Reverse((durable, id)));
        }
    }

    /// Records that the power fails after `now`: writes that are durable by then are safe.
    pub fn advance(&mut self, now: Time) {
        while let Some(Reverse((_, id))) =
            self.undurable.peek().filter(|Reverse((at, _))| *at <= now).copied()
        {
            self.undurable.pop();
            self.update_write(id, |write| write.is_safe = true);
        }
    }

    /// Records that the reply to a complete write was sent. A safe write has no effect here, as it cannot be lost.
    pub fn acknowledge(&mut self, id: u64) {
        let Some(write) = self.writes.get(&id) else { return };
        for lbn in write.first..write.end {
            let block = self.blocks.get_mut(&lbn).map(Vec::as_mut_slice).unwrap_or_default();
            let candidate = block.iter_mut().filter(|candidate| candidate.version == version(id));
            candidate.for_each(|candidate| candidate.is_acknowledged = true);
        }
    }

    /// Records that the model has completed a flush: writes with numbers below `up_to`, the flush's own, are safe.
    pub fn flush(&mut self, up_to: u64) {
        let unsafe_writes = self.writes.range(..up_to).filter(|(_, write)| !write.is_safe);
        for id in unsafe_writes.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.update_write(id, |write| write.is_safe = true);
        }
    }

    /// Compares the blocks after a power failure with `contents`, which the model determined for the media
    /// ([`LiveRun::crash`](sledlab_sim::LiveRun::crash)).
    ///
    /// # Errors
    /// A block with a version whose data was discarded, which is a defect of sledlab.
    pub fn recover(self, contents: &Contents) -> Result<RecoveredBlocks> {
        let mut recovered = RecoveredBlocks::default();
        for (lbn, block) in self.blocks {
            let version = match contents.get(&lbn) {
                None => OLDEST_VERSION,
                Some(Content::Data(version)) => *version,
                Some(Content::Header(_)) => {
                    return Err(Error::internal(format!("block {lbn} of the host holds a header")));
                }
            };
            let is_trimmed = |last: &u64| (1..=*last).contains(&version);
            let restored = match block.first() {
                Some(oldest) if self.trimmed.get(&lbn).is_some_and(is_trimmed) => oldest.version,
                _ => version,
            };
            recovered.add(lbn, &block, restored)?;
        }
        recovered.older.sort_unstable_by_key(|(lbn, _)| *lbn);
        Ok(recovered)
    }

    /// Returns the approximate number of bytes of memory that the versions use.
    pub fn memory_bytes(&self) -> usize {
        self.bytes
            + self.version_count * size_of::<PossibleVersion>()
            + self.blocks.len() * size_of::<(u64, Vec<PossibleVersion>)>()
            + self.trimmed.len() * size_of::<(u64, u64)>()
            + self.writes.len() * size_of::<(u64, Write)>()
            + self.undurable.len() * size_of::<(Time, u64)>()
    }

    /// Changes the state of a write, and discards the versions that no failure can restore any more.
    fn update_write(&mut self, id: u64, change: impl FnOnce(&mut Write)) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        change(write);
        let write = *write;
        if write.is_complete && write.is_safe {
            self.writes.remove(&id);
        }
        for lbn in write.first..write.end {
            self.settle(lbn, version(id), write);
        }
    }

    /// Applies the state of a write to one of its blocks, unless the version was trimmed or discarded.
    fn settle(&mut self, lbn: u64, version: u64, write: Write) {
        let Some(block) = self.blocks.get_mut(&lbn) else { return };
        let Some(candidate) = block.iter_mut().find(|candidate| candidate.version == version) else { return };
        candidate.is_safe = write.is_safe;
        if write.is_complete && candidate.followed_after.is_none() {
            candidate.followed_after = Some(self.last);
        }
        let Some(newest_safe) =
            block.iter().rev().find(|candidate| candidate.is_safe).map(|candidate| candidate.version)
        else {
            return;
        };
        let size_before = (block.len(), bytes(block));
        block.retain(|candidate| candidate.followed_after.is_none_or(|last| last >= newest_safe));
        self.version_count -= size_before.0 - block.len();
        self.bytes -= size_before.1 - bytes(block);
        if let [newest] = &block[..]
            && newest.is_safe
            && newest.followed_after.is_some()
        {
            self.version_count -= 1;
            self.blocks.remove(&lbn);
        }
    }
}

fn bytes(block: &[PossibleVersion]) -> usize {
    BLOCK * block.iter().filter(|candidate| candidate.data.is_some()).count()
}

#[cfg(test)]
mod tests;
