//! Tests of a flash device behind its queue: closed forms, and conservation of time and energy.

use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::{Op, Span, Time, seed};
use toml::Table;

use super::SsdParams;
use super::params::{GarbageCollection, Precondition};
use crate::device::QueuedRequest;
use crate::device::preset::DeviceFile;
use crate::merge::MergeParams;
use crate::power;
use crate::scheduler;
use crate::system::{Completion, Setup, Start, Station};

/// A small device without start-up: 4 channels of 4 dies.
fn small_params() -> SsdParams {
    SsdParams { startup_ms: 0.0, blocks_per_die: 128, pages_per_block: 64, ..SsdParams::default() }
}

fn station(params: &SsdParams) -> Station {
    let setup = Setup {
        scheduler: &scheduler::Choice::new("fcfs", &Table::new()).unwrap(),
        power: &power::Choice::from_device_timeout(1000.0).unwrap(),
        merge: &MergeParams::default(),
        start: Start::Ready,
    };
    Station::new(&DeviceFile::nameless(params.clone()), setup).unwrap()
}

fn request(id: u64, (lbn, blocks, op): (u64, u32, Op)) -> QueuedRequest {
    QueuedRequest { id, lbn, blocks, op, ..QueuedRequest::default() }
}

/// Serves requests in order, each at its arrival but at most `outstanding` at any time.
fn serve(station: &mut Station, requests: &[QueuedRequest], outstanding: usize) -> (Vec<Completion>, Time) {
    let mut completed = Vec::new();
    let mut arrivals = requests.iter().peekable();
    let (mut now, mut sent_count) = (Time::ZERO, 0);
    loop {
        while sent_count < outstanding.saturating_add(completed.len())
            && let Some(request) = arrivals.next_if(|request| request.arrival <= now)
        {
            station.arrive(now, QueuedRequest { arrival: now, ..*request });
            sent_count += 1;
        }
        let arrival = if sent_count < outstanding.saturating_add(completed.len()) {
            arrivals.peek().map(|r| r.arrival)
        } else {
            None
        };
        let Some(next) = [station.next_event(), arrival].into_iter().flatten().min() else { break };
        now = next.max(now);
        station.advance(now, &mut completed);
    }
    station.close_ledger(now);
    (completed, now)
}

/// Throughput, in 10^6 bytes per second, of `count` sequential requests of `blocks` blocks that all arrive at once.
fn sequential_mb_s(params: &SsdParams, blocks: u32, count: u64, op: Op) -> f64 {
    let mut station = station(params);
    let requests: Vec<QueuedRequest> =
        (0..count).map(|n| request(n, (n * u64::from(blocks), blocks, op))).collect();
    let (served, end) = serve(&mut station, &requests, usize::MAX);
    assert_eq!(served.len() as u64, count);
    (count * u64::from(blocks) * 512) as f64 / end.as_seconds() / 1e6
}

#[test]
fn long_command_is_as_fast_as_its_parts() {
    // Ten times as many pages as a command has in the device at once.
    let (pages, page_blocks) = (40_960, 32);
    for op in [Op::Read, Op::Write] {
        let one_mb_s = sequential_mb_s(&small_params(), pages * page_blocks, 1, op);
        let parts_mb_s = sequential_mb_s(&small_params(), 64 * page_blocks, u64::from(pages / 64), op);
        assert!((one_mb_s / parts_mb_s - 1.0).abs() < 0.01, "{op:?}: {one_mb_s} and {parts_mb_s} MB/s");
    }
}

