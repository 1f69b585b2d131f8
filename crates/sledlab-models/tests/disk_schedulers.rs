//! The position index of a disk chooses as an exhaustive search does.

use proptest::prelude::*;
use sledlab_models::device::Aim;

use crate::disk_index_comparison::{DISKS, compare_index_with_search, disk};

#[test]
fn disks_have_indexes_for_times_and_distances() {
    for name in DISKS {
        let device = disk(name);
        for aim in [Aim::Time, Aim::Distance] {
            assert!(device.mechanics().position_index(&aim).is_some(), "{name}");
        }
    }
}

#[test]
fn index_and_search_agree_for_joint_service() {
    for word in ["sptf:batch=same-position", "sdf:batch=same-position"] {
        compare_index_with_search(word, "atlas-10k", 60, 300, 3, true);
    }
}

#[test]
fn index_and_search_agree_at_depth() {
    for name in DISKS {
        for is_crowded in [false, true] {
            compare_index_with_search("sptf", name, 3_000, 3_400, 4, is_crowded);
            compare_index_with_search("sdf", name, 1_000, 1_400, 5, is_crowded);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn index_and_search_agree_on_any_queue(
        name in prop::sample::select(DISKS.to_vec()), depth in 1_usize..400, is_crowded: bool, root: u64,
    ) {
        compare_index_with_search("sptf", name, depth, depth + 60, root, is_crowded);
        compare_index_with_search("sdf", name, depth, depth + 60, root, is_crowded);
    }
}
