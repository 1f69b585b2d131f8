//! The rules that every scheduler must keep.

use rand::RngExt;
use sledlab_core::conformance::{CheckResult, Rule, Violation};
use sledlab_core::hash::Map;
use sledlab_core::{Op, Result, Time, seed};
use toml::Table;

use super::{RequestDisplay, serve};
use crate::device::{Device, LIST, Mechanics, QueuedRequest};
use crate::scheduler::Scheduler;

/// A scheduler and the device it chooses for, to be checked against the rules.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Makes an empty queue for a mechanism.
    pub make: &'a Make<'a>,
    /// Makes the device for which the scheduler chooses.
    pub device: &'a dyn Fn() -> Result<Box<dyn Device>>,
}

/// Requests of one check; up to two join the queue before each choice.
#[derive(Clone, Debug)]
pub struct Case {
    /// The requests; the `id` of each is its index.
    pub requests: Vec<QueuedRequest>,
    /// Most requests in the queue.
    pub room: usize,
}

impl Case {
    /// Case number `number` of the random cases drawn from `seed`, for a device of `capacity` blocks.
    pub fn random(seed: u64, number: u64, capacity: u64) -> Self {
        let mut rng = seed::stream(seed, &format!("conformance.scheduler.{number}"));
        // All over the device, or crowded in its first fiftieth.
        let lbn_limit = if rng.random() { capacity } else { (capacity / 50).max(1) };
        let request = |id| {
            let lbn = rng.random_range(0..lbn_limit);
            let blocks = rng.random_range(1..=40).min(u32::try_from(capacity - lbn).unwrap_or(u32::MAX));
            let op = if rng.random() { Op::Read } else { Op::Write };
            QueuedRequest { id, lbn, blocks, op, ..QueuedRequest::default() }
        };
        let mut requests: Vec<QueuedRequest> = (0..40).map(request).collect();
        let count = rng.random_range(1..=requests.len());
        requests.truncate(count);
        // At most 12 requests, as some schedulers accept only small queues.
        Case { requests, room: rng.random_range(1..=count.min(12)) }
    }
}

/// Makes an empty queue for a mechanism.
pub type Make<'a> = dyn Fn(&dyn Mechanics) -> Result<Box<dyn Scheduler>> + 'a;

/// Checks a scheduler against a rule in case number `number` of the random cases drawn from `seed`; the kind of device
/// follows from the number, each in turn.
///
/// # Errors
/// As of the rule.
pub fn check_case(check: Check, make: &Make<'_>, seed: u64, number: u64) -> CheckResult {
    let kinds = LIST.len() as u64;
    let description = (LIST[(number % kinds) as usize].make)(&Table::new())?;
    let capacity = description.device()?.mechanics().capacity_blocks();
    let subject = Subject { make, device: &|| description.device() };
    check(&subject, &Case::random(seed, number, capacity))
}

