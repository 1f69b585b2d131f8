//! Every replacement policy.

use libtest_mimic::Trial;
use proptest::prelude::*;
use sledlab_models::conformance::replacement::{Case, RULES};
use sledlab_models::replacement::{Choice, LIST};

use crate::{check_random_cases, test};

pub fn tests() -> Vec<Trial> {
    LIST.iter().map(|entry| test("replacement", entry.name, "rules", || keeps_rules(entry.name))).collect()
}

fn keeps_rules(name: &str) {
    // A case that failed once.
    check(name, &Case { keys: vec![4, 4, 1, 1, 0], capacity: 1 }).unwrap();
    let keys = prop::collection::vec(prop_oneof![3 => 0_u64..6, 2 => 0_u64..40], 1..300);
    let cases = (keys, 1_usize..12).prop_map(|(keys, capacity)| Case { keys, capacity });
    check_random_cases(200, &cases, |case| check(name, &case));
}

fn check(name: &str, case: &Case) -> Result<(), TestCaseError> {
    for rule in &RULES {
        let outcome = (rule.check)(&|capacity| Choice::parse(name)?.make(capacity), case);
        outcome.map_err(|violation| TestCaseError::fail(format!("{} {violation}", rule.requirement)))?;
    }
    Ok(())
}
