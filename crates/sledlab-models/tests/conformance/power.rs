//! Every power policy.

use libtest_mimic::Trial;
use proptest::prelude::*;
use sledlab_core::Span;
use sledlab_models::power::{Choice, LIST, PowerCosts};
use toml::Table;

use crate::{check_random_cases, test};

pub fn tests() -> Vec<Trial> {
    LIST.iter()
        .map(|entry| test("power", entry.name, "costs_at_least_oracle", || costs_at_least_oracle(entry.name)))
        .collect()
}

/// Energy of an idle period in microjoules, including the start-up that ends it.
fn cost_uj(timeout: Span, length: Span, costs: &PowerCosts) -> f64 {
    let (idle_ms, parked_ms) = (timeout.min(length).as_ms(), length.saturating_sub(timeout).as_ms());
    let startup_uj = if timeout <= length { costs.startup_uj } else { 0.0 };
    costs.idle_mw * idle_ms + costs.inactive_mw * parked_ms + startup_uj
}

/// Energy of idle periods under a policy, in microjoules.
fn total_uj(name: &str, idle_us: &[u64], costs: &PowerCosts) -> f64 {
    let mut policy = Choice::parse(name, Table::new(), 7.0).unwrap().make().unwrap();
    let mut cost = |us: &u64| {
        let length = Span::from_ns(us * 1000);
        let timeout = policy.timeout_in_hindsight(length, false, costs);
        policy.learn(length, timeout, costs);
        cost_uj(timeout, length, costs)
    };
    idle_us.iter().map(&mut cost).sum()
}

fn costs_at_least_oracle(name: &str) {
    // A case that failed once.
    check(name, &[1], 20.0, 0.0).unwrap();
    let idle_us = prop::collection::vec(prop_oneof![1_u64..2_000, 1_u64..100_000], 1..200);
    check_random_cases(256, &(idle_us, 20.0..2_000.0, 0.0..5_000.0), |(idle_us, idle_mw, startup_uj)| {
        check(name, &idle_us, idle_mw, startup_uj)
    });
}

fn check(name: &str, idle_us: &[u64], idle_mw: f64, startup_uj: f64) -> Result<(), TestCaseError> {
    let costs = PowerCosts { idle_mw, inactive_mw: 50.0, startup_uj };
    let (uj, min_uj) = (total_uj(name, idle_us, &costs), total_uj("oracle", idle_us, &costs));
    prop_assert!(uj >= min_uj * (1.0 - 1e-9), "{uj} uJ, the oracle {min_uj} uJ");
    Ok(())
}