#[test]
fn single_command_takes_the_sum_of_its_parts() {
    let params = small_params();
    let us = |us: f64| Span::from_ns((us * 1e3).round() as u64);
    let channel = |blocks: u32| us(f64::from(blocks) * 512.0 / params.channel_mb_s);
    let bus = |blocks: u32| us(f64::from(blocks) * 512.0 / params.bus_mb_s);
    let [command, read, program] = [params.command_us, params.read_us, params.program_us].map(us);
    let mut rng = seed::stream(1, "alone");
    let requests: Vec<QueuedRequest> = (0..3_000)
        .map(|n| {
            let page = rng.random_range(0..1_000_u64) * 32;
            match n % 3 {
                0 => request(n, (page + rng.random_range(0..24), 8, Op::Read)),
                1 => request(n, (page, 32, Op::Write)),
                _ => request(n, (page, 8, Op::Write)),
            }
        })
        .collect();
    let (served_requests, _) = serve(&mut station(&params), &requests, 1);
    for served in served_requests {
        let after_overhead = match (served.request.op, served.request.blocks) {
            (Op::Read, blocks) => read + channel(blocks) + bus(blocks),
            (_, 32) => bus(32) + channel(32) + program,
            // The other part of the page is read and crosses the channel to the controller, then the entire page
            // crosses back.
            (_, blocks) => bus(blocks) + read + channel(32 - blocks) + channel(32) + program,
        };
        assert_eq!(served.completion.since(served.start), command + after_overhead, "{:?}", served.request);
        assert_eq!((served.timing.overhead, served.start), (command, served.request.arrival));
    }
}

#[test]
fn sequential_rate_is_that_of_slowest_part() {
    let bounds: [fn(&mut SsdParams); 3] = [
        |params| params.read_us = 1_000.0,
        |params| (params.channel_mb_s, params.program_us) = (50.0, 100.0),
        |params| (params.bus_mb_s, params.program_us) = (90.0, 100.0),
    ];
    for slow_down in bounds {
        let mut params = SsdParams { filled: 0.0, blocks_per_die: 512, queue_depth: 64, ..small_params() };
        slow_down(&mut params);
        for (op, us) in [(Op::Read, params.read_us), (Op::Write, params.program_us)] {
            let dies_mb_s = 16.0 * 16_384.0 / us;
            let expected = dies_mb_s.min(4.0 * params.channel_mb_s).min(params.bus_mb_s);
            let rate_mb_s = sequential_mb_s(&params, 512, 20_000, op);
            assert!((rate_mb_s / expected - 1.0).abs() < 1e-3, "{op:?}: {rate_mb_s}, {expected}, {params:?}");
        }
    }
}

#[test]
fn busy_dies_follow_queue_depth() {
    // Only dies take time. With d reads on D dies, the share of busy dies is at least d / (D + d - 1), as if reads
    // took exponential times (a closed network of one class), and at most 1 - (1 - 1 / D)^d, as if all d reads chose
    // their dies anew each time.
    let params = SsdParams {
        command_us: 0.0,
        channel_mb_s: 1e6,
        bus_mb_s: 1e6,
        channels: 16,
        dies_per_channel: 1,
        ..small_params()
    };
    let dies = 16.0;
    let mut rng = seed::stream(1, "random reads");
    let requests: Vec<QueuedRequest> =
        (0..40_000).map(|n| request(n, (rng.random_range(0..100_000_u64) * 32, 1, Op::Read))).collect();
    let mut last = 0.0;
    for depth in [1, 2, 4, 8, 16, 64, 256] {
        let params = SsdParams { queue_depth: depth, ..params.clone() };
        let (served, end) = serve(&mut station(&params), &requests, usize::MAX);
        let busy = served.len() as f64 * params.read_us / (end.as_seconds() * 1e6) / dies;
        let d = depth as f64;
        let (minimum, maximum) = (d / (dies + d - 1.0), 1.0 - (1.0 - 1.0 / dies).powf(d));
        assert!(busy > minimum * 0.99 && busy < maximum * 1.01, "depth {depth}: {minimum} {busy} {maximum}");
        assert!(busy > last);
        last = busy;
    }
}

#[test]
fn deeper_device_queue_shortens_response() {
    let mut rng = seed::stream(1, "depth");
    let requests: Vec<QueuedRequest> = (0..5_000)
        .map(|n| {
            let arrival = Time::from_ns(n * 12_000);
            QueuedRequest { arrival, ..request(n, (rng.random_range(0..100_000_u64) * 32, 8, Op::Read)) }
        })
        .collect();
    let mean_us = |queue_depth| {
        let (served_requests, _) =
            serve(&mut station(&SsdParams { queue_depth, ..small_params() }), &requests, usize::MAX);
        let sum: Span = served_requests
            .iter()
            .map(|served| served.completion.since(served.request.arrival))
            .fold(Span::ZERO, |sum, span| sum + span);
        sum.as_seconds() * 1e6 / served_requests.len() as f64
    };
    let means = [1, 2, 4, 16].map(mean_us);
    assert!(means.windows(2).all(|pair| pair[1] < pair[0]), "{means:?}");
}

