//! The rules that every replacement policy must keep.

use rand::RngExt;
use sledlab_core::conformance::{CheckResult, Rule, Violation};
use sledlab_core::hash::{Map, Set};
use sledlab_core::{Result, seed};

use crate::replacement::{AccessResult, Choice, ReplacementPolicy, Use};

/// Makes an empty cache with room for the given number of keys.
pub type Make<'a> = dyn Fn(usize) -> Result<Box<dyn ReplacementPolicy>> + 'a;

/// Accesses to a cache.
#[derive(Clone, Debug)]
pub struct Case {
    /// The keys that are used, in order.
    pub keys: Vec<u64>,
    /// Maximum number of keys in the cache, at least 1.
    pub capacity: usize,
}

impl Case {
    /// Case number `number` of the random cases drawn from `seed`.
    pub fn random(seed: u64, number: u64) -> Self {
        let mut rng = seed::stream(seed, &format!("conformance.replacement.{number}"));
        let count = rng.random_range(1..300);
        // Six keys are used more often than the others.
        let keys = (0..count).map(|_| {
            let key_limit = if rng.random_bool(0.6) { 6 } else { 40 };
            rng.random_range(0..key_limit)
        });
        Case { keys: keys.collect(), capacity: rng.random_range(1..12) }
    }

    /// The accesses in order, each with the number of the next access to the same key.
    fn accesses(&self) -> Vec<Use> {
        let mut next_by_key = Map::default();
        let number = |at: usize| at as u64;
        let mut uses: Vec<Use> = (self.keys.iter().enumerate().rev())
            .map(|(at, key)| Use {
                key: *key,
                next: next_by_key.insert(*key, number(at)).unwrap_or(Use::NO_NEXT),
            })
            .collect();
        uses.reverse();
        uses
    }
}

