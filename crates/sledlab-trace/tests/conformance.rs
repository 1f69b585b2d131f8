//! Conformance tests: one for every registered workload generator and check, named `workload::generator::check`, such
//! as `workload::uniform::rules`. They follow the registry, so a new generator needs no line here.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sledlab_core::{Request, Result};
use sledlab_trace::conformance::{Case, RULES};
use sledlab_trace::synthetic::{Choice, Entry, GeneratorSetting, LIST, build};
use toml::Table;

const G2_BLOCKS: u64 = 6_750_000;
const REQUESTS: u64 = 300;

/// The name of a check and its function.
type NamedCheck = (&'static str, fn(&'static Entry));

fn main() -> ExitCode {
    let checks: [NamedCheck; 2] = [("parameters", parameters_read_back), ("rules", keeps_rules)];
    let tests = LIST.iter().flat_map(|entry| {
        checks.map(|(check, run)| {
            Trial::test(format!("workload::{}::{check}", entry.name), move || {
                run(entry);
                Ok(())
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code()
}

fn parameters_read_back(entry: &'static Entry) {
    let specs = (entry.specs)();
    assert!(specs.iter().any(|spec| spec.name == "requests"));
    assert!(specs.iter().all(|spec| spec.meaning.ends_with('.')));
    assert_eq!(LIST.iter().filter(|other| other.name == entry.name).count(), 1);
    let mut resolved = Choice::new(entry.name, &Table::new()).unwrap().to_table();
    assert_eq!(resolved.remove("kind").unwrap().as_str(), Some(entry.name));
    assert_eq!(resolved.len(), specs.len());
    let read_back = Choice::new(entry.name, &resolved).unwrap().to_table();
    assert_eq!(read_back.into_iter().filter(|(key, _)| key != "kind").collect::<Table>(), resolved);
    let mut endless = build(entry.name, &toml::from_str("requests = 0").unwrap(), 1, G2_BLOCKS).unwrap();
    assert!(endless.fill(&mut Vec::new()).unwrap() > 0);
    assert_eq!(endless.progress(), None);
}

/// Draws all requests.
fn draw(choice: &Choice, seed: u64, capacity: u64) -> Result<Vec<Request>> {
    let mut source = choice.build(seed, capacity)?;
    let mut requests = Vec::new();
    while source.fill(&mut requests)? > 0 {}
    assert_eq!(source.fill(&mut requests)?, 0);
    assert_eq!(source.progress(), Some(1.0));
    Ok(requests)
}

fn keeps_rules(entry: &'static Entry) {
    let params: Table = toml::from_str(&format!("requests = {REQUESTS}")).unwrap();
    let choice = Choice::new(entry.name, &params).unwrap();
    let capacity = prop_oneof![1_u64..200, 200_u64..100_000, Just(u64::MAX / 2)];
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) };
    let result = TestRunner::new(config).run(&(capacity, any::<u64>()), |(capacity_blocks, seed)| {
        check(entry.name, &choice, GeneratorSetting { seed, capacity_blocks })
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

fn check(name: &str, choice: &Choice, setting: GeneratorSetting) -> Result<(), TestCaseError> {
    let GeneratorSetting { seed, capacity_blocks } = setting;
    let Ok(requests) = draw(choice, seed, capacity_blocks) else {
        // Only these two generators need a device of some size.
        prop_assert!(matches!(name, "directed-merge" | "directed-same-position") && capacity_blocks < 2_700);
        return Ok(());
    };
    prop_assert_eq!(requests.len() as u64, REQUESTS);
    let make = |setting: GeneratorSetting| choice.build(setting.seed, setting.capacity_blocks);
    let case = Case { setting, max_requests: REQUESTS as usize };
    for rule in &RULES {
        let result = (rule.check)(&make, &case);
        prop_assert!(result.is_ok(), "{} {}", rule.requirement, result.unwrap_err());
    }
    if capacity_blocks > 200 && name != "directed-stream" {
        prop_assert_ne!(&requests, &draw(choice, seed ^ 1, capacity_blocks).unwrap());
    }
    Ok(())
}
