//! Several requests in one pass.
//!
//! A pass serves the blocks that its requests have at its row, as far as there are tips. All requests are then served
//! row by row, each completing with its own last row. Where they need different rows, the sled continues with the row
//! it reaches soonest.

use sledlab_core::{BLOCK_BYTES, Span, Time, WORD_BYTES};

use super::layout::Place;
use super::sled::{Pass, Sled};
use super::unit::{SledUnit, first_pass, note_further_pass};
use crate::device::{BusyPeriod, PartialBlocks, QueuedRequest, ServedRequest, Timing};
use crate::power::{MechanicalWork, Shares};

const WORDS_PER_BLOCK: f64 = (BLOCK_BYTES / WORD_BYTES) as f64;

/// A request with blocks still to be served.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub request: QueuedRequest,
    pub timing: Timing,
    pub done_blocks: u32,
    /// Blocks that the current pass serves.
    pub pass_blocks: u32,
    /// The request's share of the sled's work so far.
    pub work: MechanicalWork,
}

impl OpenRequest {
    pub fn new(request: QueuedRequest, timing: Timing) -> Self {
        OpenRequest { request, timing, done_blocks: 0, pass_blocks: 0, work: MechanicalWork::default() }
    }

    pub fn next_lbn(&self) -> u64 {
        self.request.lbn + u64::from(self.done_blocks)
    }

    pub fn remaining_blocks(&self) -> u32 {
        self.request.blocks - self.done_blocks
    }

    pub fn is_complete(&self) -> bool {
        self.done_blocks == self.request.blocks
    }

    /// Adds a pass that has ended to the timing; `access` is the time from the end of positioning on.
    pub fn note_pass(&mut self, pass: &Pass, access: Span) {
        // Every pass has some transfer, so a timing without transfer has no pass yet.
        if self.timing.transfer == Span::ZERO {
            self.timing = Timing { overhead: self.timing.overhead, ..first_pass(pass, access) };
        } else {
            note_further_pass(&mut self.timing, pass, access);
        }
    }
}

impl Sled {
    /// Whether the first passes of `batch` and `candidate` go over the same row at the same cylinder, with tips
    /// enough for all.
    pub fn can_join(&self, batch: &[QueuedRequest], candidate: &QueuedRequest) -> bool {
        let (place, _) = self.place_and_run(candidate.lbn, candidate.blocks);
        let position = |place: Place| (place.cylinder, place.row);
        let mut lit = vec![0; self.addresses.sleds() as usize];
        batch.iter().chain([candidate]).all(|request| {
            let (first, blocks) = self.place_and_run(request.lbn, request.blocks);
            position(first) == position(place) && self.take_tips(&mut lit, request, 0, blocks)
        })
    }

    /// Adds to `lit`, by sled, the tips for the `run` blocks of a row that follow the first `done_blocks` of a request;
    /// false if that exceeds the active tips. Tips over unwanted words stay dark, and other requests may use as many.
    pub fn take_tips(&self, lit: &mut [u64], request: &QueuedRequest, done_blocks: u32, run: u32) -> bool {
        if let [lit] = lit {
            *lit += self.active_tips(request, done_blocks, run);
            return *lit <= self.geometry.active_tips;
        }
        (done_blocks..done_blocks + run).all(|block| {
            let lit = &mut lit[self.addresses.sled(request.lbn + u64::from(block)) as usize];
            *lit += self.active_tips(request, block, 1);
            *lit <= self.geometry.active_tips
        })
    }

    /// Number of tips that access the `run` blocks of a row that follow the first `done_blocks` of a request.
    #[inline]
    pub fn active_tips(&self, request: &QueuedRequest, done_blocks: u32, run: u32) -> u64 {
        if request.partial.blocks == 0 {
            return self.tips(run);
        }
        let dark_tips =
            self.dark_tips_of(request, done_blocks + run) - self.dark_tips_of(request, done_blocks);
        self.tips(run) - dark_tips
    }

    /// The tips that stay dark over the first `blocks` blocks of `request`. Its partial blocks are the last ones; their
    /// dark tips are spread evenly.
    fn dark_tips_of(&self, request: &QueuedRequest, blocks: u32) -> u64 {
        let partial_blocks = request.partial.blocks;
        let passed_blocks = blocks.saturating_sub(request.blocks - partial_blocks);
        self.dark_tips(request) * u64::from(passed_blocks) / u64::from(partial_blocks)
    }

