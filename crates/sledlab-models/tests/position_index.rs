//! The position index makes the choices of a scan of all requests, in every state.

use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::params::Params;
use sledlab_core::{Op, Span, Time, seed};
use sledlab_models::device::mems::{self, MemsParams};
use sledlab_models::device::{Device, Queued, Rest};
use sledlab_models::scheduler;
use toml::Table;

fn device(text: &str) -> Box<dyn Device> {
    let params = MemsParams::from_table("device", &text.parse::<Table>().unwrap()).unwrap();
    mems::build(&params).unwrap()
}

/// Keeps about `depth` requests queued on both schedulers and serves what they agree on, `picks` times.
fn race(text: &str, depth: usize, picks: usize, root: u64, crowded: bool) {
    let mut device = device(text);
    assert!(device.position_index().is_some(), "no index for {text}");
    let list = |name| scheduler::build(name, &Table::new()).unwrap().make(device.as_ref());
    let (mut index, mut scan) = (list("sptf"), list("sptf-scan"));
    let mut rng = seed::stream(root, "race");
    let capacity = device.capacity_blocks();
    let (mut id, mut served, mut now) = (0, Vec::new(), Time::ZERO);
    let (mut from_index, mut from_scan) = (Vec::new(), Vec::new());
    for pick in 0..picks {
        while index.len() < depth {
            // Crowded requests share few columns and rows: many are at the same place, many times are equal.
            let near = capacity / 2 + rng.random_range(0..(capacity / 50).max(1));
            let lbn = if crowded { near } else { rng.random_range(0..capacity) };
            let blocks = rng.random_range(1..=40_u32).min((capacity - lbn) as u32);
            let request = Queued { id, arrival: now, queued: now, lbn, blocks, op: Op::Read };
            index.push(request);
            scan.push(request);
            id += 1;
        }
        index.pop(now, device.as_ref(), &mut from_index);
        scan.pop(now, device.as_ref(), &mut from_scan);
        assert_eq!(from_index, from_scan, "pick {pick} of {text} from {:?}", device.state());
        let probed = device.probe(&from_index[0]);
        let busy = device.issue(now, &from_index, &mut served).unwrap();
        let issued = served.pop().unwrap();
        assert_eq!(probed, issued.timing, "probe and issue disagree");
        assert_eq!(issued.completion, issued.start + issued.timing.service());
        assert_eq!(busy.work.busy(), issued.completion.since(issued.start));
        now = busy.until;
        if pick % 7 == 0 {
            device.rest(Rest::Parked);
        } else if pick % 5 == 0 {
            device.rest(Rest::Idle(Span::from_ns(pick as u64 * 7919)));
        }
        from_index.clear();
        from_scan.clear();
    }
}

#[test]
fn agrees_with_the_scan_for_every_layout_and_direction() {
    for layout in ["row-first", "streaming", "y-sequential"] {
        for direction in ["free", "parity", "up"] {
            for rest in ["", "parking = 'centre'\nidle_motion = 'disksim-drift'"] {
                let text = format!("layout = '{layout}'\ndirection = '{direction}'\n{rest}");
                race(&text, 60, 300, 1, false);
                race(&text, 200, 300, 2, true);
            }
        }
    }
}

#[test]
fn agrees_with_the_scan_on_other_devices() {
    let g3 = "bit_nm = 30\nactive_tips = 3200\nacceleration_x_m_s2 = 1033.2\ntip_rate_kbit_s = 1000\nresonant_hz = 1108";
    let sleds = "sleds = 3\nsled_motion = 'together'\nsled_map = 'round-robin'\nstripe_blocks = 4";
    let unsettled = "settle_constants = 0\nspring_factor = 0";
    for text in [g3, sleds, unsettled, "kinematics = 'disksim-closed'", "command_overhead_ms = 0.2"] {
        race(text, 100, 400, 3, false);
        race(text, 300, 400, 4, true);
    }
}

#[test]
fn agrees_with_the_scan_at_depth() {
    race("", 20_000, 60, 5, false);
    race("direction = 'parity'", 20_000, 60, 6, true);
}

#[test]
fn scans_where_no_index_is_exact() {
    for text in ["kinematics = 'disksim-piecewise'", "kinematics = 'piecewise'", "selection = 'disksim'"] {
        assert!(device(text).position_index().is_none(), "{text}");
    }
}

#[test]
fn refuses_a_sled_too_slow_to_tabulate() {
    let slow = "acceleration_y_m_s2 = 0.001\nspring_factor = 0".parse::<Table>().unwrap();
    let params = MemsParams::from_table("device", &slow).unwrap();
    let error = mems::build(&params).err().unwrap();
    assert!(error.to_string().contains("too slow"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn agrees_with_the_scan_on_any_sled(
        bit_nm in 30.0..400.0, travel in 5.0..100.0, servo in 0_u64..30, sector in 20_u64..200,
        spring in 0.0..0.99, acceleration in 1.0..5000.0, rate in 1.0..5000.0, settle in 0.0..3.0,
        layout in 0_usize..3, direction in 0_usize..3, depth in 1_usize..150, crowded: bool, root: u64,
    ) {
        let layout = ["row-first", "streaming", "y-sequential"][layout];
        let direction = ["free", "parity", "up"][direction];
        let text = format!(
            "bit_nm = {bit_nm:?}\ntravel_x_um = {travel:?}\ntravel_y_um = {travel:?}\nservo_bits = {servo}\n\
             tip_sector_bits = {sector}\nspring_factor = {spring:?}\nacceleration_x_m_s2 = {acceleration:?}\n\
             acceleration_y_m_s2 = {acceleration:?}\ntip_rate_kbit_s = {rate:?}\nsettle_constants = {settle:?}\n\
             layout = '{layout}'\ndirection = '{direction}'"
        );
        let params = MemsParams::from_table("device", &text.parse::<Table>().unwrap()).unwrap();
        prop_assume!(mems::build(&params).is_ok());
        race(&text, depth, 60, root, crowded);
    }
}
