//! What every replacement policy must keep.

use rand::RngExt;
use sledlab_core::conformance::{Broken, Kept, Rule};
use sledlab_core::hash::{Map, Set};
use sledlab_core::{Result, seed};

use crate::replacement::{Choice, Found, ReplacementPolicy, Use};

/// Makes an empty cache with room for so many keys.
pub type Make<'a> = dyn Fn(usize) -> Result<Box<dyn ReplacementPolicy>> + 'a;

/// Accesses to a cache.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is used, in order.
    pub keys: Vec<u64>,
    /// Room of the cache, at least 1.
    pub capacity: usize,
}

impl Case {
    /// Case number `number` of those that follow `seed`.
    pub fn random(seed: u64, number: u64) -> Self {
        let mut draw = seed::stream(seed, &format!("conformance.replacement.{number}"));
        let count = draw.random_range(1..300);
        // A few are used often.
        let keys = (0..count).map(|_| {
            let most = if draw.random_bool(0.6) { 6 } else { 40 };
            draw.random_range(0..most)
        });
        Case { keys: keys.collect(), capacity: draw.random_range(1..12) }
    }

    /// The accesses, with their futures.
    fn accesses(&self) -> Vec<Use> {
        let mut next = Map::default();
        let number = |at: usize| at as u64;
        let mut uses: Vec<Use> = (self.keys.iter().enumerate().rev())
            .map(|(at, key)| Use { key: *key, next: next.insert(*key, number(at)).unwrap_or(Use::NEVER) })
            .collect();
        uses.reverse();
        uses
    }
}

/// Says how a policy breaks a rule, if it does.
pub type Check = fn(&Make<'_>, &Case) -> Kept;

const fn rule(says: &'static str, remedy: &'static str, check: Check) -> Rule<Check> {
    Rule { says, remedy, of_plug_ins: true, check }
}

/// Every rule; who keeps the first has failed nowhere.
pub static RULES: [Rule<Check>; 5] = [
    rule(
        "A full cache evicts one key that it holds, any other none, and nothing fails.",
        "evict returns a key that was inserted and not evicted since, and forgets it",
        evicts_what_it_holds,
    ),
    rule(
        "What is used is a hit where it came in and was not evicted since, and else a miss.",
        "let holds and access tell the same",
        contents_follow,
    ),
    rule("The cache counts what it holds.", "let len be the number of keys that are there", counts),
    rule(
        "The same accesses evict the same keys again.",
        "draw random numbers from a generator with a seed, made in the constructor",
        evicts_the_same_again,
    ),
    rule(
        "Nothing hits more often than the policy that knows the future.",
        "count a hit only where the key is in the cache",
        hits_no_more_than_possible,
    ),
];

/// An access, and what came of it.
struct Step {
    number: usize,
    key: u64,
    /// Whether it said that the key was there, before.
    held: bool,
    /// Whether the key was there, by what had come in and been evicted.
    was_there: bool,
    /// How many keys were there.
    before: usize,
    found: Found,
    /// Whether what it evicted was there, where it evicted anything.
    had_victim: bool,
    /// How many there are now.
    after: usize,
    /// How many it says there are.
    counted: usize,
}

impl Step {
    fn told(&self) -> String {
        told(self.number, self.key)
    }
}

fn told(number: usize, key: u64) -> String {
    format!("access {number}, to key {key}")
}

/// Every access of a case, and what came of it.
fn run(make: &Make<'_>, case: &Case) -> Kept<Vec<Step>> {
    let mut policy = make(case.capacity)?;
    let mut contents = Set::default();
    let mut steps = Vec::with_capacity(case.keys.len());
    for (number, access) in case.accesses().into_iter().enumerate() {
        let key = access.key;
        let (held, was_there, before) = (policy.holds(key), contents.contains(&key), contents.len());
        let found = policy.access(access);
        if let Some(failure) = policy.failure() {
            return Err(Broken::failed(told(number, key), failure));
        }
        let mut had_victim = true;
        if let Found::Miss { victim } = found {
            had_victim = victim.is_none_or(|victim| contents.remove(&victim));
            contents.insert(key);
        }
        let (after, counted) = (contents.len(), policy.len());
        steps.push(Step { number, key, held, was_there, before, found, had_victim, after, counted });
    }
    Ok(steps)
}

/// As of [`RULES`], like those that follow.
fn evicts_what_it_holds(make: &Make<'_>, case: &Case) -> Kept {
    run(make, case)?.iter().try_for_each(|step| {
        let Found::Miss { victim } = step.found else { return Ok(()) };
        let full = step.before == case.capacity;
        Broken::unless(victim.is_some() == full && step.had_victim, step.told(), || match victim {
            Some(victim) if !step.had_victim => format!("it evicts {victim}, which is not there"),
            Some(victim) => format!("it evicts {victim} from {} of {}", step.before, case.capacity),
            None => format!("it evicts nothing, although all {} are taken", case.capacity),
        })
    })
}

fn contents_follow(make: &Make<'_>, case: &Case) -> Kept {
    run(make, case)?.iter().try_for_each(|step| {
        let hit = step.found == Found::Hit;
        Broken::unless(step.held == step.was_there && hit == step.was_there, step.told(), || {
            let (hit, held) =
                (if hit { "a hit" } else { "a miss" }, if step.held { "was" } else { "was not" });
            let there = if step.was_there { "it was" } else { "it was not" };
            format!("{hit}, and it said that the key {held} there: {there}")
        })
    })
}

fn counts(make: &Make<'_>, case: &Case) -> Kept {
    run(make, case)?.iter().try_for_each(|step| {
        Broken::unless(step.counted == step.after, step.told(), || {
            format!("it counts {} keys, {} are there", step.counted, step.after)
        })
    })
}

fn evicts_the_same_again(make: &Make<'_>, case: &Case) -> Kept {
    let (first, again) = (run(make, case)?, run(make, case)?);
    first.iter().zip(&again).try_for_each(|(first, again)| {
        Broken::unless(first.found == again.found, first.told(), || {
            format!("first {:?}, and again {:?}", first.found, again.found)
        })
    })
}

fn hits_no_more_than_possible(make: &Make<'_>, case: &Case) -> Kept {
    let hits = |steps: &[Step]| steps.iter().filter(|step| step.found == Found::Hit).count();
    let belady = Choice::parse("belady")?;
    let most = hits(&run(&|capacity| belady.make(capacity), case)?);
    let own = hits(&run(make, case)?);
    let all = format!("{} accesses to a cache of {}", case.keys.len(), case.capacity);
    Broken::unless(own <= most, all, || format!("{own} hits, where {most} are possible"))
}
