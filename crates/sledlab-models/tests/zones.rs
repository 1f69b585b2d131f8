//! Schedulers by zones: their choices agree with simple implementations of their rules, which examine every request.

use std::collections::BTreeSet;

use crate::index_comparison::{
    ComparisonOptions, RequestGenerator, choice, compare_index_with_search, device,
};
use proptest::prelude::*;
use sledlab_core::{Op, Time};
use sledlab_models::device::{Mechanics, QueuedRequest};
use sledlab_models::scheduler::{self, Choice};

/// The place of a zone, such that zones sort in the order of a tour: column, half of the column, place in the half.
type Zone = (i64, i64, i64);

/// How zones lie on the medium.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Regions,
    Columns,
    Loops,
    Snake,
}

#[derive(Clone, Copy, Debug)]
enum Tour {
    Circular,
    BackAndForth,
    MostRequestsPerTime,
    /// Zones are merged until the one that is visited has this number of requests.
    MergedAround(usize),
    MergedAlike(usize),
}

#[derive(Clone, Copy, Debug)]
enum Inside {
    Arrival,
    Time,
    Crowd,
}

/// A scheduler, and the rule that it must follow.
#[derive(Clone, Copy, Debug)]
struct Rule {
    word: &'static str,
    shape: Shape,
    cells: (u64, u64),
    tour: Tour,
    order_inside: Inside,
    is_gated: bool,
}

const fn rule(word: &'static str, shape: Shape, cells: (u64, u64), tour: Tour, order_inside: Inside) -> Rule {
    Rule { word, shape, cells, tour, order_inside, is_gated: false }
}

const RULES: [Rule; 12] = {
    use Inside::{Arrival, Crowd, Time};
    use Shape::{Columns, Loops, Regions, Snake};
    use Tour::{BackAndForth, Circular, MergedAlike, MergedAround, MostRequestsPerTime};
    [
        rule("gsptf", Regions, (80, 1), Circular, Time),
        rule("gsptf:regions=7", Regions, (7, 1), Circular, Time),
        rule("zsptf", Loops, (20, 2), Circular, Time),
        rule("zsptf:grid=3x5:parity=false", Columns, (3, 5), Circular, Time),
        rule("zfcfs:grid=10x1", Loops, (10, 1), Circular, Arrival),
        Rule { is_gated: true, ..rule("ztsptf", Loops, (20, 2), Circular, Time) },
        rule("zsptf-pyramid", Loops, (32, 4), MergedAround(6), Time),
        rule("zsptf-pyramid:merge=global:threshold=3", Loops, (32, 4), MergedAlike(3), Time),
        rule("zsptf-pyramid:grid=8x4:parity=false:threshold=2", Columns, (8, 4), MergedAround(2), Time),
        rule("zscan-psptf:batch=none", Snake, (25, 3), BackAndForth, Crowd),
        rule("zpsptf:batch=none", Columns, (25, 3), MostRequestsPerTime, Crowd),
        rule("pzsptf:batch=none", Columns, (25, 3), Circular, Crowd),
    ]
};

/// A queue served by a rule, without an index.
struct SearchedQueue {
    rule: Rule,
    queue: Vec<QueuedRequest>,
    at: Option<Zone>,
    is_downwards: bool,
    /// How often zones were merged into zones of twice the size.
    height: u32,
    /// Requests from this number on arrived after the visit began.
    gate: u64,
}

impl SearchedQueue {
    fn new(rule: Rule) -> Self {
        SearchedQueue { rule, queue: Vec::new(), at: None, is_downwards: false, height: 0, gate: 0 }
    }

    fn zone(&self, mechanics: &dyn Mechanics, request: &QueuedRequest, height: u32) -> Zone {
        let (columns, rows) = self.rule.cells;
        let (location, extent) = (mechanics.location(request.lbn), mechanics.extent());
        let x = ((u64::from(location.cylinder) * columns / u64::from(extent.cylinders)) >> height) as i64;
        let y = ((u64::from(location.row) * rows / u64::from(extent.rows)) >> height) as i64;
        match self.rule.shape {
            Shape::Regions => ((request.lbn * columns / mechanics.capacity_blocks()) as i64, 0, 0),
            Shape::Loops if location.cylinder % 2 == 1 => (x, 1, -y),
            Shape::Snake if x % 2 == 1 => (x, 0, -y),
            Shape::Columns | Shape::Loops | Shape::Snake => (x, 0, y),
        }
    }