    /// Number of tips that stay dark over the partial blocks of `request`, rounded down: a tip that holds both a
    /// requested and an unrequested word is on.
    ///
    /// Of merged requests, the bound to all tips of a block holds for all their partial blocks together.
    pub fn dark_tips(&self, request: &QueuedRequest) -> u64 {
        let PartialBlocks { blocks, unrequested_words } = request.partial;
        let unrequested_words = f64::from(unrequested_words);
        let requested_words = f64::from(blocks) * WORDS_PER_BLOCK - unrequested_words;
        let dark_words = unrequested_words - (self.subsector_tip_factor - 1.0) * requested_words;
        (dark_words.max(0.0) * self.tips_per_word).floor() as u64
    }
}

impl SledUnit {
    /// Serves a batch of several requests from `now` on; the mechanism waits for `overhead` first.
    pub fn serve_batch(
        &mut self,
        now: Time,
        overhead: Span,
        batch: &[QueuedRequest],
        served: &mut Vec<ServedRequest>,
    ) -> BusyPeriod {
        let timing = Timing { overhead, ..Timing::default() };
        let mut open: Vec<OpenRequest> =
            batch.iter().map(|request| OpenRequest::new(*request, timing)).collect();
        self.max_tips = 0;
        let mut overheads = Shares::new(overhead.as_ns(), batch.len() as u64);
        for open in &mut open {
            open.work.seek += Span::from_ns(overheads.next(1));
        }
        let mut busy = BusyPeriod { until: now + overhead, work: MechanicalWork::default() };
        while !open.is_empty() {
            let pass = self.next_pass(&open);
            self.share_pass(&pass, &mut open, OpenRequest::remaining_blocks);
            self.end_pass(&pass, &mut open);
            busy.until += pass.positioning() + self.sled.row_time;
            self.spot = self.sled.end_spot(&pass);
            open.retain_mut(|open| {
                if open.is_complete() {
                    self.settle_tips(&mut open.work, &open.request);
                    busy.work += open.work;
                    served.push(self.complete(open, now, busy.until));
                }
                !open.is_complete()
            });
        }
        busy
    }

    fn complete(&self, open: &OpenRequest, start: Time, completion: Time) -> ServedRequest {
        let OpenRequest { request, timing, work, .. } = open;
        let energy = self.rates().energy(work);
        let (write_behind, device) = (Span::ZERO, Some(0));
        ServedRequest { request: *request, start, completion, write_behind, timing: *timing, energy, device }
    }

    /// The pass that starts soonest; of equal ones the pass of the first request.
    fn next_pass(&self, open: &[OpenRequest]) -> Pass {
        let plan = |open: &OpenRequest| {
            self.sled.plan(self.spot, open.next_lbn(), open.remaining_blocks(), u32::MAX)
        };
        let first = plan(&open[0]);
        open[1..]
            .iter()
            .map(plan)
            .fold(first, |best, pass| if pass.positioning() < best.positioning() { pass } else { best })
    }

    /// Sets the run of every request: at the row of `pass` as many blocks as are `ready` while tips last, elsewhere
    /// none.
    pub fn share_pass(&self, pass: &Pass, open: &mut [OpenRequest], ready: impl Fn(&OpenRequest) -> u32) {
        if let [only] = open {
            only.pass_blocks = pass.blocks;
            return;
        }
        let mut lit = vec![0; self.sled.addresses.sleds() as usize];
        for open in open.iter_mut() {
            let ready = ready(open);
            open.pass_blocks = 0;
            if ready == 0 {
                continue;
            }
            let (place, run) = self.sled.place_and_run(open.next_lbn(), ready);
            let is_at_row = self.sled.x_bit(place) == pass.x_bit && place.row == pass.row;
            let mut lit_after = lit.clone();
            if is_at_row && self.sled.take_tips(&mut lit_after, &open.request, open.done_blocks, run) {
                lit = lit_after;
                open.pass_blocks = run;
            }
        }
    }

