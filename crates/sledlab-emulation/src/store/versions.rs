//! Superseded data, as long as a power failure of the device may bring it back.
//!
//! A store holds of every block what was written last, from the moment the write arrives. When the power of the device
//! fails, the model says which write a block holds, and that may be an older one: the newest was under way, or in a cache
//! that has lost it. Its data is here until no failure can bring it back. That is when a later write to the block is
//! safe, which had arrived after the older one was answered: such a write is never found older than that. A write is safe
//! as soon as it is answered or, behind a volatile cache, flushed.
//!
//! So what is kept is what is not safe yet, and what it replaces; beside that only blocks of which two writes were under
//! way at once, either of which may be the one on the medium, until they are written again. Blocks of zeroes take no room.
//!
//! A trim is durable at once and follows on all that arrived before: no failure brings that back.

use std::collections::BTreeMap;

use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Error, Result};
use sledlab_models::system::{Content, Contents};
use sledlab_sim::version;

const BLOCK: usize = BLOCK_BYTES as usize;

/// The data of a block, or what replaces it after a power failure.
pub type Block = [u8; BLOCK];

/// Data that the store does not hold any more, and a power failure may bring back.
#[derive(Debug)]
pub struct Versions {
    is_volatile: bool,
    /// Of the last write that arrived.
    last: u64,
    /// Of every block that may not be found as the store holds it: what may be, in order of arrival, the last of which
    /// is in the store.
    blocks: Map<u64, Vec<Held>>,
    /// Writes that are not answered, or not safe.
    writes: BTreeMap<u64, Write>,
    held: usize,
    bytes: usize,
}

/// What a block may be found to hold.
#[derive(Debug)]
struct Held {
    /// Of the write; [`OLDEST`] of what was there before.
    version: u64,
    /// The last write that had arrived when this one was answered: others follow on it.
    followed_after: Option<u64>,
    is_safe: bool,
    /// Nothing for zeroes, and for what is in the store.
    data: Option<Box<Block>>,
}

/// What a power failure has made of the blocks whose last write was not durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Blocks that hold what was written last, as the store does.
    pub newest: u64,
    /// Blocks that hold something older, in order, with what that is.
    pub older: Vec<(u64, Block)>,
    /// How many of those had been written later by a write that was answered: what a volatile cache has lost.
    pub lost: u64,
}

impl Recovered {
    /// A block that holds the write of this version, one of those it may.
    fn add(&mut self, lbn: u64, block: &[Held], version: u64) -> Result<()> {
        let [.., newest] = block else { return Ok(()) };
        if newest.version == version {
            self.newest += 1;
            return Ok(());
        }
        // What was there before has an older version than all that came since.
        let is_oldest = block.get(1).is_some_and(|second| version < second.version);
        let stands_for = |held: &Held| held.version == version || (held.version == OLDEST && is_oldest);
        let Some(place) = block.iter().position(stands_for) else {
            return Err(Error::internal(format!(
                "block {lbn} holds version {version} after a power failure, which was given up"
            )));
        };
        let held = &block[place];
        let follows = |later: &Held| held.followed_after.is_some_and(|last| later.version > last);
        let is_answered = |later: &Held| later.followed_after.is_some();
        self.lost += u64::from(block[place..].iter().any(|later| follows(later) && is_answered(later)));
        self.older.push((lbn, held.data.as_deref().copied().unwrap_or([0; BLOCK])));
        Ok(())
    }
}

/// Stands for whatever version a block had before all others that are known of it.
const OLDEST: u64 = 0;

#[derive(Clone, Copy, Debug)]
struct Write {
    first: u64,
    end: u64,
    is_answered: bool,
    is_safe: bool,
}

impl Versions {
    /// Of a device that holds what its store does. `is_volatile` says that writes are not safe when they are answered
    /// ([`Live::is_volatile`](sledlab_sim::Live::is_volatile)).
    pub fn new(is_volatile: bool) -> Self {
        Versions {
            is_volatile,
            last: OLDEST,
            blocks: Map::default(),
            writes: BTreeMap::new(),
            held: 0,
            bytes: 0,
        }
    }

