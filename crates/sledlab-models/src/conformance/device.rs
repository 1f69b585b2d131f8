//! The rules that every device must keep.

use rand::RngExt;
use sledlab_core::conformance::{CheckResult, Rule, Violation};
use sledlab_core::{Op, Result, Span, Time, seed};
use toml::Table;

use super::{RequestDisplay, serve};
use crate::device::{
    BusyPeriod, Device, DeviceState, IdleOutcome, Location, Mechanics, QueuedRequest, ServedRequest, Timing,
};
use crate::power::MechanicalWork;
use crate::scheduler::Choice;

/// Makes a device in the state in which every run begins.
pub type Make<'a> = dyn Fn() -> Result<Box<dyn Device>> + 'a;

/// A request, as far as it does not depend on the device.
#[derive(Clone, Copy, Debug)]
pub struct RequestShape {
    /// The first block, as a share of the device's capacity, from 0 to below 1.
    pub position: f64,
    /// Number of blocks, at least 1; fewer are requested where the device ends before.
    pub blocks: u32,
    /// A read or a write.
    pub op: Op,
}

/// Requests served one after another, and the idle periods between them.
#[derive(Clone, Debug)]
pub struct Case {
    /// The requests, at least one.
    pub requests: Vec<RequestShape>,
    /// How long the device stays idle after each request, where it does not park.
    pub gap: Span,
}

impl Case {
    /// Case number `number` of the random cases drawn from `seed`.
    pub fn random(seed: u64, number: u64) -> Self {
        let mut rng = seed::stream(seed, &format!("conformance.device.{number}"));
        let mut requests: Vec<RequestShape> = Vec::new();
        for _ in 0..rng.random_range(1..12) {
            let op = if rng.random() { Op::Read } else { Op::Write };
            // Some requests repeat the address of an earlier one, which shows a device that remembers earlier requests.
            let position = if requests.is_empty() || rng.random_bool(0.75) {
                rng.random()
            } else {
                requests[rng.random_range(0..requests.len())].position
            };
            requests.push(RequestShape { position, blocks: rng.random_range(1..200), op });
        }
        Case { requests, gap: Span::from_ns(rng.random_range(0..50_000_000)) }
    }

    /// The requests, with addresses on a device of this capacity.
    fn requests(&self, mechanics: &dyn Mechanics) -> Vec<QueuedRequest> {
        let capacity = mechanics.capacity_blocks();
        let to_request = |(id, shape): (usize, &RequestShape)| {
            let lbn = ((capacity as f64 * shape.position) as u64).min(capacity - 1);
            let blocks = shape.blocks.min(u32::try_from(capacity - lbn).unwrap_or(u32::MAX));
            QueuedRequest { id: id as u64, lbn, blocks, op: shape.op, ..QueuedRequest::default() }
        };
        self.requests.iter().enumerate().map(to_request).collect()
    }
}