    /// Adds a pass that has ended to all requests, which share its work by blocks. To the timing of requests without
    /// blocks in the pass its time counts as well.
    pub fn end_pass(&mut self, pass: &Pass, open: &mut [OpenRequest]) {
        let tips =
            open.iter().map(|open| self.sled.active_tips(&open.request, open.done_blocks, open.pass_blocks));
        self.max_tips = self.max_tips.max(tips.sum());
        if let [only] = open {
            // As below, without divisions.
            only.note_pass(pass, self.sled.row_time);
            only.work += self.sled.work(pass);
            only.done_blocks += only.pass_blocks;
            return;
        }
        let blocks = open.iter().map(|open| u64::from(open.pass_blocks)).sum();
        let mut seeks = Shares::new(pass.positioning().as_ns(), blocks);
        let mut accesses = Shares::new(self.sled.row_time.as_ns(), blocks);
        for open in open {
            open.note_pass(pass, self.sled.row_time);
            open.work += MechanicalWork {
                seek: Span::from_ns(seeks.next(open.pass_blocks.into())),
                access: Span::from_ns(accesses.next(open.pass_blocks.into())),
                ..self.sled.tip_work(open.pass_blocks)
            };
            open.done_blocks += open.pass_blocks;
        }
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::Op;

    use super::*;
    use crate::device::mems::params::{IdlePower, LayoutKind};
    use crate::device::mems::{self, MemsParams};
    use crate::device::{Device, Mechanics, QueuedRequest, ServedRequest};

    fn device(layout: LayoutKind) -> Box<dyn Device> {
        mems::build(&MemsParams { layout, ..MemsParams::default() }).unwrap()
    }

    fn request(id: u64, lbn: u64, blocks: u32) -> QueuedRequest {
        QueuedRequest {
            id,
            arrival: Time::ZERO,
            queue_time: Time::ZERO,
            lbn,
            blocks,
            op: Op::Read,
            ..QueuedRequest::default()
        }
    }

    fn serve(device: &mut dyn Device, batch: &[QueuedRequest]) -> (BusyPeriod, Vec<ServedRequest>) {
        let mut served = Vec::new();
        let busy = device.issue(Time::ZERO, batch, &mut served).unwrap();
        assert_eq!(served.len(), batch.len());
        assert!(served.is_sorted_by_key(|served| served.completion));
        for served in &served {
            assert_eq!(served.completion, served.start + served.timing.service());
        }
        assert_eq!(served.last().unwrap().completion, busy.until);
        assert_eq!(busy.until.since(Time::ZERO), busy.work.busy_time());
        (busy, served)
    }

    /// Blocks of a group of tips in the `y-sequential` layout: blocks of the next group lie at the same positions.
    const GROUP: u64 = 2500 * 27;

    #[test]
    fn requests_at_one_place_share_their_passes() {
        let requests = [request(0, 100, 3), request(1, 100 + GROUP, 5), request(2, 100 + 2 * GROUP, 3)];
        let (_, alone_work) = serve(device(LayoutKind::YSequential).as_mut(), &requests[1..2]);
        let (busy, served) = serve(device(LayoutKind::YSequential).as_mut(), &requests);
        // The requests of three rows end after three rows, the longest as if it were alone.
        assert_eq!(served.iter().map(|served| served.request.id).collect::<Vec<_>>(), [0, 2, 1]);
        assert_eq!(served[0].completion, served[1].completion);
        assert_eq!(served[2].completion, alone_work[0].completion);
        assert!(served[0].completion < served[2].completion);
        let row_ns = busy.work.access.as_ns() / 5;
        assert_eq!(busy.work.tip_ns, 64 * (3 + 5 + 3) * row_ns);
    }

    #[test]
    fn active_tips_limit_shared_passes() {
        let device = device(LayoutKind::RowFirst);
        let mechanics: &dyn Mechanics = device.mechanics();
        // A row of a track holds twenty blocks, and twenty can be accessed at once.
        let (first, track) = (request(0, 0, 12), 540);
        assert!(mechanics.can_join(&[first], &request(1, 12, 8)));
        assert!(!mechanics.can_join(&[first], &request(1, 20, 1)), "the next row");
        assert!(mechanics.can_join(&[first], &request(1, track, 8)), "another track at the same place");
        assert!(!mechanics.can_join(&[first], &request(1, track, 9)), "more than there are tips");
        assert!(mechanics.can_join(&[first], &request(1, 19, 5)), "only its first row counts");
        assert!(!mechanics.can_join(&[first, request(1, 12, 8)], &request(2, track, 1)));
    }

    #[test]
    fn dark_tips_serve_other_requests() {
        let params = MemsParams { subsector_access: true, ..MemsParams::default() };
        let mut device = mems::build(&params).unwrap();
        let access = |id, lbn, blocks, words: u32| QueuedRequest {
            partial: PartialBlocks { blocks: 1, unrequested_words: 64 - words },
            ..request(id, lbn, blocks)
        };
        // A complete row without 63 words of its last block leaves 63 of 1,280 tips inactive.
        let (full_row, track) = (access(0, 0, 20, 1), 540);
        assert!(device.mechanics().can_join(&[full_row], &access(1, track, 1, 63)));
        assert!(!device.mechanics().can_join(&[full_row], &access(1, track, 1, 64)));
        assert!(
            !self::device(LayoutKind::RowFirst).mechanics().can_join(&[full_row], &access(1, track, 1, 63))
        );
        // 12 words of each of the hundred blocks at a position need 1,200 tips and one pass. Whole blocks take five
        // passes.
        let inodes: Vec<QueuedRequest> =
            (0..100).map(|id| access(id, id / 20 * track + id % 20, 1, 12)).collect();
        let (others, last) = (&inodes[..99], &inodes[99]);
        assert!(device.mechanics().can_join(others, last));
        let (busy, served) = serve(device.as_mut(), &inodes);
        let row_ns = busy.work.access.as_ns();
        assert_eq!((busy.work.tip_ns, busy.work.dark_tip_ns), (1_200 * row_ns, 100 * 52 * row_ns));
        let tips_uj: f64 = served.iter().map(|served| served.energy.access_uj).sum();
        // The sled's 100 mW count once, and 1 mW for each tip.
        assert!((tips_uj - 1_300.0 * row_ns as f64 * 1e-6).abs() < 1e-9);
        let whole_blocks: Vec<QueuedRequest> = inodes
            .iter()
            .map(|inode| QueuedRequest { partial: PartialBlocks::default(), ..*inode })
            .collect();
        let (busy, _) = serve(self::device(LayoutKind::RowFirst).as_mut(), &whole_blocks);
        assert_eq!(busy.work.access.as_ns(), 5 * row_ns);
    }

    /// Serves `blocks` blocks from `lbn` on, of each of which `words` are requested; returns tips that were on and
    /// tips that stayed dark, each times the rows, and the tips of the widest pass.
    fn count_tips(factor: f64, lbn: u64, blocks: u32, words: u32) -> [u64; 3] {
        let (subsector_access, idle_power) = (true, IdlePower::Full);
        let params = MemsParams {
            subsector_access,
            subsector_tip_factor: factor,
            idle_power,
            ..MemsParams::default()
        };
        let mut device = mems::build(&params).unwrap();
        let partial = PartialBlocks { blocks, unrequested_words: blocks * (64 - words) };
        let (busy, _) = serve(device.as_mut(), &[QueuedRequest { partial, ..request(0, lbn, blocks) }]);
        // One row of 90 bits at 700 kbit/s takes 128.571 us. An idle sled draws 100 mW, and 1 mW for each tip.
        let tips = [busy.work.tip_ns, busy.work.dark_tip_ns].map(|tip_ns| tip_ns / 128_571);
        [tips[0], tips[1], (device.mechanics().idle_mw() - 100.0).round() as u64]
    }

    #[test]
    fn every_block_of_request_may_be_partial() {
        // All 16 blocks, of 64 tips each, lie in the first row of 20 blocks.
        assert_eq!(count_tips(1.0, 0, 16, 64), [1024, 0, 1024]);
        assert_eq!(count_tips(1.0, 0, 16, 1), [16, 1008, 16]);
        assert_eq!(count_tips(1.0, 0, 16, 16), [256, 768, 256]);
        // Eight blocks lie in the first row, and eight in the second.
        assert_eq!(count_tips(1.0, 12, 16, 16), [256, 768, 128]);
        // Twenty blocks lie in each of the rows 1 and 2, two in row 0 and three in row 3.
        assert_eq!(count_tips(1.0, 18, 45, 16), [45 * 16, 45 * 48, 20 * 16]);
    }

    #[test]
    fn tip_factor_adds_active_tips() {
        // 1.5 tips for each of the 16 requested words of a request of 16 blocks.
        assert_eq!(count_tips(1.5, 0, 16, 1), [24, 1000, 24]);
        // 24 instead of 16 tips of each block.
        assert_eq!(count_tips(1.5, 0, 16, 16), [384, 640, 384]);
        assert_eq!(count_tips(1.5, 12, 16, 16), [384, 640, 192]);
        // 1.5 tips of a single block are two tips.
        assert_eq!(count_tips(1.5, 0, 1, 1), [2, 62, 2]);
        // 63 of 64 tips for 42 words, all tips for more words: a block has no more.
        assert_eq!(count_tips(1.5, 0, 16, 42), [1008, 16, 1008]);
        assert_eq!(count_tips(1.5, 0, 16, 48), [1024, 0, 1024]);
    }

    #[test]
    fn requests_of_a_batch_may_diverge() {
        // The first request continues in the next row, the second at the start of another track.
        let requests = [request(0, 18, 4), request(1, 2 * 540 + 17, 3), request(2, 3 * 540 + 1, 2)];
        let (busy, served) = serve(device(LayoutKind::RowFirst).as_mut(), &requests);
        let separate_ns: u64 = requests
            .iter()
            .map(|request| serve(device(LayoutKind::RowFirst).as_mut(), &[*request]).0.until.as_ns())
            .sum();
        assert_eq!(served[2].request.id, 0);
        assert!(busy.until.as_ns() < separate_ns);
    }

    #[test]
    fn any_batch_is_served() {
        let requests = [request(0, 6_000_000, 40), request(1, 5, 100), request(2, 3_000_000, 1)];
        serve(device(LayoutKind::Streaming).as_mut(), &requests);
    }
}