/// The completions of requests, by number.
fn completions(params: &SsdParams, requests: &[QueuedRequest]) -> Vec<Time> {
    let (mut served, _) = serve(&mut station(params), requests, usize::MAX);
    served.sort_by_key(|served| served.request.id);
    served.iter().map(|served| served.completion).collect()
}

#[test]
fn controller_without_choice_serves_in_order_of_arrival() {
    let mut rng = seed::stream(1, "in order");
    for op in [Op::Read, Op::Write] {
        let mut arrival = 0;
        let requests: Vec<QueuedRequest> = (0..5_000)
            .map(|id| {
                arrival += rng.random_range(1_000..60_000);
                let page = rng.random_range(0..100_000_u64);
                QueuedRequest { arrival: Time::from_ns(arrival), ..request(id, (page * 32, 32, op)) }
            })
            .collect();
        // Reads go first, but there are no others.
        let [in_order, controlled] =
            [false, true].map(|reads_first| SsdParams { reads_first, ..small_params() });
        assert!(completions(&in_order, &requests) == completions(&controlled, &requests), "{op:?}");
    }
}

#[test]
fn die_without_cache_registers_waits_for_its_page() {
    let params = SsdParams { allocation: "CWDP".to_owned(), filled: 0.0, ..small_params() };
    let us = |us: f64| Span::from_ns((us * 1e3).round() as u64);
    let [command, read, program, channel, bus] = [
        params.command_us,
        params.read_us,
        params.program_us,
        16_384.0 / params.channel_mb_s,
        16_384.0 / params.bus_mb_s,
    ]
    .map(us);
    // Two pages of one die.
    let requests = |op| [request(0, (0, 32, op)), request(1, (16 * 32, 32, op))];
    for (cache_registers, between_reads, between_writes) in
        [(true, read, program), (false, read + channel, program + channel)]
    {
        let params = SsdParams { cache_registers, ..params.clone() };
        let first_read = Time::ZERO + command + read + channel + bus;
        assert_eq!(completions(&params, &requests(Op::Read)), [first_read, first_read + between_reads]);
        let first_write = Time::ZERO + command + bus + channel + program;
        assert_eq!(completions(&params, &requests(Op::Write)), [first_write, first_write + between_writes]);
    }
}

#[test]
fn commands_wait_for_pages_on_their_channel() {
    let params = SsdParams {
        allocation: "CWDP".to_owned(),
        channel_command_us: 0.3,
        command_us: 0.0,
        bus_mb_s: 1e6,
        ..small_params()
    };
    // Two dies of one channel; the second command comes while the first page crosses.
    let arrival = Time::from_ns(61_000);
    let requests =
        [request(0, (0, 32, Op::Read)), QueuedRequest { arrival, ..request(1, (4 * 32, 32, Op::Read)) }];
    let [command_ns, read_ns, page_ns, bus_ns] = [300, 60_000, 40_960, 16];
    let first_ns = command_ns + read_ns + page_ns;
    let expected = [first_ns + bus_ns, first_ns + command_ns + read_ns + page_ns + bus_ns].map(Time::from_ns);
    assert_eq!(completions(&params, &requests), expected);
}

#[test]
fn reads_go_before_waiting_writes() {
    for reads_first in [false, true] {
        let params = SsdParams { allocation: "CWDP".to_owned(), reads_first, ..small_params() };
        // The read comes when the dies of the channel have received all pages.
        let accesses = [(0, Op::Write), (0, Op::Write), (0, Op::Write), (300_000, Op::Read)];
        let requests: Vec<QueuedRequest> = (0..)
            .zip(accesses)
            .map(|(id, (ns, op))| QueuedRequest { arrival: Time::from_ns(ns), ..request(id, (512, 32, op)) })
            .collect();
        let completions = completions(&params, &requests);
        assert_eq!(completions[3] < completions[1], reads_first);
    }
}

