//! The rules that every kind of device must keep: each test goes over the list.

use proptest::prelude::*;
use sledlab_core::conformance::Rule;
use sledlab_core::{Op, Span};
use sledlab_models::conformance::device::{Case, Check, RULES, Wanted};
use sledlab_models::device::{Description, Entry, LIST};
use toml::Table;

/// The rules before the last one are held on presets too; indexes are compared with exhaustive searches on plain devices.
const ON_PLAIN_KINDS: usize = RULES.len() - 1;

/// A device of a kind with all default parameters, as from a file with only `kind`.
fn plain(kind: &Entry) -> Box<dyn Description> {
    (kind.make)(&Table::new()).unwrap()
}

/// For every kind of device, all presets and the default device, each with its name.
fn all() -> impl Iterator<Item = (&'static str, Box<dyn Description>)> {
    LIST.iter().flat_map(|kind| {
        let presets = kind.facts.presets.iter().map(|(name, text)| {
            let mut table: Table = text.parse().unwrap();
            table.retain(|key, _| !["kind", "name", "description"].contains(&key));
            (*name, (kind.make)(&table).unwrap())
        });
        presets.chain([(kind.name, plain(kind))])
    })
}

/// Requests anywhere on a device, with a rest between them.
fn cases() -> impl Strategy<Value = Case> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write)];
    let request = (0.0..1.0, 1_u32..200, op).prop_map(|(at, blocks, op)| Wanted { at, blocks, op });
    let gap = (0_u64..50_000).prop_map(|us| Span::from_ns(us * 1_000));
    (prop::collection::vec(request, 1..12), gap).prop_map(|(requests, gap)| Case { requests, gap })
}

/// Checks a device against a rule.
fn hold(
    rule: &Rule<Check>,
    name: &str,
    description: &dyn Description,
    case: &Case,
) -> Result<(), TestCaseError> {
    let kept = (rule.check)(&|| description.device(), case);
    kept.map_err(|broken| TestCaseError::fail(format!("{name}: {} {broken}", rule.says)))
}

#[test]
fn descriptions_read_back_and_build() {
    for (name, description) in all() {
        let kind = LIST.find(description.kind()).unwrap();
        let table = description.to_table();
        let again = (kind.make)(&table).unwrap();
        assert_eq!((&*again, &again.to_table()), (&*description, &table), "{name}");
        assert_eq!(*description.clone(), *description, "{name}");
        for spec in (kind.specs)() {
            assert!(table.contains_key(spec.name), "{name}: {}", spec.name);
        }
        assert!(description.idle_timeout_ms() >= 0.0, "{name}");
        let device = description.device().unwrap();
        let (mechanics, extent) = (device.mechanics(), device.mechanics().extent());
        assert!(mechanics.capacity_blocks() >= 1 && mechanics.blocks_at_once() >= 1, "{name}");
        assert!(extent.cylinders >= 1 && extent.rows >= 1 && extent.blocks_per_track >= 1, "{name}");
    }
}

#[test]
fn words_cover_every_state_and_name_parts_of_a_timing() {
    const PARTS: [&str; 5] = ["seek_x", "settle", "seek_y", "turnaround", "rotation"];
    for kind in LIST.iter() {
        let (states, positioning) = (kind.facts.states, kind.facts.positioning);
        let words = match states.rest {
            None => vec!["inactive".to_owned()],
            Some(rest) => {
                let specs = (kind.specs)();
                let spec = specs.iter().find(|spec| spec.name == rest).unwrap();
                let json = serde_json::to_value(spec).unwrap();
                let choice = json["kind"]["choice"].as_array().unwrap();
                choice.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
            }
        };
        let asleep: Vec<&str> = states.asleep.iter().map(|(word, _)| *word).collect();
        assert_eq!(asleep, words, "{}", kind.name);
        assert!(states.awake.ends_with('.') && states.asleep.iter().all(|(_, text)| text.ends_with('.')));
        assert!(positioning.parts.iter().all(|(_, part)| PARTS.contains(part)), "{}", kind.name);
        assert_eq!(positioning.meaning.is_empty(), positioning.parts.is_empty(), "{}", kind.name);
    }
}

#[test]
fn units_hold_every_block_once() {
    let mut seen = 0;
    for (kind, changes) in
        [("mems", "sleds = 3"), ("mems", "sleds = 2\nsled_map = 'round-robin'\nstripe_blocks = 7")]
    {
        let description = (LIST.find(kind).unwrap().make)(&changes.parse().unwrap()).unwrap();
        let units = description.units().unwrap().unwrap();
        let each = units.each.device().unwrap().mechanics().capacity_blocks();
        assert!(units.each.units().unwrap().is_none(), "units of a unit");
        assert!(units.map.capacity_blocks() <= each * units.count as u64);
        for lbn in (0..units.map.capacity_blocks()).step_by(99_991) {
            let (unit, local) = units.map.locate(lbn);
            assert!(unit < units.count && local < each);
            let run = units.map.split(lbn, 1)[0];
            assert_eq!((run.unit, run.lbn, run.blocks), (unit, local, 1));
            seen += 1;
        }
    }
    assert!(seen > 100);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_device_keeps_the_rules(case in cases()) {
        for (name, description) in all() {
            for rule in &RULES[..ON_PLAIN_KINDS] {
                hold(rule, name, &*description, &case)?;
            }
        }
    }

    #[test]
    fn indexes_choose_as_searches_do(case in cases()) {
        for kind in LIST.iter() {
            hold(&RULES[ON_PLAIN_KINDS], kind.name, &*plain(kind), &case)?;
        }
    }
}

/// The rules for plug-ins hold for all listed devices too.
#[test]
fn every_device_keeps_the_rules_in_cases_of_a_seed() {
    for case in (0..4).map(|number| Case::random(1, number)) {
        for (name, description) in all() {
            for rule in RULES.iter().filter(|rule| rule.of_plug_ins) {
                hold(rule, name, &*description, &case).unwrap();
            }
        }
    }
}
