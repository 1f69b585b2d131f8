//! Compares a scheduler that uses the position index of a sled with the same scheduler and an exhaustive search.

use rand::RngExt;
use sledlab_core::params::Params;
use sledlab_core::{Op, Span, Time, seed};
use sledlab_models::device::mems::{self, MemsParams};
use sledlab_models::device::{Device, IdleOutcome, Mechanics, QueuedRequest};
use sledlab_models::scheduler::{self, Choice, Scheduler};
use toml::Table;

/// The device that `text` describes.
pub fn device(text: &str) -> Box<dyn Device> {
    let params = MemsParams::from_table("device", &text.parse::<Table>().unwrap()).unwrap();
    mems::build(&params).unwrap()
}

/// The scheduler that `word` describes.
pub fn choice(word: &str) -> Choice {
    let (name, params) = scheduler::parse(word).unwrap();
    Choice::new(&name, &params).unwrap()
}

/// Draws random requests, pauses and queue depths.
pub struct RequestGenerator {
    rng: seed::Stream,
    capacity: u64,
    /// Whether requests share few columns and rows, so that many have the same position and many times are equal.
    is_crowded: bool,
    next: u64,
}

impl RequestGenerator {
    pub fn new(root: u64, device: &dyn Device, is_crowded: bool) -> Self {
        let capacity = device.mechanics().capacity_blocks();
        RequestGenerator { rng: seed::stream(root, "race"), capacity, is_crowded, next: 0 }
    }

    /// A request that joins the queue at `now`.
    pub fn request(&mut self, now: Time) -> QueuedRequest {
        let near = self.capacity / 2 + self.rng.random_range(0..(self.capacity / 50).max(1));
        let lbn = if self.is_crowded { near } else { self.rng.random_range(0..self.capacity) };
        let blocks = self.rng.random_range(1..=40_u32).min((self.capacity - lbn) as u32);
        let id = self.next;
        self.next += 1;
        QueuedRequest {
            id,
            arrival: now,
            queue_time: now,
            lbn,
            blocks,
            op: Op::Read,
            ..QueuedRequest::default()
        }
    }

    /// A time without service: from nanoseconds to years.
    pub fn pause(&mut self) -> Span {
        Span::from_ns(1 << self.rng.random_range(0..56_u32))
    }

    /// Number of requests to keep queued for a while: `depth`, a quarter of it, or one.
    pub fn level(&mut self, depth: usize) -> usize {
        [depth, depth.div_ceil(4), 1][self.rng.random_range(0..3_usize)]
    }
}

/// Removes the request that joined both queues last, and chooses and returns others, as a station that merges requests
/// does.
pub fn remove_and_return(
    queues: [&mut dyn Scheduler; 2],
    last: Option<QueuedRequest>,
    now: Time,
    mechanics: &dyn Mechanics,
) {
    for queue in queues {
        if let Some(last) = last {
            // FCFS removes nothing; the others remove a request once.
            let is_removed = queue.remove(&last, mechanics);
            assert!(!is_removed || !queue.remove(&last, mechanics));
        }
        let mut chosen = Vec::new();
        queue.pop(now, mechanics, &mut chosen);
        chosen.into_iter().rev().for_each(|request| queue.push(request));
    }
}

/// The device and the limits of a race.
pub struct ComparisonOptions<'a> {
    /// The device.
    pub text: &'a str,
    /// Most requests in the queue.
    pub depth: usize,
    /// Number of decisions.
    pub picks: usize,
    pub root: u64,
    pub is_crowded: bool,
}

/// Keeps up to `depth` requests queued, and serves the requests that the index and the search both choose.
pub fn compare_index_with_search(word: &str, options: &ComparisonOptions) {
    let ComparisonOptions { text, depth, picks, root, is_crowded } = *options;
    let mut device = device(text);
    let choice = choice(word);
    let mut index = choice.make(device.mechanics()).unwrap();
    let mut search = choice.make_exhaustive(device.mechanics()).unwrap();
    let mut generator = RequestGenerator::new(root, device.as_ref(), is_crowded);
    let (mut now, mut level, mut served) = (Time::ZERO, depth, Vec::new());
    let (mut from_index, mut from_search) = (Vec::new(), Vec::new());
    for pick in 0..picks {
        let mut last = None;
        while index.len() < level {
            let request = generator.request(now);
            index.push(request);
            search.push(request);
            last = Some(request);
        }
        if pick % 3 == 1 && level > 1 {
            remove_and_return([index.as_mut(), search.as_mut()], last, now, device.mechanics());
        }
        index.pop(now, device.mechanics(), &mut from_index);
        search.pop(now, device.mechanics(), &mut from_search);
        assert_eq!(
            from_index,
            from_search,
            "pick {pick} by {word} on {text} in {:?}",
            device.mechanics().state()
        );
        assert_eq!(index.len(), search.len(), "pick {pick} by {word} on {text}");
        let probe = device.probe(now, &from_index[0]);
        let busy = device.issue(now, &from_index, &mut served).unwrap();
        assert_eq!(served.len(), from_index.len());
        if let [one] = served.as_slice() {
            assert_eq!(probe, one.timing, "probe and issue disagree");
            assert_eq!(one.completion, one.start + one.timing.service());
            assert_eq!(busy.work.busy_time(), one.completion.since(one.start));
        }
        now = busy.until;
        if pick % 7 == 0 {
            device.end_idle_period(IdleOutcome::Parked);
        } else if pick % 5 == 0 {
            device.end_idle_period(IdleOutcome::Idle(Span::from_ns(pick as u64 * 7919)));
        }
        if pick % 40 == 39 {
            level = generator.level(depth);
        }
        if pick % 64 == 63 {
            now += generator.pause();
        }
        served.clear();
        from_index.clear();
        from_search.clear();
    }
}