/// Checks a policy against a rule; the error describes the violation.
pub type Check = fn(&Make<'_>, &Case) -> CheckResult;

/// All rules. The first one also covers errors that the policy reports itself.
pub static RULES: [Rule<Check>; 6] = [
    Rule::new(
        "A full cache evicts one key that it holds, any other none, and nothing fails.",
        "evict must return a key that was inserted and not evicted since, and remove it",
        check_evictions,
    ),
    Rule::new(
        "An access hits if its key was inserted and not evicted since, and misses otherwise.",
        "make holds and access consistent",
        check_contents,
    ),
    Rule::new(
        "The length of the cache is its number of keys.",
        "let len be the number of keys in the cache",
        check_counts,
    ),
    Rule::new(
        "A key that is prefetched is in the cache, which evicts one key for it if it is full.",
        "insert the key, and count no use of it before its first access",
        check_prefetches,
    ),
    Rule::new(
        "The same accesses evict the same keys again.",
        "draw random numbers from a seeded generator that the constructor creates",
        check_repeatability,
    ),
    Rule::new(
        "No policy has more hits than the optimal policy, which knows the future.",
        "count a hit only where the key is in the cache",
        check_hit_bound,
    ),
];

/// An access, and what the policy did.
struct Step {
    number: usize,
    key: u64,
    /// Whether the policy reported before the access that it holds the key.
    is_reported_resident: bool,
    /// Whether the key was resident before the access, by the misses and victims reported so far.
    was_resident: bool,
    /// Number of resident keys before the access, by the same count.
    keys_before: usize,
    result: AccessResult,
    /// False where the policy evicted a key that the cache did not hold.
    had_victim: bool,
    /// Number of resident keys after the access, by the same count.
    keys_after: usize,
    /// Number of keys that the policy reports to hold.
    reported_len: usize,
}

impl Step {
    fn description(&self) -> String {
        describe(self.number, self.key)
    }
}

fn describe(number: usize, key: u64) -> String {
    format!("access {number}, to key {key}")
}

/// Makes every access of a case, and records what the policy did.
fn run_case(make: &Make<'_>, case: &Case) -> CheckResult<Vec<Step>> {
    let mut policy = make(case.capacity)?;
    let mut contents = Set::default();
    let mut steps = Vec::with_capacity(case.keys.len());
    for (number, access) in case.accesses().into_iter().enumerate() {
        let key = access.key;
        let (is_reported_resident, was_resident, keys_before) =
            (policy.holds(key), contents.contains(&key), contents.len());
        let result = policy.access(access);
        if let Some(failure) = policy.failure() {
            return Err(Violation::from_failure(describe(number, key), failure));
        }
        let mut had_victim = true;
        if let AccessResult::Miss { victim } = result {
            had_victim = victim.is_none_or(|victim| contents.remove(&victim));
            contents.insert(key);
        }
        let (keys_after, reported_len) = (contents.len(), policy.len());
        steps.push(Step {
            number,
            key,
            is_reported_resident,
            was_resident,
            keys_before,
            result,
            had_victim,
            keys_after,
            reported_len,
        });
    }
    Ok(steps)
}

/// Checks the first of [`RULES`]; the functions that follow check the others.
fn check_evictions(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(make, case)?.iter().try_for_each(|step| {
        let AccessResult::Miss { victim } = step.result else { return Ok(()) };
        let is_full = step.keys_before == case.capacity;
        Violation::check(
            victim.is_some() == is_full && step.had_victim,
            step.description(),
            || match victim {
                Some(victim) if !step.had_victim => format!("it evicts {victim}, which is not in the cache"),
                Some(victim) => format!("it evicts {victim} from {} of {}", step.keys_before, case.capacity),
                None => format!("it evicts nothing, although all {} are taken", case.capacity),
            },
        )
    })
}

fn check_contents(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(make, case)?.iter().try_for_each(|step| {
        let is_hit = step.result == AccessResult::Hit;
        Violation::check(
            step.is_reported_resident == step.was_resident && is_hit == step.was_resident,
            step.description(),
            || {
                let (outcome, reported) = (
                    if is_hit { "a hit" } else { "a miss" },
                    if step.is_reported_resident { "was" } else { "was not" },
                );
                let actual = if step.was_resident { "it was" } else { "it was not" };
                format!("{outcome}, and it reported that the key {reported} in the cache: {actual}")
            },
        )
    })
}

fn check_counts(make: &Make<'_>, case: &Case) -> CheckResult {
    run_case(make, case)?.iter().try_for_each(|step| {
        Violation::check(step.reported_len == step.keys_after, step.description(), || {
            format!("it counts {} keys, {} are in the cache", step.reported_len, step.keys_after)
        })
    })
}

/// Prefetches the key of each third access, where it is not in the cache.
fn check_prefetches(make: &Make<'_>, case: &Case) -> CheckResult {
    let mut policy = make(case.capacity)?;
    for (number, access) in case.accesses().into_iter().enumerate() {
        let (key, keys_before) = (access.key, policy.len());
        if number % 3 > 0 || policy.holds(key) {
            policy.access(access);
            continue;
        }
        let victim = policy.prefetch(key);
        if let Some(failure) = policy.failure() {
            return Err(Violation::from_failure(describe(number, key), failure));
        }
        let is_full = keys_before == case.capacity;
        let is_valid = policy.holds(key)
            && victim.is_some() == is_full
            && victim.is_none_or(|victim| !policy.holds(victim))
            && policy.len() == keys_before + usize::from(!is_full);
        let result = policy.access(access);
        Violation::check(is_valid && result == AccessResult::Hit, describe(number, key), || {
            format!(
                "a prefetch evicts {victim:?} from {keys_before} of {}, and the access is {result:?}",
                case.capacity
            )
        })?;
    }
    Ok(())
}

fn check_repeatability(make: &Make<'_>, case: &Case) -> CheckResult {
    let (first_run, second_run) = (run_case(make, case)?, run_case(make, case)?);
    first_run.iter().zip(&second_run).try_for_each(|(first, second)| {
        Violation::check(first.result == second.result, first.description(), || {
            format!("first {:?}, and again {:?}", first.result, second.result)
        })
    })
}

fn check_hit_bound(make: &Make<'_>, case: &Case) -> CheckResult {
    let hits = |steps: &[Step]| steps.iter().filter(|step| step.result == AccessResult::Hit).count();
    let belady = Choice::parse("belady")?;
    let max_hits = hits(&run_case(&|capacity| belady.make(capacity), case)?);
    let policy_hits = hits(&run_case(make, case)?);
    let label = format!("{} accesses to a cache of {}", case.keys.len(), case.capacity);
    Violation::check(policy_hits <= max_hits, label, || {
        format!("{policy_hits} hits, where {max_hits} are possible")
    })
}
