//! Several requests in one pass.
//!
//! A pass serves the blocks that its requests have at its row, as far as there are tips. All requests are then served
//! row by row, each completing with its own last row. Where they need different rows, the sled continues with the row
//! it reaches soonest.

use sledlab_core::{Span, Time};

use super::layout::Place;
use super::sled::{Pass, Sled};
use super::unit::{SledUnit, first_pass, note_further_pass};
use crate::device::{BusyPeriod, QueuedRequest, ServedRequest, Timing};
use crate::power::{MechanicalWork, Shares};

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
        let dark_tips = if done_blocks + run == request.blocks { self.dark_tips(request) } else { 0 };
        let (first, last) =
            (request.lbn + u64::from(done_blocks), request.lbn + u64::from(done_blocks + run) - 1);
        (first..=last).all(|lbn| {
            let lit = &mut lit[self.addresses.sled(lbn) as usize];
            *lit += self.tips(1) - if lbn == last { dark_tips.min(self.tips(1)) } else { 0 };
            *lit <= self.geometry.active_tips
        })
    }

    /// Number of tips that access the `run` blocks of a row that follow the first `done_blocks` of a request.
    pub fn active_tips(&self, request: &QueuedRequest, done_blocks: u32, run: u32) -> u64 {
        if request.unrequested_words == 0 || done_blocks + run < request.blocks {
            return self.tips(run);
        }
        // Only merged requests have more unrequested words than their last block holds.
        let max_dark_tips = self.tips(if done_blocks == 0 { run } else { 1 });
        self.tips(run) - self.dark_tips(request).min(max_dark_tips)
    }

    /// Number of tips that stay dark while the last row of `request` is accessed, rounded down: a tip that holds both
    /// a requested and an unrequested word is on.
    pub fn dark_tips(&self, request: &QueuedRequest) -> u64 {
        (f64::from(request.unrequested_words) * self.tips_per_word).floor() as u64
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
    use crate::device::mems::params::LayoutKind;
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
        let access = |id, lbn, blocks, words: u16| QueuedRequest {
            unrequested_words: 64 - words,
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
        let whole_blocks: Vec<QueuedRequest> =
            inodes.iter().map(|inode| QueuedRequest { unrequested_words: 0, ..*inode }).collect();
        let (busy, _) = serve(self::device(LayoutKind::RowFirst).as_mut(), &whole_blocks);
        assert_eq!(busy.work.access.as_ns(), 5 * row_ns);
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