/// Checks a device against a rule; the error describes the violation.
pub type Check = fn(&Make<'_>, &Case) -> CheckResult;

/// All rules. The first one also covers errors that the device reports itself.
pub static RULES: [Rule<Check>; 9] = [
    Rule::new(
        "Every request is served, in a time above zero, and nothing fails.",
        "serve returns milliseconds, from a nanosecond to 1e9, for every request that lies on the device",
        check_service,
    ),
    Rule::new(
        "Predicting a service time changes nothing.",
        "store nothing and draw no random numbers in serve; change the object in served only",
        check_queries_are_pure,
    ),
    Rule::new(
        "A request takes as long as was predicted before it was issued.",
        "let serve depend only on its arguments and on requests that served has received",
        check_probes,
    ),
    Rule::new(
        "The same requests take the same time again, whatever was predicted in between.",
        "make serve a function of its arguments: draw no random numbers, and share no state among objects",
        check_repeatability,
    ),
    Rule::new(
        "Energies of requests add up to that of the mechanism, and none is negative.",
        "state powers that are not negative",
        check_energy_sum,
    ),
    // A plug-in may leave all powers at 0 if its user needs no energies.
    Rule::built_in(
        "Every access takes energy.",
        "state a power while requests are served",
        check_access_energy,
    ),
    Rule::new(
        "Every block has a place within the extent of the device.",
        "let location stay below cylinders and rows, and exclude command overhead from the times that schedulers see",
        check_locations,
    ),
    // A plug-in with a `served` method may change its object there, and a snapshot refers to that same object.
    Rule::built_in(
        "A snapshot of a mechanism does not change when the mechanism moves on.",
        "make snapshot a copy",
        check_snapshots,
    ),
    // Plug-ins have no index.
    Rule::built_in(
        "An index over queued requests chooses as an exhaustive search does.",
        "omit position_index unless it is exact",
        check_indexes,
    ),
];

/// All answers that a scheduler can get from a mechanism about a request.
#[derive(Debug, PartialEq)]
struct MechanismReplies {
    state: DeviceState,
    location: Location,
    /// The positioning time from the present state, queried without and with that state as an argument.
    positioning: [Span; 2],
    served: (Timing, DeviceState),
    /// The tie-breaking number, and the square of the distance.
    proximity: (u64, u64),
    idle_mw: u64,
}

impl MechanismReplies {
    fn query(mechanics: &dyn Mechanics, request: &QueuedRequest) -> Self {
        let state = mechanics.state();
        let proximity =
            (mechanics.tie_rank(request), mechanics.distance_squared((state.x, state.y), request.lbn));
        MechanismReplies {
            state,
            location: mechanics.location(request.lbn),
            positioning: [mechanics.positioning(request), mechanics.positioning_from(state, request)],
            served: mechanics.serve_from(state, request),
            proximity,
            idle_mw: mechanics.idle_mw().to_bits(),
        }
    }
}

/// Describes two answers that differ: by their times in milliseconds where the times differ.
fn describe_difference(first: &MechanismReplies, second: &MechanismReplies) -> String {
    if first.served.0 == second.served.0 {
        format!("first {first:?}, then {second:?}")
    } else {
        describe_timings(("first it takes", &first.served.0), ("then", &second.served.0))
    }
}

/// Describes two timings, each after its label: in milliseconds where those differ.
fn describe_timings(first: (&str, &Timing), second: (&str, &Timing)) -> String {
    let ms = |timing: &Timing| (timing.service().as_ms(), timing.positioning().as_ms());
    let describe = |(label, timing): (&str, &Timing)| {
        let (service, positioning) = ms(timing);
        format!("{label} {service} ms, positioning {positioning} ms of it")
    };
    if ms(first.1) == ms(second.1) {
        format!("{} {:?}, {} {:?}", first.0, first.1, second.0, second.1)
    } else {
        format!("{}; {}", describe(first), describe(second))
    }
}

/// A request that has been served.
struct ServedCase {
    /// The timing that the device predicted just before the request was issued.
    prediction: Timing,
    /// When it was issued.
    now: Time,
    served: ServedRequest,
    busy: BusyPeriod,
}

/// Serves the requests of a case one after another, with idle periods between them; `check_before` checks the device
/// and the next request, `check_after` the device and the request that was served.
fn run_case(
    make: &Make<'_>,
    case: &Case,
    mut check_before: impl FnMut(&mut dyn Device, Time, &QueuedRequest) -> CheckResult,
    mut check_after: impl FnMut(&mut dyn Device, &ServedCase) -> CheckResult,
) -> CheckResult {
    let mut device = make()?;
    let mut now = Time::from_ns(1_000);
    for request in case.requests(device.mechanics()) {
        device.set_time(now);
        check_before(device.as_mut(), now, &request)?;
        let prediction = device.probe(now, &request);
        let (served, busy) = serve(device.as_mut(), now, &[request])?;
        let served_case = ServedCase { prediction, now, served: served[0], busy };
        check_after(device.as_mut(), &served_case)?;
        device.end_idle_period(if request.id.is_multiple_of(3) {
            IdleOutcome::Parked
        } else {
            IdleOutcome::Idle(case.gap)
        });
        now = busy.until.max(served_case.served.completion) + case.gap;
    }
    Ok(())
}

/// Checks the first of [`RULES`]; the functions that follow check the others.
fn check_service(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(
        make,
        case,
        |_, _, _| Ok(()),
        |device, ServedCase { served, now, .. }| {
            let ServedRequest { request, start, completion, write_behind, timing, .. } = *served;
            let label = RequestDisplay(&request);
            Violation::check(completion == start + timing.service(), &label, || {
                format!(
                    "the parts of its service time sum to {:?}, but it takes {:?} from start to completion",
                    timing.service(),
                    completion.since(start)
                )
            })?;
            Violation::check(timing.service() > Span::ZERO && start >= *now, &label, || {
                format!("issued at {now:?}, started at {start:?}, it takes {:?}", timing.service())
            })?;
            let may_be_behind = request.op == Op::Write && device.has_volatile_buffer();
            Violation::check(write_behind == Span::ZERO || may_be_behind, &label, || {
                format!(
                    "it is durable {write_behind:?} after its completion, but no volatile buffer has its data"
                )
            })
        },
    )
}

fn check_queries_are_pure(make: &Make<'_>, case: &Case) -> CheckResult {
    let requests = case.requests(make()?.mechanics());
    run_case(
        make,
        case,
        |device, now, request| {
            let first = device.probe(now, request);
            let replies: Vec<_> =
                requests.iter().map(|other| MechanismReplies::query(device.mechanics(), other)).collect();
            for (other, first_reply) in requests.iter().zip(&replies).rev() {
                let second_replies = MechanismReplies::query(device.mechanics(), other);
                Violation::check(second_replies == *first_reply, RequestDisplay(other), || {
                    describe_difference(first_reply, &second_replies)
                })?;
            }
            let mechanics = device.mechanics();
            let (from_present, from_named) =
                (mechanics.positioning(request), mechanics.positioning_from(mechanics.state(), request));
            Violation::check(from_present == from_named, RequestDisplay(request), || {
                format!(
                    "positioning takes {from_present:?}, and from the present state, named, {from_named:?}"
                )
            })?;
            // Asking from another state may give another timing, but must not change the present state.
            let (_, other_state) = mechanics.serve_from(mechanics.state(), request);
            mechanics.serve_from(other_state, request);
            let prediction = device.probe(now, request);
            Violation::check(first == prediction, RequestDisplay(request), || {
                describe_timings(("first it takes", &first), ("then", &prediction))
            })
        },
        |_, _| Ok(()),
    )
}

fn check_probes(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(
        make,
        case,
        |_, _, _| Ok(()),
        |device, ServedCase { prediction, now, served, busy }| {
            // Work of the device's own, such as reading ahead, may come between prediction and service.
            if device.has_background_work() {
                return Ok(());
            }
            let label = RequestDisplay(&served.request);
            Violation::check(*prediction == served.timing, &label, || {
                describe_timings(("before it is to take", prediction), ("it then takes", &served.timing))
            })?;
            let (start, completion, service) = (served.start, served.completion, served.timing.service());
            let is_exact = start == *now && completion == busy.until && busy.work.busy_time() == service;
            Violation::check(is_exact, &label, || {
                format!("issued at {now:?} it takes from {start:?} to {completion:?}, the mechanism {busy:?}")
            })
        },
    )
}

fn check_repeatability(make: &Make<'_>, case: &Case) -> CheckResult {
    let mut times = Vec::new();
    run_case(
        make,
        case,
        |_, _, _| Ok(()),
        |_, done| {
            times.push((done.served.start, done.served.timing));
            Ok(())
        },
    )?;
    let (mut first_times, requests) = (times.into_iter(), case.requests(make()?.mechanics()));
    let probe = |device: &mut dyn Device, now, _: &QueuedRequest| {
        for other in &requests {
            MechanismReplies::query(device.mechanics(), other);
            device.probe(now, other);
        }
        Ok(())
    };
    run_case(make, case, probe, |_, ServedCase { served, .. }| {
        let label = RequestDisplay(&served.request);
        let (start, timing) = first_times.next().unwrap_or((served.start, served.timing));
        Violation::check(timing == served.timing, &label, || {
            describe_timings(("first it takes", &timing), ("again", &served.timing))
        })?;
        Violation::check(start == served.start, &label, || {
            format!("it starts at {start:?}, again at {:?}", served.start)
        })
    })
}

fn check_energy_sum(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(
        make,
        case,
        |_, _, _| Ok(()),
        |device, ServedCase { served, busy, .. }| {
            let (mechanism_energy, energy) =
                (device.mechanics().power_rates().energy(&busy.work), served.energy);
            let (mechanism_uj, request_uj) = (mechanism_energy.total_uj(), energy.total_uj());
            let label = RequestDisplay(&served.request);
            Violation::check((mechanism_uj - request_uj).abs() <= 1e-9 * mechanism_uj, &label, || {
                format!("it spends {request_uj} uJ, the mechanism {mechanism_uj} uJ")
            })?;
            let is_valid = energy.startup_uj == 0.0 && energy.seek_uj >= 0.0 && energy.access_uj >= 0.0;
            Violation::check(is_valid, &label, || format!("{energy:?}"))
        },
    )
}

fn check_access_energy(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(
        make,
        case,
        |_, _, _| Ok(()),
        |_, ServedCase { served, .. }| {
            Violation::check(served.energy.access_uj > 0.0, RequestDisplay(&served.request), || {
                format!("{:?}", served.energy)
            })
        },
    )
}

fn check_locations(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(
        make,
        case,
        |device, _, request| {
            let (mechanics, label) = (device.mechanics(), RequestDisplay(request));
            let (extent, location) = (mechanics.extent(), mechanics.location(request.lbn));
            Violation::check(
                location.cylinder < extent.cylinders && location.row < extent.rows,
                &label,
                || format!("{location:?} lies outside {extent:?}"),
            )?;
            let (timing, _) = mechanics.serve_from(mechanics.state(), request);
            Violation::check(timing.overhead == Span::ZERO, &label, || {
                format!("schedulers see an overhead of {:?}", timing.overhead)
            })?;
            let serves_alone = mechanics.can_join(&[], request) || !mechanics.can_join(&[*request], request);
            Violation::check(serves_alone || mechanics.parallel_blocks() > 1, &label, || {
                "the device accepts two requests in one pass, although it accesses one block at a time"
                    .to_owned()
            })
        },
        |_, _| Ok(()),
    )
}

fn check_snapshots(make: &Make<'_>, case: &Case) -> CheckResult {
    let mut device = make()?;
    let mut now = Time::ZERO;
    for request in case.requests(device.mechanics()) {
        device.set_time(now);
        let (snapshot, replies_before) =
            (device.mechanics().snapshot(), MechanismReplies::query(device.mechanics(), &request));
        let (_, busy) = serve(device.as_mut(), now, &[request])?;
        let replies_after = MechanismReplies::query(snapshot.as_ref(), &request);
        Violation::check(replies_before == replies_after, RequestDisplay(&request), || {
            describe_difference(&replies_before, &replies_after)
        })?;
        now = busy.until;
    }
    Ok(())
}

fn check_indexes(make: &Make<'_>, case: &Case) -> CheckResult {
    for word in ["sptf", "sdf", "p-sptf", "asptf"] {
        let choice = Choice::new(word, &Table::new())?;
        let mut device = make()?;
        let mut queues = [choice.make(device.mechanics())?, choice.make_exhaustive(device.mechanics())?];
        for request in case.requests(device.mechanics()) {
            for queue in &mut queues {
                queue.push(request);
            }
        }
        let mut now = Time::ZERO;
        while !queues[0].is_empty() {
            device.set_time(now);
            let [by_index, by_search] = [0, 1].map(|queue| {
                let mut batch = Vec::new();
                queues[queue].pop(now, device.mechanics(), &mut batch);
                batch
            });
            let first = by_search.first().copied().unwrap_or_default();
            Violation::check(by_index == by_search && !by_search.is_empty(), RequestDisplay(&first), || {
                format!("`{word}` chooses {by_index:?} by the index, {by_search:?} by an exhaustive search")
            })?;
            let (_, busy) = serve(device.as_mut(), now, &by_index)?;
            Violation::check(
                busy.work != MechanicalWork::default(),
                RequestDisplay(&first),
                || "the mechanism does nothing",
            )?;
            now = busy.until;
        }
    }
    Ok(())
}