    /// The requests that may be served in the present visit.
    fn visited_requests(&self, mechanics: &dyn Mechanics) -> Vec<QueuedRequest> {
        let Some(zone) = self.at else { return Vec::new() };
        let coarse = |(x, half, y): Zone| (x >> self.height, half, y.abs() >> self.height);
        let is_here = |request: &&QueuedRequest| coarse(self.zone(mechanics, request, 0)) == coarse(zone);
        let is_let_in = |request: &&QueuedRequest| !self.rule.is_gated || request.id < self.gate;
        self.queue.iter().filter(is_here).filter(is_let_in).copied().collect()
    }

    fn has_enough_requests(&self, mechanics: &dyn Mechanics, height: u32) -> bool {
        let zones = || self.queue.iter().map(|request| self.zone(mechanics, request, height));
        match self.rule.tour {
            Tour::MergedAround(threshold) => {
                let merged = SearchedQueue { queue: self.queue.clone(), height, ..*self };
                merged.visited_requests(mechanics).len() >= threshold
            }
            Tour::MergedAlike(threshold) => {
                self.queue.len() >= threshold * zones().collect::<BTreeSet<_>>().len()
            }
            _ => true,
        }
    }

    fn enter_next_zone(&mut self, mechanics: &dyn Mechanics) {
        let zones: BTreeSet<Zone> =
            self.queue.iter().map(|request| self.zone(mechanics, request, 0)).collect();
        let zone_above = || zones.iter().find(|zone| self.at.is_none_or(|at| **zone > at)).copied();
        let zone_below = || zones.iter().rfind(|zone| self.at.is_some_and(|at| **zone < at)).copied();
        self.at = match self.rule.tour {
            Tour::BackAndForth => {
                let next = if self.is_downwards {
                    zone_below().or(zone_above())
                } else {
                    zone_above().or(zone_below())
                };
                self.is_downwards = next < self.at;
                next
            }
            Tour::MostRequestsPerTime => zones
                .iter()
                .copied()
                .max_by(|a, b| self.weight(mechanics, *a).total_cmp(&self.weight(mechanics, *b))),
            _ => zone_above().or(zones.first().copied()),
        };
        self.gate = self.queue.iter().map(|request| request.id + 1).max().unwrap_or(0);
        let maximum = (self.rule.cells.0.trailing_zeros()).min(self.rule.cells.1.trailing_zeros());
        self.height =
            (0..maximum).find(|height| self.has_enough_requests(mechanics, *height)).unwrap_or(maximum);
    }

    fn weight(&self, mechanics: &dyn Mechanics, zone: Zone) -> f64 {
        let in_zone = self.queue.iter().filter(|request| self.zone(mechanics, request, 0) == zone);
        let times = in_zone.map(|request| mechanics.positioning(request).as_ns());
        times.clone().count() as f64 / times.min().unwrap().max(1_000) as f64
    }

    fn pop(&mut self, mechanics: &dyn Mechanics) -> QueuedRequest {
        if self.visited_requests(mechanics).is_empty() {
            self.enter_next_zone(mechanics);
        }
        let visited = self.visited_requests(mechanics);
        let place = |request: &QueuedRequest| {
            let location = mechanics.location(request.lbn);
            (location.cylinder, location.row)
        };
        let key = |request: &QueuedRequest| {
            let time = mechanics.positioning(request).as_ns();
            let (score, first) = match self.rule.order_inside {
                Inside::Arrival => (request.id as f64, *request),
                Inside::Time => (0.0, *request),
                Inside::Crowd => {
                    let requests_here = visited.iter().filter(|other| place(other) == place(request));
                    let first = requests_here.clone().min_by_key(|other| other.id).unwrap();
                    (-(requests_here.count() as f64) / time.max(1_000) as f64, *first)
                }
            };
            (score, (time, mechanics.tie_rank(&first), request.id))
        };
        let order = |a: &&QueuedRequest, b: &&QueuedRequest| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        };
        let best = *visited.iter().min_by(order).unwrap();
        self.queue.retain(|request| request.id != best.id);
        best
    }
}

