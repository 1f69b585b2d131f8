//! Tests of disks that take turns on their bus, against a disk with a bus to itself and against closed forms.

use proptest::prelude::*;
use sledlab_core::{Op, Span, Time};
use toml::Table;

use super::params::{DiskNumbers, DiskParams, ReadAhead};
use super::{BusDisk, Disk};
use crate::device::Bus;
use crate::device::{Device, QueuedRequest};
use crate::merge::MergeParams;
use crate::system::{Setup, Start, Station};
use crate::{power, scheduler};

/// A disk that reads ahead: a revolution takes 10 ms, a sector 0.1 ms under the head and 0.05 ms on the bus.
fn params(change: impl FnOnce(&mut DiskNumbers)) -> DiskParams {
    let mut numbers = DiskNumbers {
        heads: 4,
        rpm: 6000,
        command_overhead_ms: 0.4,
        bus_sector_us: 50.0,
        bus_write_sector_us: 50.0,
        cache_segments: 3,
        segment_sectors: 300,
        read_ahead: ReadAhead::Segment,
        read_ahead_sectors: 120,
        startup_ms: 0.0,
        off_startup_ms: 0.0,
        ..DiskNumbers::default()
    };
    change(&mut numbers);
    DiskParams::with_one_zone(1000, 100, (25, 35), numbers)
}

fn request(id: u64, at_us: u64, op: Op, lbn: u64, blocks: u32) -> QueuedRequest {
    let arrival = Time::from_ns(at_us * 1000);
    QueuedRequest { id, arrival, queue_time: arrival, lbn, blocks, op, ..QueuedRequest::default() }
}

fn station(device: Box<dyn Device>, scheduler: &str) -> Station {
    let scheduler = scheduler::Choice::new(scheduler, &Table::new()).unwrap();
    let power = power::Choice::from_device_timeout(1e9).unwrap();
    Station::with_device(
        device,
        Setup { scheduler: &scheduler, power: &power, merge: &MergeParams::default(), start: Start::Ready },
    )
    .unwrap()
}

/// Completion times by number of request, where each of `arrivals` is a station's index and a request, in order of
/// time.
fn completions(stations: &mut [Station], arrivals: &[(usize, QueuedRequest)]) -> Vec<Time> {
    let mut ends = vec![Time::ZERO; arrivals.len()];
    let mut arrivals = arrivals.iter().peekable();
    let mut completions = Vec::new();
    loop {
        let event = stations.iter().filter_map(Station::next_event).min();
        match (arrivals.peek(), event) {
            (Some((station, request)), event) if event.is_none_or(|at| request.arrival <= at) => {
                stations[*station].arrive(request.arrival, *request);
                arrivals.next();
            }
            (_, Some(now)) => {
                for station in stations.iter_mut() {
                    if station.next_event().is_some_and(|at| at <= now) {
                        station.advance(now, &mut completions);
                    }
                }
            }
            _ => break,
        }
        for served in completions.drain(..) {
            assert_eq!(served.completion, served.start + served.timing.service(), "parts sum to the service");
            ends[served.request.id as usize] = served.completion;
        }
    }
    ends
}

fn random_requests() -> impl Strategy<Value = Vec<(bool, u64, u32, u64)>> {
    prop::collection::vec((any::<bool>(), 0_u64..390_000, 1_u32..90, 0_u64..40_000), 1..60)
}

/// Requests whose arrivals are the drawn gaps apart; every third continues the blocks of the one before.
fn arrivals(drawn: &[(bool, u64, u32, u64)]) -> Vec<(usize, QueuedRequest)> {
    let (mut now_us, mut next) = (0, 0);
    let to_arrival = |(id, (is_write, lbn, blocks, gap_us)): (usize, &(bool, u64, u32, u64))| {
        now_us += gap_us;
        let lbn = if id % 3 == 2 { next } else { *lbn };
        next = lbn + u64::from(*blocks);
        let op = if *is_write { Op::Write } else { Op::Read };
        (0, request(id as u64, now_us, op, lbn, *blocks))
    };
    drawn.iter().enumerate().map(to_arrival).collect()
}

fn bus_disk(params: &DiskParams, bus: &Bus) -> Box<dyn Device> {
    Box::new(BusDisk::new(params, bus).unwrap())
}