    /// A write has arrived under this number, and is about to replace in the store what its blocks hold there, from
    /// block `lbn` on: whole blocks, also where it writes a part of one. Numbers rise.
    pub fn arrive(&mut self, id: u64, lbn: u64, replaced: &[u8]) {
        let (replaced, rest) = replaced.as_chunks::<BLOCK>();
        debug_assert!(rest.is_empty(), "writes are of whole blocks");
        self.last = version(id);
        let end = lbn + replaced.len() as u64;
        self.writes.insert(id, Write { first: lbn, end, is_answered: false, is_safe: false });
        for (lbn, replaced) in (lbn..).zip(replaced) {
            let block = self.blocks.entry(lbn).or_default();
            if block.is_empty() {
                block.push(Held { version: OLDEST, followed_after: Some(OLDEST), is_safe: true, data: None });
                self.held += 1;
            }
            if let Some(newest) = block.last_mut()
                && replaced.iter().any(|byte| *byte != 0)
            {
                newest.data = Some(Box::new(*replaced));
                self.bytes += BLOCK;
            }
            block.push(Held { version: self.last, followed_after: None, is_safe: false, data: None });
            self.held += 1;
        }
    }

    /// A trim has arrived: these blocks read zero in the store.
    pub fn trim(&mut self, lbn: u64, blocks: u64) {
        let trimmed = lbn..lbn + blocks;
        // A whole device may be trimmed at once.
        let of_these: Vec<u64> = if blocks < self.blocks.len() as u64 {
            trimmed.collect()
        } else {
            self.blocks.keys().copied().filter(|lbn| trimmed.contains(lbn)).collect()
        };
        for block in of_these.iter().filter_map(|lbn| self.blocks.remove(lbn)) {
            self.held -= block.len();
            self.bytes -= bytes(&block);
        }
    }

    /// An operation has been answered, or is about to be.
    pub fn acknowledged(&mut self, id: u64) {
        let is_safe = !self.is_volatile;
        self.note(id, |write| (write.is_answered, write.is_safe) = (true, write.is_safe || is_safe));
    }

    /// A flush has been answered: writes with numbers below `up_to`, its own, are safe.
    pub fn flushed(&mut self, up_to: u64) {
        let unsafe_writes = self.writes.range(..up_to).filter(|(_, write)| !write.is_safe);
        for id in unsafe_writes.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.note(id, |write| write.is_safe = true);
        }
    }

    /// The power has failed and `contents` are what the model finds
    /// ([`Live::crash`](sledlab_sim::Live::crash)).
    ///
    /// # Errors
    /// A block that holds what has been given up, which is a defect of sledlab.
    pub fn crashed(self, contents: &Contents) -> Result<Recovered> {
        let mut found = Recovered::default();
        for (lbn, block) in self.blocks {
            let version = match contents.get(&lbn) {
                None => OLDEST,
                Some(Content::Data(version)) => *version,
                Some(Content::Header(_)) => {
                    return Err(Error::internal(format!("block {lbn} of the host holds a header")));
                }
            };
            found.add(lbn, &block, version)?;
        }
        found.older.sort_unstable_by_key(|(lbn, _)| *lbn);
        Ok(found)
    }

    /// Bytes that all this takes, about.
    pub fn memory(&self) -> usize {
        self.bytes
            + self.held * size_of::<Held>()
            + self.blocks.len() * size_of::<(u64, Vec<Held>)>()
            + self.writes.len() * size_of::<(u64, Write)>()
    }

    /// Something has become of a write: gives up what it makes needless.
    fn note(&mut self, id: u64, change: impl FnOnce(&mut Write)) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        change(write);
        let write = *write;
        if write.is_answered && write.is_safe {
            self.writes.remove(&id);
        }
        for lbn in write.first..write.end {
            self.settle(lbn, version(id), write);
        }
    }

    /// Notes of a block what has become of one of its writes, unless that has been trimmed, or given up.
    fn settle(&mut self, lbn: u64, version: u64, write: Write) {
        let Some(block) = self.blocks.get_mut(&lbn) else { return };
        let Some(held) = block.iter_mut().find(|held| held.version == version) else { return };
        held.is_safe = write.is_safe;
        if write.is_answered && held.followed_after.is_none() {
            held.followed_after = Some(self.last);
        }
        let Some(safe) = block.iter().rev().find(|held| held.is_safe).map(|held| held.version) else {
            return;
        };
        let before = (block.len(), bytes(block));
        block.retain(|held| held.followed_after.is_none_or(|last| last >= safe));
        self.held -= before.0 - block.len();
        self.bytes -= before.1 - bytes(block);
        if let [newest] = &block[..]
            && newest.is_safe
            && newest.followed_after.is_some()
        {
            self.held -= 1;
            self.blocks.remove(&lbn);
        }
    }
}

fn bytes(block: &[Held]) -> usize {
    BLOCK * block.iter().filter(|held| held.data.is_some()).count()
}

#[cfg(test)]
mod tests;