#[test]
fn copyback_loads_only_the_new_blocks() {
    let params = SsdParams { allocation: "CWDP".to_owned(), copyback: true, ..small_params() };
    let requests = [request(0, (0, 8, Op::Write))];
    let blocks_us = |blocks: f64, mb_s: f64| blocks * 512.0 / mb_s;
    let expected_us = params.command_us
        + blocks_us(8.0, params.bus_mb_s)
        + params.read_us
        + blocks_us(8.0, params.channel_mb_s)
        + params.program_us;
    assert_eq!(completions(&params, &requests), [Time::from_ns((expected_us * 1e3).round() as u64)]);
}

#[test]
fn collection_takes_the_time_of_its_steps() {
    // One die on each channel, which moves nothing else, and writes far apart.
    let params = SsdParams {
        dies_per_channel: 1,
        allocation: "CWDP".to_owned(),
        cache_registers: false,
        precondition: Precondition::Random,
        ..small_params()
    };
    let us = |us: f64| Span::from_ns((us * 1e3).round() as u64);
    let [read, program, erase] = [params.read_us, params.program_us, params.erase_us].map(us);
    let page = us(32.0 * 512.0 / params.channel_mb_s);
    let mut rng = seed::stream(1, "collection");
    let requests: Vec<QueuedRequest> = (0..4_000)
        .map(|n| QueuedRequest {
            arrival: Time::from_ns(n * 200_000_000),
            ..request(n, (rng.random_range(0..10_000_u64) * 32, 32, Op::Write))
        })
        .collect();
    for (garbage_collection, transfers) in [(GarbageCollection::Spread, 0), (GarbageCollection::Block, 2)] {
        let mut station = station(&SsdParams { garbage_collection, ..params.clone() });
        serve(&mut station, &requests, usize::MAX);
        let counts = station.flash().unwrap();
        assert_eq!((counts.written_pages, counts.dies), (4_000, 4));
        assert!(counts.moved_pages > 10_000 && counts.erased_blocks > 100, "{counts:?}");
        let expected = (read + program + page.saturating_mul(transfers)).saturating_mul(counts.moved_pages)
            + erase.saturating_mul(counts.erased_blocks);
        assert_eq!(counts.collection_time, expected);
    }
}

#[test]
fn counts_begin_with_the_ledger() {
    let params = SsdParams { precondition: Precondition::Random, ..small_params() };
    let mut station = station(&params);
    let requests: Vec<QueuedRequest> = (0..3_000).map(|n| request(n, (n * 32, 32, Op::Write))).collect();
    let (_, now) = serve(&mut station, &requests, 16);
    assert!(station.flash().unwrap().moved_pages > 0);
    station.open_ledger(now);
    let counts = station.flash().unwrap();
    assert_eq!((counts.written_pages, counts.moved_pages, counts.erased_blocks), (0, 0, 0));
    assert_eq!(counts.collection_time, Span::ZERO);
}