proptest! {
    #[test]
    fn single_command_bus_disk_equals_plain_disk(
        drawn in random_requests(), buffers_writes: bool, read_watermark in 0.0_f64..1.0,
    ) {
        let params = params(|disk| {
            (disk.buffers_writes, disk.read_watermark) = (buffers_writes, read_watermark);
            (disk.read_hit_after_write_us, disk.write_through_after_read_us) = (300.0, 200.0);
        });
        let arrivals = arrivals(&drawn);
        let plain_ends = completions(&mut [station(Box::new(Disk::new(&params).unwrap()), "sstf")], &arrivals);
        let bus_ends = completions(&mut [station(bus_disk(&params, &Bus::default()), "sstf")], &arrivals);
        prop_assert_eq!(plain_ends, bus_ends);
    }

    #[test]
    fn depth_is_irrelevant_without_overlap(drawn in random_requests(), buffers_writes: bool) {
        let params = params(|disk| disk.buffers_writes = buffers_writes);
        let mut arrivals = arrivals(&drawn);
        for (id, (_, request)) in arrivals.iter_mut().enumerate() {
            request.arrival = Time::from_ns(id as u64 * 200_000_000);
        }
        let flat = DiskNumbers { queue_depth: 8, ..params.flat.clone() };
        let queued_params = DiskParams { flat, ..params.clone() };
        let plain_ends = completions(&mut [station(Box::new(Disk::new(&params).unwrap()), "fcfs")], &arrivals);
        let queued_ends = completions(&mut [station(bus_disk(&queued_params, &Bus::default()), "fcfs")], &arrivals);
        prop_assert_eq!(plain_ends, queued_ends);
    }
}

#[test]
fn overheads_of_queued_commands_are_hidden() {
    let queued_params = params(|disk| (disk.queue_depth, disk.read_ahead) = (4, ReadAhead::None));
    let arrivals = [0, 1, 2].map(|id| (0, request(id, 0, Op::Read, id * 100_000, 10)));
    let ends = completions(&mut [station(bus_disk(&queued_params, &Bus::default()), "fcfs")], &arrivals);
    let plain = DiskParams {
        flat: DiskNumbers { command_overhead_ms: 0.0, ..queued_params.flat.clone() },
        ..queued_params.clone()
    };
    let mut disk = Disk::new(&plain).unwrap();
    let mut served = Vec::new();
    // The first request pays its command overhead; for each other the arm starts when the one before is complete.
    disk.issue(Time::from_ns(400_000), &arrivals.map(|(_, request)| request), &mut served).unwrap();
    assert_eq!(ends, served.iter().map(|served| served.completion).collect::<Vec<_>>());
}

#[test]
fn write_transfer_overlaps_the_seek() {
    let queued_params = params(|disk| (disk.queue_depth, disk.buffers_writes) = (4, true));
    let arrivals = [(0, request(0, 0, Op::Read, 0, 10)), (0, request(1, 100, Op::Write, 200_000, 20))];
    let ends = completions(&mut [station(bus_disk(&queued_params, &Bus::default()), "fcfs")], &arrivals);
    // The mechanism selects the write when the read is complete; 20 sectors take 1 ms on the bus.
    assert_eq!(ends[1].since(ends[0]), Span::from_ns(1_000_000));
}

#[test]
fn drives_on_one_bus_take_turns() {
    let params = params(|disk| (disk.read_ahead, disk.read_watermark) = (ReadAhead::None, 1.0));
    let bus = Bus::default();
    let mut stations: Vec<_> = (0..4).map(|_| station(bus_disk(&params, &bus), "fcfs")).collect();
    let arrivals = [0, 1, 2, 3].map(|id| (id as usize, request(id, 0, Op::Read, 50, 20)));
    let ends = completions(&mut stations, &arrivals);
    let mut disk = Disk::new(&params).unwrap();
    let mut served = Vec::new();
    disk.issue(Time::ZERO, &[arrivals[0].1], &mut served).unwrap();
    // All drives read the same sectors in the same revolution, as commands take 0.4 ms each and sector 50 passes at 5
    // ms. Their data crosses in 1 ms each: first that of the drive with the earliest request, then the last drive's
    // first.
    assert_eq!(ends[0], served[0].completion);
    let order = [ends[0], ends[3], ends[2], ends[1]];
    assert!(order.windows(2).all(|pair| pair[1].since(pair[0]) == Span::from_ns(1_000_000)), "{ends:?}");
}