/// Checks a scheduler against a rule; the error describes the violation.
pub type Check = fn(&Subject<'_>, &Case) -> CheckResult;

/// All rules. The first one also covers errors that the scheduler reports itself.
pub static RULES: [Rule<Check>; 4] = [
    Rule::new(
        "Every request that joins the queue is chosen exactly once, and nothing fails.",
        "pop must return at least one request and remove it from the queue; __len__ counts the remaining requests",
        check_completeness,
    ),
    Rule::new(
        "The same requests are chosen in the same order again.",
        "choose by the queue, the time and the device only: draw no random numbers, share no state among objects",
        check_repeatability,
    ),
    // A plug-in with an empty queue is never called to choose.
    Rule::built_in(
        "An empty queue chooses nothing.",
        "leave the batch unchanged while the queue is empty",
        check_empty_queue,
    ),
    // A plug-in may choose last come, first served.
    Rule::built_in(
        "Of two equal requests, the earlier is chosen first.",
        "let the order of arrival decide between requests that are equal otherwise",
        check_order_of_equals,
    ),
];

/// The order of service, and the state when all requests have been served.
struct CaseResult {
    /// The requests in the order in which they were chosen.
    order: Vec<QueuedRequest>,
    queue: Box<dyn Scheduler>,
    device: Box<dyn Device>,
    now: Time,
}

/// Serves all requests of a case.
fn run_case(subject: &Subject<'_>, case: &Case) -> CheckResult<CaseResult> {
    let mut device = (subject.device)()?;
    let mut queue = (subject.make)(device.mechanics())?;
    let (mut order, mut batch, mut now, mut joined_count) = (Vec::new(), Vec::new(), Time::ZERO, 0);
    while joined_count < case.requests.len() || !queue.is_empty() {
        for _ in 0..2 {
            if joined_count < case.requests.len() && queue.len() < case.room {
                queue.push(QueuedRequest { arrival: now, queue_time: now, ..case.requests[joined_count] });
                joined_count += 1;
            }
        }
        let queued = queue.len();
        device.set_time(now);
        queue.pop(now, device.mechanics(), &mut batch);
        let label = RequestDisplay(batch.first().unwrap_or(&case.requests[joined_count - 1]));
        if let Some(failure) = queue.failure() {
            return Err(Violation::from_failure(label, failure));
        }
        Violation::check(!batch.is_empty(), &label, || {
            format!("nothing is chosen, although {queued} requests wait")
        })?;
        Violation::check(queue.len() + batch.len() == queued, &label, || {
            format!("{} of {queued} are chosen, and {} wait", batch.len(), queue.len())
        })?;
        now = serve(device.as_mut(), now, &batch)?.1.until;
        order.append(&mut batch);
    }
    Ok(CaseResult { order, queue, device, now })
}

/// Checks the first of [`RULES`]; the functions that follow check the others.
fn check_completeness(subject: &Subject<'_>, case: &Case) -> CheckResult {
    let mut order = run_case(subject, case)?.order;
    order.sort_by_key(|request| request.id);
    for (request, chosen) in case.requests.iter().zip(&order) {
        let identity = |request: &QueuedRequest| (request.id, request.lbn, request.blocks, request.op);
        Violation::check(identity(request) == identity(chosen), RequestDisplay(request), || {
            format!("{} was chosen in its place, or twice", RequestDisplay(chosen))
        })?;
    }
    let (joined_count, chosen_count) = (case.requests.len(), order.len());
    Violation::check(joined_count == chosen_count, "", || {
        format!("{joined_count} requests joined, {chosen_count} were chosen")
    })
}

fn check_repeatability(subject: &Subject<'_>, case: &Case) -> CheckResult {
    let (first_order, second_order) = (run_case(subject, case)?.order, run_case(subject, case)?.order);
    for (place, (first, second)) in first_order.iter().zip(&second_order).enumerate() {
        Violation::check(first == second, RequestDisplay(first), || {
            format!("choice {place}, in a second run it is {}", RequestDisplay(second))
        })?;
    }
    Ok(())
}

fn check_empty_queue(subject: &Subject<'_>, case: &Case) -> CheckResult {
    let CaseResult { mut queue, device, now, .. } = run_case(subject, case)?;
    let mut batch = Vec::new();
    queue.pop(now, device.mechanics(), &mut batch);
    Violation::check(batch.is_empty() && queue.is_empty(), "", || format!("{batch:?} from no requests"))
}

fn check_order_of_equals(subject: &Subject<'_>, case: &Case) -> CheckResult {
    let mut latest_ids = Map::default();
    for request in run_case(subject, case)?.order {
        let earlier_id =
            latest_ids.insert((request.lbn, request.blocks, request.op == Op::Write), request.id);
        Violation::check(earlier_id < Some(request.id), RequestDisplay(&request), || {
            format!("it was chosen after request {}, which is equal", earlier_id.unwrap_or_default())
        })?;
    }
    Ok(())
}
