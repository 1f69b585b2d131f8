//! Room in the cache: writes wait in order of arrival until there are clean lines to evict, and reads do so with
//! `read_destage = "first"`.

use sledlab_core::{Op, Time};

use super::CachedSystem;
use crate::cache::{BlockRun, ReadDestage};
use crate::device::QueuedRequest;

impl CachedSystem {
    /// Whether a read waits for room: it has lines that are not resident, and the cache has no clean lines for them or
    /// earlier requests wait for these. A read of more lines than the cache has never waits.
    pub(super) fn read_waits(&self, requested: BlockRun) -> bool {
        self.params.read_destage == ReadDestage::First
            && !self.lines.has_lines(requested)
            && self.lines.can_hold(requested)
            && (!self.room_queue.is_empty() || !self.lines.has_room(requested))
    }

    /// Lets a request wait for room, behind those that wait already.
    pub(super) fn wait_for_room(&mut self, now: Time, request: QueuedRequest) {
        self.room_queue.push_back((request, request.lbn));
        self.serve_room_queue(now);
    }

    /// Serves the requests that wait for room in order of arrival; where one finds no room, dirty blocks are destaged.
    pub(super) fn serve_room_queue(&mut self, now: Time) {
        while let Some((request, next)) = self.room_queue.front().copied() {
            let has_room = match request.op {
                Op::Flush => true,
                Op::Read => self.lines.has_room(requested_blocks(&request)),
                _ => self.insert_write(&request, next),
            };
            if !has_room {
                self.destage_for_room(now);
                return;
            }
            self.room_queue.pop_front();
            match request.op {
                Op::Flush => self.begin_flush(now, request),
                Op::Read => {
                    self.serve_read(now, request);
                }
                _ => {
                    self.idle_since = now;
                    self.answer_from_cache(now, request);
                }
            }
        }
    }

    /// Writes the first waiting write, from block `first` on, into the cache; returns whether all of it found room.
    fn insert_write(&mut self, request: &QueuedRequest, first: u64) -> bool {
        let end = request.lbn + u64::from(request.blocks);
        let next = self.lines.write(BlockRun { first, end });
        self.invalidate_fetches(BlockRun { first, end: next });
        if let Some(contents) = &mut self.contents {
            contents.write(request, BlockRun { first, end: next });
        }
        self.room_queue[0].1 = next;
        next >= end
    }

    fn destage_for_room(&mut self, now: Time) {
        if self.destaging < self.room_queue.len()
            && let Some(run) = self.lines.first_dirty()
        {
            self.destage(now, run);
        }
    }

    /// With `read_destage = "after"`, destages dirty lines behind the fetches of a read, one for each of its lines that
    /// found no clean line.
    pub(super) fn destage_after_read(&mut self, now: Time, requested: BlockRun) {
        if self.params.read_destage != ReadDestage::After || !self.lines.can_hold(requested) {
            return;
        }
        for _ in 0..self.lines.insert_late(requested) {
            let Some(run) = self.lines.first_dirty() else { return };
            self.destage(now, run);
        }
    }
}

/// The blocks of a request.
pub(super) fn requested_blocks(request: &QueuedRequest) -> BlockRun {
    BlockRun { first: request.lbn, end: request.lbn + u64::from(request.blocks) }
}
