//! Several requests in one pass (SC-22).
//!
//! A pass serves whatever its requests have at its row, as far as there are tips; all of them are then
//! followed row by row to their ends, each completing with its own last row. Where their ways part, the
//! sled goes on with the row it reaches soonest.

use sledlab_core::{Span, Time};

use super::sled::Pass;
use super::unit::{SledUnit, first_pass, note_further_pass};
use crate::device::{Busy, Queued, Served, Timing, Work};
use crate::power::Shares;

/// A request with blocks still to be served.
struct Open {
    request: Queued,
    timing: Timing,
    done: u32,
    /// Its share of what the sled did so far.
    work: Work,
}

impl Open {
    fn next_lbn(&self) -> u64 {
        self.request.lbn + u64::from(self.done)
    }

    fn left(&self) -> u32 {
        self.request.blocks - self.done
    }

    fn note_pass(&mut self, pass: &Pass, row_time: Span) {
        if self.timing.transfer == Span::ZERO {
            self.timing = Timing { overhead: self.timing.overhead, ..first_pass(pass, row_time) };
        } else {
            note_further_pass(&mut self.timing, pass, row_time);
        }
    }
}

impl SledUnit {
    /// Serves a batch of several requests from `now` on; the mechanism waits for `overhead` first.
    pub fn serve_together(
        &mut self,
        now: Time,
        overhead: Span,
        batch: &[Queued],
        served: &mut Vec<Served>,
    ) -> Busy {
        let timing = Timing { overhead, ..Timing::default() };
        let mut open: Vec<Open> = batch
            .iter()
            .map(|request| Open { request: *request, timing, done: 0, work: Work::default() })
            .collect();
        let mut overheads = Shares::new(overhead.as_ns(), batch.len() as u64);
        for open in &mut open {
            open.work.seek += Span::from_ns(overheads.next(1));
        }
        let mut busy = Busy { until: now + overhead, work: Work::default() };
        while !open.is_empty() {
            let pass = self.next_pass(&open);
            self.serve_pass(&pass, &mut open);
            busy.until += pass.positioning() + self.sled.row_time;
            self.at = self.sled.after(&pass);
            open.retain_mut(|open| {
                let complete = open.done == open.request.blocks;
                if complete {
                    self.darken(&mut open.work, &open.request);
                    busy.work += open.work;
                    served.push(self.complete(open, now, busy.until));
                }
                !complete
            });
        }
        busy
    }

    fn complete(&self, open: &Open, start: Time, completion: Time) -> Served {
        let Open { request, timing, work, .. } = open;
        Served { request: *request, start, completion, timing: *timing, energy: self.rates().spent(work) }
    }

    /// The pass that starts soonest; of equal ones that of the first request.
    fn next_pass(&self, open: &[Open]) -> Pass {
        let plan = |open: &Open| self.sled.plan(self.at, open.next_lbn(), open.left(), u32::MAX);
        let first = plan(&open[0]);
        open[1..]
            .iter()
            .map(plan)
            .fold(first, |best, pass| if pass.positioning() < best.positioning() { pass } else { best })
    }

