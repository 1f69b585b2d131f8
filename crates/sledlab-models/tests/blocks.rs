//! Schedulers whose queue holds blocks: they serve a request as if its blocks were requests that arrive together.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sledlab_core::{Op, Request, Time};
use sledlab_models::device::QueuedRequest;
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::params::LayoutKind;
use sledlab_models::device::preset::DeviceFile;
use sledlab_models::merge::MergeParams;
use sledlab_models::system::{self, Completion, Setup, Start, System};
use sledlab_models::{power, scheduler};

/// Blocks of a group of tips in the `y-sequential` layout: blocks of the next group lie at the same positions.
const GROUP: u64 = 2500 * 27;

fn build(scheduler: &str) -> Box<dyn System> {
    let (name, params) = scheduler::parse(scheduler).unwrap();
    let params_of_device =
        MemsParams { layout: LayoutKind::YSequential, subsector_access: true, ..MemsParams::default() };
    let setup = Setup {
        scheduler: &scheduler::Choice::new(&name, &params).unwrap(),
        power: &power::Choice::from_device_timeout(20.0).unwrap(),
        merge: &MergeParams::default(),
        start: Start::Ready,
    };
    system::build(&DeviceFile::nameless(params_of_device), setup).unwrap()
}

/// Runs `requests`, which are sorted by arrival; returns the completions in order.
fn run(scheduler: &str, requests: &[QueuedRequest]) -> Vec<Completion> {
    let (mut system, mut completed) = (build(scheduler), Vec::new());
    let mut arrivals = requests.iter().peekable();
    loop {
        let arrival = arrivals.peek().map_or(Time::MAX, |request| request.arrival);
        match system.next_event().filter(|event| *event < arrival) {
            Some(event) => system.advance(event, &mut completed),
            None => match arrivals.next() {
                Some(request) => system.arrive(request.arrival, *request),
                None => return completed,
            },
        }
    }
}

fn request(id: u64, arrival_us: u64, lbn: u64, blocks: u32) -> QueuedRequest {
    let arrival = Time::from_ns(arrival_us * 1000);
    QueuedRequest::new(id, &Request { arrival, lbn, blocks, ..Request::default() })
}

/// The blocks of `requests` as requests.
fn split(requests: &[QueuedRequest]) -> Vec<QueuedRequest> {
    let blocks = requests.iter().flat_map(|request| {
        (0..request.blocks).map(|block| QueuedRequest {
            lbn: request.lbn + u64::from(block),
            blocks: 1,
            partial: request.partial.in_part(1, block + 1 == request.blocks),
            ..*request
        })
    });
    blocks.enumerate().map(|(id, block)| QueuedRequest { id: id as u64, ..block }).collect()
}

fn ids(completed: &[Completion]) -> Vec<u64> {
    completed.iter().map(|completion| completion.request.id).collect()
}

#[test]
fn position_with_most_blocks_is_served_first() {
    // Eight requests begin in different rows, under different tips, and end in the same row of a cylinder. Another
    // request, of one block, is nearer to the sled, which is in the middle of cylinder 1250.
    let (near, crowd) = (1260 * 27 + 13, 1350 * 27 + 13);
    let requests: Vec<QueuedRequest> = (0..9)
        .map(|id| match id {
            0 => request(id, 0, near, 1),
            id => request(id, 0, id * GROUP + crowd - id, id as u32 + 1),
        })
        .collect();
    // Every position has one request.
    assert_eq!(ids(&run("p-sptf", &requests))[0], 0);
    // The last row has eight blocks; then the rows below it are served, each the first of one request.
    assert_eq!(ids(&run("p-sptf:entries=blocks", &requests)), [1, 2, 3, 4, 5, 6, 7, 8, 0]);
}

#[test]
fn blocks_of_other_requests_share_passes() {
    // The second request begins at the position of the third block of the first request.
    let requests = [request(0, 0, 0, 4), request(1, 0, GROUP + 2, 1)];
    let row_uj = 0.1 * 128.571;
    let sled_and_tips_uj = |rows: f64, blocks: f64| row_uj * rows + 64.0 * 1e-3 * 128.571 * blocks;
    let access_uj = |completed: &[Completion]| completed.iter().map(|c| c.energy.access_uj).sum::<f64>();
    // Requests: four rows, and one more for the second. Blocks: four rows.
    for (scheduler, rows, order) in [("p-sptf", 5.0, None), ("p-sptf:entries=blocks", 4.0, Some([1, 0]))] {
        let completed = run(scheduler, &requests);
        let expected_uj = sled_and_tips_uj(rows, 5.0);
        assert!((access_uj(&completed) - expected_uj).abs() < 1e-3 * expected_uj, "{scheduler}");
        assert!(order.is_none_or(|order| ids(&completed) == order), "{scheduler}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn requests_end_with_their_last_block(
        draws in prop::collection::vec((0_u64..800, 0_u64..30 * GROUP, 1_u32..20, 0_u8..64, any::<bool>()), 1..60),
        scheduler in prop::sample::select(vec![
            "fcfs", "sptf", "sptf:batch=same-position", "p-sptf", "pa-sptf", "zpsptf", "zscan-psptf", "pzsptf",
        ]),
    ) {
        let mut arrival = Time::ZERO;
        let requests: Vec<QueuedRequest> = draws.iter().enumerate().map(|(id, draw)| {
            let (gap_us, lbn, blocks, unrequested_words, is_partial_throughout) = *draw;
            arrival = Time::from_ns(arrival.as_ns() + gap_us * 1000);
            let op = if gap_us % 2 == 0 { Op::Read } else { Op::Write };
            let request = Request {
                arrival, lbn, blocks, op, unrequested_words, is_partial_throughout, ..Request::default()
            };
            QueuedRequest::new(id as u64, &request)
        }).collect();
        let blocks = split(&requests);
        let request_of_block: Vec<u64> =
            requests.iter().flat_map(|request| (0..request.blocks).map(|_| request.id)).collect();
        let mut last_blocks = BTreeMap::new();
        for block in run(scheduler, &blocks) {
            let id = request_of_block[block.request.id as usize];
            let (completion, access_uj) = last_blocks.entry(id).or_insert((Time::ZERO, 0.0));
            *completion = block.completion.max(*completion);
            *access_uj += block.energy.access_uj;
        }
        let completed = run(&format!("{scheduler}:entries=blocks"), &requests);
        prop_assert_eq!(completed.len(), requests.len());
        prop_assert!(completed.is_sorted_by_key(|completion| completion.completion));
        for Completion { request, completion, energy, start, timing, .. } in completed {
            prop_assert_eq!(request, requests[request.id as usize]);
            prop_assert_eq!(completion, start + timing.service());
            let (expected_completion, access_uj) = last_blocks[&request.id];
            prop_assert_eq!(completion, expected_completion);
            prop_assert!((energy.access_uj - access_uj).abs() < 1e-6);
        }
    }
}
