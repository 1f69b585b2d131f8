//! The hash tree, compared with a count by hand.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use sledlab_mining::HashTree;
use sledlab_mining::hash_tree::TreeOperations;

/// Offsets and items of transactions.
fn flatten(transactions: &[Vec<u32>]) -> (Vec<u64>, Vec<u32>) {
    let mut offsets = vec![0];
    offsets.extend(transactions.iter().scan(0, |end, transaction| {
        *end += transaction.len() as u64;
        Some(*end)
    }));
    (offsets, transactions.concat())
}

fn count(tree: &HashTree, transactions: &[Vec<u32>], threads: usize) -> (Vec<u64>, TreeOperations) {
    let (offsets, items) = flatten(transactions);
    let mut counts = vec![0; tree.len()];
    let operations = tree.count(&offsets, &items, &mut counts, threads).expect("counts");
    (counts, operations)
}

fn brute_force_counts(candidates: &[Vec<u32>], transactions: &[Vec<u32>]) -> Vec<u64> {
    let contains = |set: &[u32], items: &[u32]| set.iter().all(|item| items.contains(item));
    candidates
        .iter()
        .map(|set| transactions.iter().filter(|items| contains(set, items)).count() as u64)
        .collect()
}

/// Strictly increasing sets of items.
fn sets(
    universe: u32,
    length: impl Into<proptest::collection::SizeRange>,
    count: usize,
) -> impl Strategy<Value = Vec<Vec<u32>>> {
    let set = btree_set(0..universe, length).prop_map(|set| set.into_iter().collect());
    vec(set, 0..count)
}

/// Length, candidates, transactions. A universe above 64 has several items in a bucket.
fn jobs() -> impl Strategy<Value = (usize, Vec<Vec<u32>>, Vec<Vec<u32>>)> {
    let length_and_universe = (1_usize..=5, prop_oneof![Just(8_u32), Just(20), Just(300)]);
    length_and_universe.prop_flat_map(|(length, universe)| {
        let maximum = if universe == 8 { 8 } else { 20 };
        (Just(length), sets(universe, length, 300), sets(universe, 0..=maximum, 60))
    })
}