/// Serves `picks` requests and compares each choice with the rule; the queue swells to `depth` and ebbs.
fn check_rule(rule: Rule, text: &str, depth: usize, picks: usize, is_crowded: bool) {
    let mut device = device(text);
    let mut queue = choice(rule.word).make(device.mechanics()).unwrap();
    let mut searched = SearchedQueue::new(rule);
    let mut generator = RequestGenerator::new(7, device.as_ref(), is_crowded);
    let (mut now, mut level, mut batch, mut served) = (Time::ZERO, depth, Vec::new(), Vec::new());
    for pick in 0..picks {
        while queue.len() < level {
            let request = generator.request(now);
            queue.push(request);
            searched.queue.push(request);
        }
        queue.pop(now, device.mechanics(), &mut batch);
        let expected = searched.pop(device.mechanics());
        assert_eq!(batch, [expected], "pick {pick} by {rule:?} on {text}");
        now = device.issue(now, &batch, &mut served).unwrap().until;
        batch.clear();
        if pick % 20 == 19 {
            level = generator.level(depth);
        }
    }
}

#[test]
fn schedulers_follow_their_rules() {
    for rule in RULES {
        for layout in ["row-first", "streaming", "y-sequential"] {
            for direction in ["free", "parity", "up"] {
                let text = format!("layout = '{layout}'\ndirection = '{direction}'");
                check_rule(rule, &text, 150, 300, false);
            }
        }
        check_rule(rule, "", 60, 300, true);
        check_rule(rule, "selection = 'disksim'", 60, 200, true);
        check_rule(rule, "sleds = 2\nsled_motion = 'together'\nsled_map = 'round-robin'", 60, 200, true);
    }
}

#[test]
fn index_equals_search_in_zones() {
    for word in RULES.map(|rule| rule.word.trim_end_matches(":batch=none")) {
        for batch in ["none", "same-position"] {
            let word = format!("{word}:batch={batch}");
            for layout in ["row-first", "streaming", "y-sequential"] {
                for direction in ["free", "parity", "up"] {
                    let text = format!("layout = '{layout}'\ndirection = '{direction}'");
                    compare_index_with_search(
                        &word,
                        &ComparisonOptions { text: &text, depth: 80, picks: 120, root: 1, is_crowded: false },
                    );
                    compare_index_with_search(
                        &word,
                        &ComparisonOptions { text: &text, depth: 200, picks: 120, root: 2, is_crowded: true },
                    );
                }
            }
        }
    }
}

/// Serves one request for every zone-sized patch of the medium, and counts the visits to zones.
#[test]
fn published_zones_are_visited_once() {
    for (grid, zones) in [((40, 4), 320), ((20, 2), 80), ((10, 1), 20)] {
        let word = format!("zsptf:grid={}x{}", grid.0, grid.1);
        let mut device = device("");
        let mechanics = device.mechanics();
        let mut queue = choice(&word).make(mechanics).unwrap();
        let searched = SearchedQueue::new(rule("", Shape::Loops, grid, Tour::Circular, Inside::Time));
        let per_row = 20;
        for id in 0..mechanics.capacity_blocks() / (7 * per_row) {
            let lbn = id * 7 * per_row;
            queue.push(QueuedRequest {
                id,
                arrival: Time::ZERO,
                queue_time: Time::ZERO,
                lbn,
                blocks: 1,
                op: Op::Read,
                ..QueuedRequest::default()
            });
        }
        let (mut visits, mut batch, mut served) = (Vec::new(), Vec::new(), Vec::new());
        while !queue.is_empty() {
            queue.pop(Time::ZERO, device.mechanics(), &mut batch);
            visits.push(searched.zone(device.mechanics(), &batch[0], 0));
            device.issue(Time::ZERO, &batch, &mut served).unwrap();
            batch.clear();
        }
        visits.dedup();
        assert_eq!(visits.len(), zones, "{word}");
        assert!(visits.is_sorted(), "{word}");
    }
}

/// Returns the number of choices until a lone request at the other end of the device is served during an endless stream
/// whose next block `stream` returns; `None` if 3000 choices are not enough.
fn choices_during_stream(word: &str, stream: impl Fn(u64) -> u64) -> Option<usize> {
    let mut device = device("");
    let mut queue = choice(word).make(device.mechanics()).unwrap();
    let far = device.mechanics().capacity_blocks() - 1;
    let request = |id, now, lbn| QueuedRequest {
        id,
        arrival: now,
        queue_time: now,
        lbn,
        blocks: 1,
        op: Op::Read,
        ..QueuedRequest::default()
    };
    let (mut now, mut batch, mut served) = (Time::ZERO, Vec::new(), Vec::new());
    queue.push(request(0, now, stream(0)));
    queue.push(request(1, now, stream(1)));
    queue.push(request(2, now, far));
    (0..3000).position(|pick| {
        queue.push(request(pick + 3, now, stream(pick + 2)));
        queue.pop(now, device.mechanics(), &mut batch);
        now = device.issue(now, &batch, &mut served).unwrap().until;
        batch.drain(..).any(|request| request.lbn == far)
    })
}

