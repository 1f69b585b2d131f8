//! Orders of schedulers by block numbers and by plans, compared with orders worked out by hand.

use sledlab_core::{Op, Time};
use sledlab_models::device::{Device, QueuedRequest};
use sledlab_models::scheduler::Scheduler;

use super::index_comparison::{choice, device};

/// A scheduler for a G2 sled that serves its requests.
struct Trial {
    device: Box<dyn Device>,
    queue: Box<dyn Scheduler>,
    pushed: u64,
}

impl Trial {
    fn new(word: &str, device_text: &str, lbns: &[u64]) -> Self {
        let device = device(device_text);
        let queue = choice(word).make(device.mechanics()).unwrap();
        let mut trial = Trial { device, queue, pushed: 0 };
        trial.push(lbns);
        trial
    }

    fn push(&mut self, lbns: &[u64]) {
        let (arrival, queue_time) = (Time::ZERO, Time::ZERO);
        for (id, lbn) in (self.pushed..).zip(lbns) {
            self.queue.push(QueuedRequest {
                id,
                arrival,
                queue_time,
                lbn: *lbn,
                blocks: 1,
                op: Op::Read,
                ..QueuedRequest::default()
            });
        }
        self.pushed += lbns.len() as u64;
    }

    /// Serves up to `count` requests and returns their blocks and numbers.
    fn pop(&mut self, count: usize) -> Vec<(u64, u64)> {
        let (mut batch, mut served) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let popped = batch.len();
            self.queue.pop(Time::ZERO, self.device.mechanics(), &mut batch);
            if popped < batch.len() {
                self.device.issue(Time::ZERO, &batch[popped..], &mut served);
            }
        }
        batch.iter().map(|request| (request.lbn, request.id)).collect()
    }

    fn pop_lbns(&mut self, count: usize) -> Vec<u64> {
        self.pop(count).into_iter().map(|(lbn, _)| lbn).collect()
    }
}

#[test]
fn sweeps_serve_arrivals_ahead() {
    for (word, expected) in [("c-scan", [400, 500, 100, 200]), ("scan", [400, 500, 200, 100])] {
        let mut trial = Trial::new(word, "", &[500, 300]);
        assert_eq!(trial.pop_lbns(1), [300]);
        trial.push(&[200, 400, 100]);
        assert_eq!(trial.pop_lbns(9), expected, "{word}");
    }
}

#[test]
fn scan_turns_at_the_last_request() {
    let mut trial = Trial::new("look", "", &[500]);
    trial.pop(1);
    trial.push(&[400, 300]);
    assert_eq!(trial.pop_lbns(1), [400]);
    trial.push(&[450, 350]);
    assert_eq!(trial.pop_lbns(9), [350, 300, 450]);
}

#[test]
fn sweeps_do_not_stay_at_a_block() {
    let run = |word: &str, device_text: &str| {
        let mut trial = Trial::new(word, device_text, &[100, 100, 200]);
        trial.pop(1);
        trial.push(&[100]);
        trial.pop(9)
    };
    for word in ["c-scan", "scan"] {
        assert_eq!(run(word, ""), [(100, 1), (200, 2), (100, 3)], "{word}");
        assert_eq!(run(word, "selection = 'disksim'"), [(100, 1), (100, 3), (200, 2)], "{word}");
    }
}

#[test]
fn sstf_counts_tracks() {
    // Tracks of 540 blocks: track 2, then 1 and 3 at the same distance.
    let order = |word, device_text| {
        let mut trial = Trial::new(word, device_text, &[1100]);
        trial.pop(1);
        trial.push(&[1700, 600, 3000, 1619, 1080]);
        trial.pop_lbns(9)
    };
    assert_eq!(order("sstf", ""), [1619, 1080, 1700, 600, 3000]);
    assert_eq!(order("sstf:ties=lbn", ""), [1080, 1619, 600, 1700, 3000]);
    assert_eq!(order("sstf", "selection = 'disksim'"), order("sstf:ties=lbn", ""));
}

#[test]
fn sstf_alternates_between_directions() {
    let mut trial = Trial::new("sstf:distance=blocks", "", &[1000]);
    trial.pop(1);
    // Distances count from block 1001, then from 1012, in the end from 1003.
    trial.push(&[991, 1011]);
    assert_eq!(trial.pop_lbns(1), [1011]);
    trial.push(&[1002, 1022]);
    assert_eq!(trial.pop_lbns(9), [1002, 991, 1022]);
}

#[test]
fn sdf_in_whole_bits_prefers_the_lowest_block() {
    // One column of 2700 blocks to the left and to the right of the middle: equally far.
    let (left, right) = (1249 * 2700, 1251 * 2700);
    for rule in ["disksim-exact", "disksim-approx"] {
        let mut trial = Trial::new(&format!("sdf:rule={rule}"), "parking = 'center'", &[1250 * 2700]);
        trial.pop(1);
        trial.push(&[right, left]);
        assert_eq!(trial.pop_lbns(9), [left, right], "{rule}");
    }
}

#[test]
fn trees_are_rebuilt_immediately_or_when_exhausted() {
    let (near, nearer, far) = (1240 * 2700, 1241 * 2700, 0);
    for (word, expected) in [("mst", [nearer, far]), ("mst:online=false", [far, nearer])] {
        let mut trial = Trial::new(word, "", &[far, near]);
        assert_eq!(trial.pop_lbns(1), [near]);
        trial.push(&[nearer]);
        assert_eq!(trial.pop_lbns(9), expected, "{word}");
    }
}
