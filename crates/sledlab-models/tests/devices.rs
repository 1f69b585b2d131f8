//! What every kind of device must keep, whoever adds it: each test goes over the list.

use proptest::prelude::*;
use sledlab_core::{Op, Span, Time};
use sledlab_models::device::{
    Busy, Description, Device, DeviceState, Entry, LIST, Mechanics, Queued, Rest, Served, Work,
};
use sledlab_models::scheduler::Choice;
use toml::Table;

/// A device of a kind as it is where a file says no more than `kind`.
fn plain(kind: &Entry) -> Box<dyn Description> {
    (kind.make)(&Table::new()).unwrap()
}

/// Its presets, and what it is without.
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

/// Serves `batch` on an idle mechanism, waking the device as often as it wants.
fn serve(device: &mut dyn Device, now: Time, batch: &[Queued]) -> (Vec<Served>, Busy) {
    let mut served = Vec::new();
    let ready = batch.iter().map(|request| device.admit(now, request)).max().unwrap_or(now);
    let mut busy = device.issue(ready, batch, &mut served);
    while served.len() < batch.len() || busy.is_none() {
        let at = device.next_wakeup().expect("a device that is not done wants to be woken");
        busy = device.wake(at, &mut served).map(|work| Busy { until: at, work }).or(busy);
    }
    (served, busy.unwrap())
}

/// A request that lies on the device, from shares of what can be.
fn request(id: u64, mechanics: &dyn Mechanics, (at, length, op): (f64, u32, Op)) -> Queued {
    let capacity = mechanics.capacity_blocks();
    let lbn = ((capacity as f64 * at) as u64).min(capacity - 1);
    let blocks = length.min(u32::try_from(capacity - lbn).unwrap_or(u32::MAX));
    Queued { id, lbn, blocks, op, ..Queued::default() }
}

fn requests() -> impl Strategy<Value = Vec<(f64, u32, Op)>> {
    prop::collection::vec((0.0..1.0, 1_u32..200, prop_oneof![Just(Op::Read), Just(Op::Write)]), 1..12)
}

/// All that schedulers can ask of a mechanism about a request.
fn asked(mechanics: &dyn Mechanics, request: &Queued) -> impl PartialEq + std::fmt::Debug + use<> {
    let state = mechanics.state();
    (
        (state, mechanics.location(request.lbn), mechanics.positioning(request)),
        (mechanics.positioning_from(state, request), mechanics.serve_from(state, request)),
        (mechanics.tie(request), mechanics.distance_squared((state.x, state.y), request.lbn)),
        mechanics.idle_mw().to_bits(),
    )
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
                let told = serde_json::to_value(spec).unwrap();
                let choice = told["kind"]["choice"].as_array().unwrap();
                choice.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
            }
        };
        let told: Vec<&str> = states.asleep.iter().map(|(word, _)| *word).collect();
        assert_eq!(told, words, "{}", kind.name);
        assert!(states.awake.ends_with('.') && states.asleep.iter().all(|(_, told)| told.ends_with('.')));
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
    fn probes_agree_with_what_is_issued_and_energy_adds_up(said in requests(), gap_us in 0_u64..50_000) {
        for (name, description) in all() {
            let mut device = description.device().unwrap();
            let (mut now, gap) = (Time::from_ns(1_000), Span::from_ns(gap_us * 1_000));
            for (id, said) in said.iter().enumerate() {
                let request = request(id as u64, device.mechanics(), *said);
                let before = asked(device.mechanics(), &request);
                let probed = device.probe(now, &request);
                prop_assert_eq!(before, asked(device.mechanics(), &request), "{}: probing changes it", name);
                let own_work = device.has_own_work();
                let (served, busy) = serve(device.as_mut(), now, &[request]);
                prop_assert_eq!(served.len(), 1);
                let Served { start, completion, timing, energy, .. } = served[0];
                prop_assert_eq!(completion, start + timing.service(), "{}", name);
                if !own_work {
                    prop_assert_eq!((probed, start, completion), (timing, now, busy.until), "{}", name);
                    prop_assert_eq!(busy.work.busy(), timing.service(), "{}", name);
                }
                let spent = device.mechanics().power_rates().spent(&busy.work);
                prop_assert!((spent.total_uj() - energy.total_uj()).abs() <= 1e-9 * spent.total_uj(), "{}", name);
                prop_assert!(energy.startup_uj == 0.0 && energy.seek_uj >= 0.0 && energy.access_uj > 0.0);
                device.rest(if id % 3 == 0 { Rest::Parked } else { Rest::Idle(gap) });
                now = busy.until.max(completion) + gap;
            }
        }
    }

    #[test]
    fn what_schedulers_see_is_pure(said in requests()) {
        for (name, description) in all() {
            let mut device = description.device().unwrap();
            let mut now = Time::ZERO;
            for (id, said) in said.iter().enumerate() {
                let request = request(id as u64, device.mechanics(), *said);
                device.tell_time(now);
                let mechanics = device.mechanics();
                let (extent, at) = (mechanics.extent(), mechanics.location(request.lbn));
                prop_assert!(at.cylinder < extent.cylinders && at.row < extent.rows, "{}: {:?}", name, at);
                let state: DeviceState = mechanics.state();
                prop_assert_eq!(mechanics.positioning(&request), mechanics.positioning_from(state, &request));
                let kept = mechanics.snapshot();
                let before = asked(mechanics, &request);
                let (timing, then) = mechanics.serve_from(state, &request);
                prop_assert_eq!(timing.overhead, Span::ZERO, "{}", name);
                // From another state it is another matter, but never one of this state.
                mechanics.serve_from(then, &request);
                prop_assert_eq!(&before, &asked(mechanics, &request), "{}", name);
                let alone = mechanics.joins(&[], &request) || !mechanics.joins(&[request], &request);
                prop_assert!(alone || mechanics.blocks_at_once() > 1, "{}", name);
                let (_, busy) = serve(device.as_mut(), now, &[request]);
                prop_assert_eq!(&before, &asked(kept.as_ref(), &request), "{}: a snapshot moves on", name);
                now = busy.until;
            }
        }
    }

    #[test]
    fn indexes_choose_as_scans_do(said in requests()) {
        for kind in LIST.iter() {
            for word in ["sptf", "sdf", "p-sptf", "asptf"] {
                let choice = Choice::new(word, &Table::new()).unwrap();
                let mut device = plain(kind).device().unwrap();
                let mut queues = [choice.make(device.mechanics()).unwrap(), choice.make_scan(device.mechanics()).unwrap()];
                for (id, said) in said.iter().enumerate() {
                    let request = request(id as u64, device.mechanics(), *said);
                    for queue in &mut queues {
                        queue.push(request);
                    }
                }
                let mut now = Time::ZERO;
                while !queues[0].is_empty() {
                    device.tell_time(now);
                    let [by_index, by_scan] = [0, 1].map(|queue| {
                        let mut batch = Vec::new();
                        queues[queue].pop(now, device.mechanics(), &mut batch);
                        batch
                    });
                    prop_assert_eq!(&by_index, &by_scan, "{} on {}", word, kind.name);
                    let (_, busy) = serve(device.as_mut(), now, &by_index);
                    prop_assert!(busy.work != Work::default());
                    now = busy.until;
                }
            }
        }
    }
}
