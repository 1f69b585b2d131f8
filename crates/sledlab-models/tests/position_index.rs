//! The position index chooses as an exhaustive search does, in every state.

use crate::index_comparison::{ComparisonOptions, device};
use proptest::prelude::*;
use sledlab_core::params::{Choices, Params};
use sledlab_models::device::Aim;
use sledlab_models::device::mems::params::LayoutKind;
use sledlab_models::device::mems::{self, MemsParams};
use toml::Table;

/// One scheduler for every kind of score, and for times and distances.
const WORDS: [&str; 9] = [
    "sptf",
    "sdf",
    "asptf",
    "wstf:max_wait_ms=10",
    "p-sptf",
    "pa-sptf",
    "p-alpha",
    "p-alpha:alpha=0.1",
    "p-alpha:alpha=2.5",
];

fn compare(text: &str, depth: usize, picks: usize, root: u64, is_crowded: bool) {
    assert!(device(text).mechanics().position_index(&Aim::Time).is_some(), "no index for {text}");
    for word in WORDS {
        crate::index_comparison::compare_index_with_search(
            word,
            &ComparisonOptions { text, depth, picks, root, is_crowded },
        );
    }
}

#[test]
fn index_equals_search_for_all_layouts_and_directions() {
    for layout in ["row-first", "streaming", "y-sequential"] {
        for direction in ["free", "parity", "up"] {
            for idle_params in ["", "parking = 'center'\nidle_motion = 'disksim-drift'"] {
                let text = format!("layout = '{layout}'\ndirection = '{direction}'\n{idle_params}");
                compare(&text, 60, 300, 1, false);
                compare(&text, 200, 300, 2, true);
            }
        }
    }
}

#[test]
fn index_equals_search_on_other_devices() {
    let g3 = "bit_nm = 30\nactive_tips = 3200\nacceleration_x_m_s2 = 1033.2\n\
              tip_rate_kbit_s = 1000\nresonant_hz = 1108";
    let sleds = "sleds = 3\nsled_motion = 'together'\nsled_map = 'round-robin'\nstripe_blocks = 4";
    let unsettled = "settle_constants = 0\nspring_factor = 0";
    let curve = "selection = 'curve'\nparking = 'center'\nidle_motion = 'disksim-drift'";
    let ratio = "selection = 'ratio'\ndirection = 'parity'";
    let closed = "kinematics = 'disksim-closed'";
    for text in [g3, sleds, unsettled, closed, "command_overhead_ms = 0.2", curve, ratio] {
        compare(text, 100, 400, 3, false);
        compare(text, 300, 400, 4, true);
    }
}

#[test]
fn index_equals_search_at_depth() {
    compare("", 20_000, 30, 5, false);
    compare("direction = 'parity'", 20_000, 30, 6, true);
}

#[test]
fn index_equals_search_with_many_overdue_requests() {
    for (text, root, is_crowded) in [("", 7, false), ("direction = 'parity'", 8, false), ("", 9, true)] {
        let options = ComparisonOptions { text, depth: 100_000, picks: 12, root, is_crowded };
        crate::index_comparison::compare_index_with_search("wstf:max_wait_ms=10", &options);
    }
}

#[test]
fn search_is_used_without_exact_index() {
    for text in ["kinematics = 'disksim-piecewise'", "kinematics = 'piecewise'", "selection = 'disksim'"] {
        assert!(device(text).mechanics().position_index(&Aim::Time).is_none(), "{text}");
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
    fn index_equals_search_on_any_sled(
        bit_nm in 30.0..400.0, travel in 5.0..100.0, servo in 0_u64..30, sector in 20_u64..200,
        spring in 0.0..0.99, acceleration in 1.0..5000.0, rate in 1.0..5000.0, settle in 0.0..3.0,
        layout in 0_usize..LayoutKind::WORDS.len(), direction in 0_usize..3, selection in 0_usize..3,
        depth in 1_usize..150, is_crowded: bool, root: u64,
    ) {
        let layout = LayoutKind::WORDS[layout];
        let selection = ["exact", "curve", "ratio"][selection];
        let direction = ["free", "parity", "up"][direction];
        let text = format!(
            "bit_nm = {bit_nm:?}\ntravel_x_um = {travel:?}\ntravel_y_um = {travel:?}\nservo_bits = {servo}\n\
             tip_sector_bits = {sector}\nspring_factor = {spring:?}\nacceleration_x_m_s2 = {acceleration:?}\n\
             acceleration_y_m_s2 = {acceleration:?}\ntip_rate_kbit_s = {rate:?}\nsettle_constants = {settle:?}\n\
             layout = '{layout}'\ndirection = '{direction}'\n\
             selection = '{selection}'"
        );
        let params = MemsParams::from_table("device", &text.parse::<Table>().unwrap()).unwrap();
        prop_assume!(mems::build(&params).is_ok());
        compare(&text, depth, 60, root, is_crowded);
    }
}