/// Sets of numbers with a few common remainders: nearly all share buckets.
fn colliding_jobs() -> impl Strategy<Value = (usize, Vec<Vec<u32>>, Vec<Vec<u32>>)> {
    (2_usize..=4).prop_flat_map(|length| {
        let spread = |sets: Vec<Vec<u32>>| -> Vec<Vec<u32>> {
            let far = |item: u32| item / 4 * 64 + item % 4;
            sets.into_iter().map(|set| set.into_iter().map(far).collect()).collect()
        };
        (Just(length), sets(24, length, 200).prop_map(spread), sets(24, 0..=16, 40).prop_map(spread))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn counts_equal_brute_force((length, candidates, transactions) in jobs()) {
        let tree = HashTree::new(&candidates.concat(), length).expect("a tree");
        prop_assert_eq!(count(&tree, &transactions, 1).0, brute_force_counts(&candidates, &transactions));
    }

    #[test]
    fn candidate_reached_twice_counts_once((length, mut candidates, transactions) in colliding_jobs()) {
        // Other items, enough for buckets to be shared: one of each of 64 numbers in every block.
        candidates.extend((0..384_u32).map(|item| (item..item + length as u32).collect()));
        let expected = brute_force_counts(&candidates, &transactions);
        let tree = HashTree::new(&candidates.concat(), length).expect("a tree");
        prop_assert!(tree.fan_out() < 384);
        prop_assert_eq!(&count(&tree, &transactions, 1).0, &expected);
        for fan_out in [1, 3, 1000] {
            let tree = HashTree::with_fan_out(&candidates.concat(), length, fan_out).expect("a tree");
            prop_assert_eq!(&count(&tree, &transactions, 1).0, &expected);
        }
    }

    #[test]
    fn block_counts_add_up((length, candidates, transactions) in jobs(), cut in 0_usize..60) {
        let tree = HashTree::new(&candidates.concat(), length).expect("a tree");
        let (counts, operations) = count(&tree, &transactions, 1);
        let (front, back) = transactions.split_at(cut.min(transactions.len()));
        let (front, front_operations) = count(&tree, front, 1);
        let (back, back_operations) = count(&tree, back, 1);
        prop_assert_eq!(counts, front.iter().zip(back).map(|(a, b)| a + b).collect::<Vec<_>>());
        prop_assert_eq!(operations, [front_operations, back_operations].into_iter().sum());
    }
}

#[test]
fn thread_count_does_not_change_results() {
    let transactions: Vec<Vec<u32>> = (0..5000_u32)
        .map(|t| (0..400).filter(|item| (item * 7919 + t * 31) % 23 == item % 5).collect())
        .collect();
    let candidates: Vec<u32> =
        (0..399_u32).flat_map(|a| (a + 1..400).step_by(3).flat_map(move |b| [a, b])).collect();
    let tree = HashTree::new(&candidates, 2).expect("a tree");
    let single_threaded = count(&tree, &transactions, 1);
    assert!(single_threaded.0.iter().sum::<u64>() > 0);
    for threads in [0, 2, 3, 7, 1000] {
        assert_eq!(count(&tree, &transactions, threads), single_threaded);
    }
}

#[test]
fn operation_counts_follow_the_paper() {
    // Three pairs are too many for a leaf: an interior root, an interior node for item 0, and a leaf for each pair.
    let candidates: Vec<u32> = (1..=3_u32).flat_map(|b| [0, b]).collect();
    let tree = HashTree::new(&candidates, 2).expect("a tree");
    // Visits: the root; 0, 1 and 2 from there (no item is behind 3); 1, 2 and 3 from the node of 0.
    let (counts, operations) = count(&tree, &[vec![0, 1, 2, 3]], 1);
    assert_eq!((counts, operations), (vec![1, 1, 1], TreeOperations { visits: 7, checks: 3 }));
    // Too few items of the transactions occur in candidates: no node is visited.
    assert_eq!(count(&tree, &[vec![0, 9], vec![]], 1).1, TreeOperations::default());
    // Two candidates fit into a leaf, the root.
    let small = HashTree::new(&candidates[..4], 2).expect("a tree");
    let (counts, operations) = count(&small, &[vec![0, 2]], 1);
    assert_eq!((counts, operations), (vec![0, 1], TreeOperations { visits: 1, checks: 2 }));
}

#[test]
fn empty_input_gives_zero_counts() {
    let empty = HashTree::new(&[], 3).expect("a tree");
    assert!(empty.is_empty());
    assert_eq!(count(&empty, &[vec![1, 2, 3]], 2), (vec![], TreeOperations::default()));
    let tree = HashTree::new(&[4, 5], 2).expect("a tree");
    assert_eq!(count(&tree, &[], 2), (vec![0], TreeOperations::default()));
    // The same candidate twice, longer than the deepest split.
    let long: Vec<u32> = (0..3).flat_map(|_| 0..100).collect();
    let tree = HashTree::new(&long, 100).expect("a tree");
    assert_eq!(count(&tree, &[(0..120).collect()], 1).0, [1, 1, 1]);
}

#[test]
fn malformed_input_is_rejected() {
    let error_message = |candidates: &[u32], length| {
        HashTree::new(candidates, length).expect_err("an error").message().to_owned()
    };
    assert_eq!(error_message(&[1], 0), "candidates of 0 items");
    assert_eq!(error_message(&[1, 2, 3], 2), "3 items are not a multiple of the candidate length 2");
    assert_eq!(error_message(&[1, 2, 4, 4], 2), "the items of candidate 1 do not increase strictly");
    assert_eq!(error_message(&[u32::MAX], 1), "candidate 0 has item 4294967295");
    let error = HashTree::with_fan_out(&[1], 1, 0).expect_err("an error");
    assert_eq!(error.message(), "a fan-out of 0 is out of range");
    let tree = HashTree::new(&[1, 2], 2).expect("a tree");
    let error_message = |offsets: &[u64], items: &[u32], counts: &mut [u64]| {
        tree.count(offsets, items, counts, 1).expect_err("an error").message().to_owned()
    };
    assert_eq!(error_message(&[], &[], &mut [0]), "no offsets");
    assert_eq!(error_message(&[0, 2, 1], &[1, 2], &mut [0]), "transaction 1 ends before it begins");
    assert_eq!(
        error_message(&[0, 3], &[1, 2], &mut [0]),
        "the last transaction ends at item 3, and there are 2"
    );
    assert_eq!(error_message(&[0, 2], &[1, 2], &mut []), "0 counts for 1 candidates");
    let mut counts = [7];
    let error = error_message(&[0, 2, 4], &[1, 2, 2, 1], &mut counts);
    assert_eq!(error, "the items of transaction 1 do not increase strictly");
    assert_eq!(counts, [7]);
}