fn mixed_requests() -> impl Strategy<Value = Vec<(u64, f64, u32, bool)>> {
    prop::collection::vec((0_u64..400_000, 0.0..1.0, 1_u32..100, any::<bool>()), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn time_and_energy_are_conserved(
        drawn in mixed_requests(),
        (depth, startup_ms, channel_command_us) in (1_u64..20, 0.0..2.0, 0.0..1.0),
        [is_static, cache_registers, copyback, reads_first, is_steady, collects_blocks] in any::<[bool; 6]>(),
    ) {
        let params = SsdParams {
            allocation: (if is_static { "DWCP" } else { "turn" }).to_owned(),
            garbage_collection:
                if collects_blocks { GarbageCollection::Block } else { GarbageCollection::Spread },
            precondition: if is_steady { Precondition::Random } else { Precondition::Sequential },
            cache_registers, copyback, reads_first, channel_command_us: channel_command_us * f64::from(copyback),
            blocks_per_die: 12, pages_per_block: 4, over_provisioning: 2.5, queue_depth: depth,
            startup_ms, idle_timeout_ms: 0.1, ..small_params()
        };
        let mut station = station(&params);
        let capacity = station.device().mechanics().capacity_blocks();
        let mut arrival = 0;
        let requests: Vec<QueuedRequest> = drawn.iter().enumerate().map(|(id, (gap, at, blocks, reads))| {
            arrival += gap;
            let lbn = ((capacity - 100) as f64 * at) as u64;
            let op = if *reads { Op::Read } else { Op::Write };
            QueuedRequest { arrival: Time::from_ns(arrival), ..request(id as u64, (lbn, *blocks, op)) }
        }).collect();
        let (served_requests, end) = serve(&mut station, &requests, usize::MAX);
        prop_assert_eq!(served_requests.len(), requests.len());
        prop_assert!(served_requests.windows(2).all(|pair| pair[0].completion <= pair[1].completion));
        for served in &served_requests {
            prop_assert_eq!(served.completion, served.start + served.timing.service());
            prop_assert!(served.start >= served.request.arrival);
            // Never more commands than the queue depth are in the device at once.
            let in_device = served_requests
                .iter()
                .filter(|other| other.start <= served.start && other.completion > served.start);
            prop_assert!(in_device.count() as u64 <= depth);
        }
        let ledger = station.ledger().unwrap();
        prop_assert_eq!(ledger.total_time(), end.since(Time::ZERO));
        let rates = station.device().mechanics().power_rates();
        let energy = ledger.energy(&rates);
        let charged_uj: f64 = served_requests.iter().map(|served| served.energy.access_uj).sum();
        prop_assert!((charged_uj * 1e-6 / energy.access - 1.0).abs() < 1e-9, "{} {}", charged_uj, energy.access);
        let startups_uj: f64 = served_requests.iter().map(|served| served.energy.startup_uj).sum();
        prop_assert!((startups_uj * 1e-6 - energy.startup).abs() < 1e-12);
    }
}

#[test]
fn write_energy_is_controller_channel_and_die() {
    let params = SsdParams { filled: 0.0, ..small_params() };
    let (served, _) = serve(&mut station(&params), &[request(0, (0, 32, Op::Write))], 1);
    let transfer_us = 16_384.0 / params.channel_mb_s;
    let service_us = served[0].completion.since(served[0].start).as_seconds() * 1e6;
    let expected = params.active_mw * service_us
        + params.program_mw * params.program_us
        + params.channel_mw * transfer_us;
    assert!(
        (served[0].energy.total_uj() - expected * 1e-3).abs() < 1e-4,
        "{:?} {expected}",
        served[0].energy
    );
}

#[test]
fn merged_requests_are_one_command() {
    let merge = MergeParams::parse(Some("chains"), Table::new()).unwrap();
    let setup = Setup {
        scheduler: &scheduler::Choice::new("fcfs", &Table::new()).unwrap(),
        power: &power::Choice::from_device_timeout(1000.0).unwrap(),
        merge: &merge,
        start: Start::Ready,
    };
    let params = SsdParams { queue_depth: 1, ..small_params() };
    let mut station = Station::new(&DeviceFile::nameless(params.clone()), setup).unwrap();
    let requests = [(0, 8, Op::Read), (320, 8, Op::Read), (328, 8, Op::Read)];
    let requests: Vec<QueuedRequest> =
        (0_u64..).zip(requests).map(|(id, access)| request(id, access)).collect();
    let (served, _) = serve(&mut station, &requests, usize::MAX);
    assert_eq!((served.len(), served[1].completion), (3, served[2].completion));
}

#[test]
fn refuses_shapes_that_leave_nothing_to_spare() {
    let message = |params: SsdParams| super::Drive::new(&params).unwrap_err().to_string();
    let small = SsdParams { blocks_per_die: 20, over_provisioning: 0.05, ..small_params() };
    assert!(
        message(small).contains("device.over_provisioning = 0.05 leaves 0 blocks of a die to spare, but 6")
    );
    let large = SsdParams { channels: 256, dies_per_channel: 256, ..SsdParams::default() };
    assert!(message(large).contains("more than can be mapped"));
    let order = |allocation: &str| SsdParams { allocation: allocation.to_owned(), ..small_params() };
    assert!(message(order("CWD")).contains("device.allocation = \"CWD\" is not an order of dies"));
    let chips = SsdParams { dies_per_chip: 3, ..small_params() };
    assert!(message(chips).contains("device.dies_per_chip = 3 does not divide"));
}