#[test]
fn sequential_stream_starves_regions_but_not_zones() {
    let sequential_block = |n| 8 * n;
    assert_eq!(choices_during_stream("gsptf", sequential_block), None);
    for word in ["zsptf", "zfcfs", "ztsptf", "zsptf-pyramid:threshold=1", "zscan-psptf", "pzsptf"] {
        let picks = choices_during_stream(word, sequential_block);
        assert!(picks.is_some_and(|picks| picks < 1500), "{word}: {picks:?}");
    }
}

#[test]
fn stream_into_one_zone_starves_except_gated() {
    // Blocks of the lowest row of cylinder 0, one for each of its tracks.
    let in_one_zone = |n| n % 5 * 540;
    for rule in RULES {
        let picks = choices_during_stream(rule.word, in_one_zone);
        assert_eq!(picks.is_some(), rule.is_gated, "{}: {picks:?}", rule.word);
    }
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    let message = |word: &str| {
        let (name, params) = scheduler::parse(word).unwrap();
        Choice::new(&name, &params).unwrap_err().to_string()
    };
    let grid = message("zsptf:grid=20by2");
    let expected = "scheduler.grid: expected the numbers of cells along x and along y, for example \"20x2\"";
    assert!(grid.contains(expected) && grid.contains("20by2"), "{grid}");
    assert!(message("pzsptf:grid=0x3").contains("scheduler.grid: expected"));
    assert!(message("zpsptf:grid=500x500").contains("250000 cells; choose at most 4096"));
    assert!(message("zscan-psptf:parity=true").contains("unknown key `scheduler.parity`"));
    assert!(message("gsptf:regions=0").contains("scheduler.regions = 0 is out of range"));
    assert!(message("zsptf-pyramid:merge=both").contains("expected one of local, global"));
    assert!(message("zsptf-pyramid:threshold=0").contains("out of range"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_request_is_served_once(
        steps in prop::collection::vec((0_usize..12, 0_usize..6), 1..60), columns in 1_u32..50, rows in 1_u32..6,
        parity: bool, root: u64, is_crowded: bool,
    ) {
        let grid = format!("grid={columns}x{rows}");
        let text = [
            format!("gsptf:regions={}", columns * rows),
            format!("zsptf:{grid}:parity={parity}"),
            format!("zfcfs:{grid}:parity={parity}"),
            format!("ztsptf:{grid}:parity={parity}"),
            format!("zsptf-pyramid:{grid}:parity={parity}:root=true"),
            format!("zsptf-pyramid:{grid}:merge=global:parity={parity}:root=true"),
            format!("zscan-psptf:{grid}"),
            format!("zpsptf:{grid}"),
            format!("pzsptf:{grid}"),
        ];
        for word in text {
            let mut device = device("");
            let mut queue = choice(&word).make(device.mechanics()).unwrap();
            let mut generator = RequestGenerator::new(root, device.as_ref(), is_crowded);
            let (mut now, mut pushed_count, mut popped_ids) = (Time::ZERO, 0, BTreeSet::new());
            let (mut batch, mut served) = (Vec::new(), Vec::new());
            for (pushes, pops) in steps.iter().copied().chain([(0, usize::MAX)]) {
                (0..pushes).for_each(|_| queue.push(generator.request(now)));
                pushed_count += pushes;
                for _ in 0..pops {
                    queue.pop(now, device.mechanics(), &mut batch);
                    if batch.is_empty() {
                        break;
                    }
                    now = device.issue(now, &batch, &mut served).unwrap().until;
                    prop_assert!(batch.drain(..).all(|request| popped_ids.insert(request.id)), "{word}");
                    prop_assert_eq!(queue.len() + popped_ids.len(), pushed_count, "{}", word);
                }
            }
            prop_assert!(queue.is_empty() && popped_ids.len() == pushed_count, "{word}");
        }
    }
}
