//! Conservation of bytes, messages and time in replays of 1,000 random records.

use crate::clusters::random::{check, text};
use crate::clusters::{Machine, record};
use proptest::prelude::*;
use sledlab_sim::cluster::ClusterHooks;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn components_sum_up_and_threads_change_nothing(
        nodes in 1_usize..6,
        sizes in prop::collection::vec(prop::collection::vec(0_u64..150_000, 5), 3),
        phases in prop::collection::vec(
            (
                prop::collection::vec(
                    (0_u64..200, 0_u64..200, 0_usize..3, 0_usize..4, 0_u64..5000,
                     prop::collection::vec(prop_oneof![Just(0_u64), 0_u64..100_000], 1..6), any::<bool>()),
                    5,
                ),
                0_usize..9,
                0_u64..100_000,
            ),
            1..4,
        ),
        (network, device) in (0_usize..4, 0_usize..3),
        prefetch in 0_u64..17,
        (request_us, startup_ms, message_kb, extent_kb) in (0_u64..200, 0_u64..3, 1_u64..100, 0_u64..40),
        is_at_host in prop::bool::weighted(0.2),
    ) {
        let work = record(&text(nodes, &sizes, &phases));
        let settings_text = [
            ("device.preset", ["ram", "mems-g2", "hp-c2490a"][device].to_owned()),
            ("network.kind", ["ideal", "switch", "hub", "tree"][network].to_owned()),
            ("node.prefetch_pages", prefetch.to_string()),
            ("node.request_us", request_us.to_string()),
            ("node.startup_ms", startup_ms.to_string()),
            ("node.message_kb", message_kb.to_string()),
            ("node.extent_kb", extent_kb.to_string()),
            ("node.block_kb", "16".to_owned()),
            ("node.write_batch_pages", (extent_kb % 7 + 1).to_string()),
            ("node.phase_request_us", format!("phase 1={}", 2 * request_us)),
            ("node.packs_own_tuples", (extent_kb % 2 == 0).to_string()),
            ("node.page_cache_mb", ["0.0", "0.05"][message_kb as usize % 2].to_owned()),
            ("node.byte_cycles", (prefetch % 3).to_string()),
            ("cluster.at", if is_at_host { "host" } else { "nodes" }.to_owned()),
        ];
        let settings: Vec<(&str, &str)> = settings_text.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let machine = Machine::new(&settings);
        let run = |threads| {
            let hooks = ClusterHooks { threads, ..ClusterHooks::default() };
            machine.experiment.run(&work, hooks).unwrap_or_else(|error| panic!("{error}"))
        };
        let single_threaded = run(1);
        check(&single_threaded);
        prop_assert_eq!(serde_json::to_string(&single_threaded).unwrap(), serde_json::to_string(&run(2)).unwrap());
    }
}
