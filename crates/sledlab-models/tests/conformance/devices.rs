//! Every kind of device, its presets included.

use libtest_mimic::Trial;
use proptest::prelude::*;
use sledlab_core::conformance::Rule;
use sledlab_core::{Op, Span};
use sledlab_models::conformance::device::{Case, Check, RULES, RequestShape};
use sledlab_models::device::{Description, Entry, LIST};
use toml::Table;

use crate::{NamedCheck, check_random_cases, test};

/// The last rule compares indexes with exhaustive searches, on devices with default parameters only.
const PRESET_RULES: usize = RULES.len() - 1;

/// Random cases of each rule.
const CASES: u32 = 24;

pub fn tests() -> Vec<Trial> {
    let checks: [NamedCheck<Entry>; 5] = [
        ("description", descriptions_read_back_and_build),
        ("states", words_cover_every_state),
        ("rules", keeps_rules),
        ("plug_in_rules", keeps_rules_of_plug_ins),
        ("index", index_chooses_as_search),
    ];
    LIST.iter()
        .flat_map(|kind| checks.map(|(check, run)| test("device", kind.name, check, move || run(kind))))
        .collect()
}

/// A device of a kind with all default parameters, as from a file with only `kind`.
fn default_device(kind: &Entry) -> Box<dyn Description> {
    (kind.make)(&Table::new()).unwrap()
}

/// All presets of a kind and the default device, each with its name.
fn all_devices(kind: &Entry) -> impl Iterator<Item = (&'static str, Box<dyn Description>)> {
    let presets = kind.facts.presets.iter().map(|(name, text)| {
        let mut table: Table = text.parse().unwrap();
        table.retain(|key, _| !["kind", "name", "description"].contains(&key));
        // A disk that holds several commands completes them at events, which the rules do not simulate.
        if kind.name == "disk" {
            table.insert("queue_depth".to_owned(), 1.into());
        }
        (*name, (kind.make)(&table).unwrap())
    });
    presets.chain([(kind.name, default_device(kind))])
}

/// Requests anywhere on a device, with an idle period between them.
fn cases() -> impl Strategy<Value = Case> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write)];
    let request =
        (0.0..1.0, 1_u32..200, op).prop_map(|(at, blocks, op)| RequestShape { position: at, blocks, op });
    let gap = (0_u64..50_000).prop_map(|us| Span::from_ns(us * 1_000));
    (prop::collection::vec(request, 1..12), gap).prop_map(|(requests, gap)| Case { requests, gap })
}

fn check(
    rule: &Rule<Check>,
    name: &str,
    description: &dyn Description,
    case: &Case,
) -> Result<(), TestCaseError> {
    let outcome = (rule.check)(&|| description.device(), case);
    outcome.map_err(|violation| TestCaseError::fail(format!("{name}: {} {violation}", rule.requirement)))
}

fn descriptions_read_back_and_build(kind: &'static Entry) {
    for (name, description) in all_devices(kind) {
        assert_eq!(description.kind(), kind.name, "{name}");
        let table = description.to_table();
        let read_back = (kind.make)(&table).unwrap();
        assert_eq!((&*read_back, &read_back.to_table()), (&*description, &table), "{name}");
        assert_eq!(*description.clone(), *description, "{name}");
        for spec in (kind.specs)() {
            assert!(table.contains_key(spec.name), "{name}: {}", spec.name);
        }
        assert!(description.idle_timeout_ms() >= 0.0, "{name}");
        let device = description.device().unwrap();
        let (mechanics, extent) = (device.mechanics(), device.mechanics().extent());
        assert!(mechanics.capacity_blocks() >= 1 && mechanics.parallel_blocks() >= 1, "{name}");
        assert!(extent.cylinders >= 1 && extent.rows >= 1 && extent.blocks_per_track >= 1, "{name}");
    }
}

/// Words for states cover all states, and words for positioning name parts of a timing.
fn words_cover_every_state(kind: &'static Entry) {
    const PARTS: [&str; 5] = ["seek_x", "settle", "seek_y", "turnaround", "rotation"];
    let (states, positioning) = (kind.facts.states, kind.facts.positioning);
    let inactive_words = match states.inactive_parameter {
        None => vec!["inactive".to_owned()],
        Some(parameter) => {
            let specs = (kind.specs)();
            let spec = specs.iter().find(|spec| spec.name == parameter).unwrap();
            let json = serde_json::to_value(spec).unwrap();
            let choice = json["kind"]["choice"].as_array().unwrap();
            choice.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
        }
    };
    let inactive: Vec<&str> = states.inactive.iter().map(|(word, _)| *word).collect();
    assert_eq!(inactive, inactive_words);
    assert!(states.active.ends_with('.') && states.inactive.iter().all(|(_, text)| text.ends_with('.')));
    assert!(positioning.parts.iter().all(|(_, part)| PARTS.contains(part)));
    assert_eq!(positioning.meaning.is_empty(), positioning.parts.is_empty());
}

fn keeps_rules(kind: &'static Entry) {
    check_random_cases(CASES, &cases(), |case| {
        for (name, description) in all_devices(kind) {
            for rule in &RULES[..PRESET_RULES] {
                check(rule, name, &*description, &case)?;
            }
        }
        Ok(())
    });
}

/// The cases that `sledlab check` draws for plug-ins.
fn keeps_rules_of_plug_ins(kind: &'static Entry) {
    for case in (0..4).map(|number| Case::random(1, number)) {
        for (name, description) in all_devices(kind) {
            for rule in RULES.iter().filter(|rule| rule.applies_to_plug_ins) {
                check(rule, name, &*description, &case).unwrap();
            }
        }
    }
}

fn index_chooses_as_search(kind: &'static Entry) {
    check_random_cases(CASES, &cases(), |case| {
        check(&RULES[PRESET_RULES], kind.name, &*default_device(kind), &case)
    });
}