    /// Lets every request at the row of `pass` have its blocks there while tips last; they share the work by
    /// blocks. For the others the pass is time on their way.
    fn serve_pass(&self, pass: &Pass, open: &mut [Open]) {
        let mut on_sled = vec![0; self.sled.addresses.sleds() as usize];
        let mut runs = Vec::with_capacity(open.len());
        for open in open.iter_mut() {
            let (place, run) = self.sled.place_and_run(open.next_lbn(), open.left());
            let here = self.sled.x_bit(place) == pass.x_bit && place.row == pass.row;
            let mut with = on_sled.clone();
            let served = here && self.sled.take_tips(&mut with, open.next_lbn(), run);
            if served {
                on_sled = with;
                open.done += run;
            }
            runs.push(if served { run } else { 0 });
            open.note_pass(pass, self.sled.row_time);
        }
        let blocks = runs.iter().map(|run| u64::from(*run)).sum();
        let mut seeks = Shares::new(pass.positioning().as_ns(), blocks);
        let mut accesses = Shares::new(self.sled.row_time.as_ns(), blocks);
        for (open, run) in open.iter_mut().zip(runs) {
            open.work += Work {
                seek: Span::from_ns(seeks.next(run.into())),
                access: Span::from_ns(accesses.next(run.into())),
                tip_ns: self.sled.tips(run) * self.sled.row_time.as_ns(),
                dark_tip_ns: 0,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::Op;

    use super::*;
    use crate::device::mems::params::LayoutKind;
    use crate::device::mems::{self, MemsParams};
    use crate::device::{Device, Mechanics, Queued, Served};

    fn device(layout: LayoutKind) -> Box<dyn Device> {
        mems::build(&MemsParams { layout, ..MemsParams::default() }).unwrap()
    }

    fn request(id: u64, lbn: u64, blocks: u32) -> Queued {
        Queued { id, arrival: Time::ZERO, queued: Time::ZERO, lbn, blocks, op: Op::Read, ..Queued::default() }
    }

    fn serve(device: &mut dyn Device, batch: &[Queued]) -> (Busy, Vec<Served>) {
        let mut served = Vec::new();
        let busy = device.issue(Time::ZERO, batch, &mut served).unwrap();
        assert_eq!(served.len(), batch.len());
        assert!(served.is_sorted_by_key(|served| served.completion));
        for served in &served {
            assert_eq!(served.completion, served.start + served.timing.service());
        }
        assert_eq!(served.last().unwrap().completion, busy.until);
        assert_eq!(busy.until.since(Time::ZERO), busy.work.busy());
        (busy, served)
    }

    /// Blocks of a group of tips in the order of the third layout: the next group lies at the same places.
    const GROUP: u64 = 2500 * 27;

    #[test]
    fn requests_at_one_place_share_their_passes() {
        let all = [request(0, 100, 3), request(1, 100 + GROUP, 5), request(2, 100 + 2 * GROUP, 3)];
        let (_, alone) = serve(device(LayoutKind::YSequential).as_mut(), &all[1..2]);
        let (busy, served) = serve(device(LayoutKind::YSequential).as_mut(), &all);
        // Those of three rows end after three, the longest as if it were alone.
        assert_eq!(served.iter().map(|served| served.request.id).collect::<Vec<_>>(), [0, 2, 1]);
        assert_eq!(served[0].completion, served[1].completion);
        assert_eq!(served[2].completion, alone[0].completion);
        assert!(served[0].completion < served[2].completion);
        let row_ns = busy.work.access.as_ns() / 5;
        assert_eq!(busy.work.tip_ns, 64 * (3 + 5 + 3) * row_ns);
    }

    #[test]
    fn tips_are_the_limit() {
        let device = device(LayoutKind::RowFirst);
        let mechanics: &dyn Mechanics = device.mechanics();
        // A row of a track holds twenty blocks and as many can be accessed at once.
        let (first, track) = (request(0, 0, 12), 540);
        assert!(mechanics.joins(&[first], &request(1, 12, 8)));
        assert!(!mechanics.joins(&[first], &request(1, 20, 1)), "the next row");
        assert!(mechanics.joins(&[first], &request(1, track, 8)), "another track at the same place");
        assert!(!mechanics.joins(&[first], &request(1, track, 9)), "more than there are tips");
        assert!(mechanics.joins(&[first], &request(1, 19, 5)), "only its first row counts");
        assert!(!mechanics.joins(&[first, request(1, 12, 8)], &request(2, track, 1)));
    }

    #[test]
    fn ways_may_part() {
        // One goes on in the next row, the other at the start of another track.
        let all = [request(0, 18, 4), request(1, 2 * 540 + 17, 3), request(2, 3 * 540 + 1, 2)];
        let (busy, served) = serve(device(LayoutKind::RowFirst).as_mut(), &all);
        let apart: u64 = all
            .iter()
            .map(|request| serve(device(LayoutKind::RowFirst).as_mut(), &[*request]).0.until.as_ns())
            .sum();
        assert_eq!(served[2].request.id, 0);
        assert!(busy.until.as_ns() < apart);
    }

    #[test]
    fn any_batch_is_served() {
        let all = [request(0, 6_000_000, 40), request(1, 5, 100), request(2, 3_000_000, 1)];
        serve(device(LayoutKind::Streaming).as_mut(), &all);
    }
}
