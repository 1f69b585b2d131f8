//! Rules that every workload must satisfy, for the tests of sledlab's generators and for plug-ins.

use std::fmt;

use rand::RngExt;
use sledlab_core::conformance::{CheckResult, Rule, Violation};
use sledlab_core::{Op, Request, Result, Source, Time, seed};

use crate::synthetic::GeneratorSetting;

/// Makes a workload for a seed and a capacity.
pub type MakeSource<'a> = dyn Fn(GeneratorSetting) -> Result<Box<dyn Source>> + 'a;

/// A case on which rules check a workload.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Seed, and capacity in blocks.
    pub setting: GeneratorSetting,
    /// The maximum number of requests to check.
    pub max_requests: usize,
}

impl Case {
    /// Case number `number` of those that follow `seed`, for devices of half a gigabyte to half a petabyte.
    pub fn random(seed: u64, number: u64) -> Self {
        let mut draw = seed::stream(seed, &format!("conformance.workload.{number}"));
        let capacity_blocks = 1_000_000 << draw.random_range(0..20_u32);
        Case { setting: GeneratorSetting { seed: draw.random(), capacity_blocks }, max_requests: 300 }
    }
}

/// Checks a rule and returns the violation, if any.
pub type Check = fn(&MakeSource<'_>, &Case) -> CheckResult;

/// All rules. A workload satisfies the first only if none of its calls returns an error.
pub static RULES: [Rule<Check>; 4] = [
    Rule::new(
        "Requests come in the order of arrival, none of them empty, and nothing fails.",
        "yield requests sorted by time_us, of at least one block",
        check_order,
    ),
    Rule::new(
        "Requests lie on the device.",
        "draw lbn below capacity_blocks - blocks; past the end `replay.outside` decides, and refuses by default",
        check_bounds,
    ),
    Rule::new(
        "The same seed gives the same requests again.",
        "draw random numbers only from the generator passed to requests",
        check_determinism,
    ),
    // A plug-in may make a single request, at the start.
    Rule::built_in("Time passes.", "let the last request arrive after the start", check_progress),
];

/// A request in messages.
struct RequestDisplay<'a>(usize, &'a Request);

impl fmt::Display for RequestDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RequestDisplay(number, Request { arrival, lbn, blocks, op, .. }) = self;
        let (ms, op) = (arrival.as_seconds() * 1e3, op.letter());
        write!(f, "request {number}, `{op}` of {blocks} blocks from {lbn} at {ms} ms")
    }
}

/// The first requests of a workload, at most `case.max_requests`.
fn run(make: &MakeSource<'_>, case: &Case) -> CheckResult<Vec<Request>> {
    let mut source = make(case.setting)?;
    let mut requests = Vec::new();
    while requests.len() < case.max_requests {
        match source.fill(&mut requests) {
            Ok(0) => break,
            Ok(_) => {}
            Err(failure) => {
                return Err(Violation::from_failure(format!("after {} requests", requests.len()), failure));
            }
        }
    }
    requests.truncate(case.max_requests);
    Violation::check(!requests.is_empty(), "", || "there is no request")?;
    Ok(requests)
}

/// Checks the rule of the same place in [`RULES`], as do the functions below.
fn check_order(make: &MakeSource<'_>, case: &Case) -> CheckResult {
    let mut previous_arrival = Time::ZERO;
    for (number, request) in run(make, case)?.iter().enumerate() {
        Violation::check(request.arrival >= previous_arrival, RequestDisplay(number, request), || {
            format!("the one before it arrives {} ns later", previous_arrival.since(request.arrival).as_ns())
        })?;
        Violation::check(
            request.blocks > 0 || request.op == Op::Flush,
            RequestDisplay(number, request),
            || "it is empty",
        )?;
        previous_arrival = request.arrival;
    }
    Ok(())
}

fn check_bounds(make: &MakeSource<'_>, case: &Case) -> CheckResult {
    let capacity = case.setting.capacity_blocks;
    run(make, case)?.iter().enumerate().try_for_each(|(number, request)| {
        Violation::check(
            request.end() <= capacity || request.op == Op::Flush,
            RequestDisplay(number, request),
            || format!("it ends past the device, which has {capacity} blocks"),
        )
    })
}

fn check_determinism(make: &MakeSource<'_>, case: &Case) -> CheckResult {
    let (first, repeated) = (run(make, case)?, run(make, case)?);
    for (number, (first, repeated)) in first.iter().zip(&repeated).enumerate() {
        Violation::check(first == repeated, RequestDisplay(number, first), || {
            format!("again it is {}", RequestDisplay(number, repeated))
        })?;
    }
    Violation::check(first.len() == repeated.len(), "", || {
        format!("{} requests come first, and again {}", first.len(), repeated.len())
    })
}

fn check_progress(make: &MakeSource<'_>, case: &Case) -> CheckResult {
    let requests = run(make, case)?;
    let last = requests.last().map_or(Time::ZERO, |request| request.arrival);
    Violation::check(last > Time::ZERO, "", || format!("{} requests arrive at the start", requests.len()))
}
