//! Properties that the data of the generators must satisfy.

use sledlab_mining::{BLOCK, Boxes, BoxesParams, HashTree, Quest, QuestParams};

fn transactions(seed: u64, params: QuestParams, blocks: u64) -> (Vec<u32>, Vec<u32>) {
    let quest = Quest::new(seed, params).expect("a data set");
    let (mut lengths, mut items) = (Vec::new(), Vec::new());
    for index in 0..blocks {
        quest.block(index, BLOCK, &mut lengths, &mut items).expect("a block");
    }
    (lengths, items)
}

fn offsets(lengths: &[u32]) -> Vec<u64> {
    let mut offsets = vec![0];
    offsets.extend(lengths.iter().scan(0, |end, &length| {
        *end += u64::from(length);
        Some(*end)
    }));
    offsets
}

#[test]
fn transactions_match_their_parameters() {
    let params = QuestParams::default();
    let (lengths, items) = transactions(3, params, 25);
    let mean = items.len() as f64 / lengths.len() as f64;
    assert!((mean / 20.0 - 1.0).abs() < 0.005, "{mean}");
    assert_eq!(lengths.iter().max(), Some(&25));
    assert_eq!(lengths.iter().sum::<u32>() as usize, items.len());
    assert!(items.iter().all(|&item| item < params.universe));
    for bounds in offsets(&lengths).windows(2) {
        assert!(items[bounds[0] as usize..bounds[1] as usize].is_sorted_by(|a, b| a < b));
    }
}

#[test]
fn mean_length_is_exact_for_other_lengths() {
    for (length, longest) in [(1, 1), (1, 5), (5, 5), (5, 6), (10, 40), (100, 110)] {
        let (lengths, items) = transactions(1, QuestParams { length, longest, ..QuestParams::default() }, 3);
        let mean = items.len() as f64 / lengths.len() as f64;
        assert!((mean / f64::from(length) - 1.0).abs() < 0.005, "{length} of at most {longest}: {mean}");
        assert!(lengths.iter().all(|one| (1..=longest).contains(one)));
    }
}

#[test]
fn small_universe_gives_valid_transactions() {
    for (universe, length) in [(25, 20), (25, 25), (1, 1)] {
        let longest = universe.min(25);
        let pattern_length = 4.0_f64.min(f64::from(universe));
        let params = QuestParams { universe, length, longest, pattern_length, ..QuestParams::default() };
        let (lengths, items) = transactions(1, params, 1);
        assert_eq!(lengths.len(), BLOCK);
        assert!(items.iter().all(|&item| item < universe));
    }
    // All items of every pattern are omitted.
    let params = QuestParams { corruption: 1.0, patterns: 1, ..QuestParams::default() };
    assert!(transactions(1, params, 1).0.iter().all(|&length| length > 0));
}

#[test]
fn transactions_depend_on_seed_and_position() {
    let params = QuestParams::default();
    let (lengths, items) = transactions(5, params, 3);
    assert_eq!(transactions(5, params, 3), (lengths.clone(), items.clone()));
    assert_ne!(transactions(6, params, 3).1, items);
    let (mut first_lengths, mut first_items) = (Vec::new(), Vec::new());
    Quest::new(5, params)
        .expect("a data set")
        .block(2, 100, &mut first_lengths, &mut first_items)
        .expect("a block");
    assert_eq!(first_lengths, lengths[2 * BLOCK..][..100]);
    let first = lengths[..2 * BLOCK].iter().sum::<u32>() as usize;
    assert_eq!(first_items, items[first..][..first_items.len()]);
}

/// The share of transactions that hold each set of `length` items, the largest first.
fn supports(params: QuestParams, length: usize) -> Vec<f64> {
    let (lengths, items) = transactions(1, params, 5);
    let singles: Vec<u32> = (0..params.universe).collect();
    let sets: Vec<u32> = match length {
        1 => singles,
        _ => singles.iter().flat_map(|&a| (a + 1..params.universe).flat_map(move |b| [a, b])).collect(),
    };
    let tree = HashTree::new(&sets, length).expect("a tree");
    let mut counts = vec![0; tree.len()];
    tree.count(&offsets(&lengths), &items, &mut counts, 0).expect("counts");
    let mut shares: Vec<f64> = counts.iter().map(|&count| count as f64 / lengths.len() as f64).collect();
    shares.sort_unstable_by(|a, b| b.total_cmp(a));
    shares
}

#[test]
fn items_of_a_pattern_occur_in_same_transactions() {
    let params = QuestParams { universe: 200, patterns: 100, ..QuestParams::default() };
    let (single, pair) = (supports(params, 1), supports(params, 2));
    // If items were bought independently, even the two most frequent ones would occur together less often.
    assert!(pair[0] > 1.2 * single[0] * single[1], "{} {} {}", pair[0], single[0], single[1]);
    assert!(pair[0] > 0.05);
}

#[test]
fn contradictory_quest_parameters_are_rejected() {
    let error_message = |change: &dyn Fn(&mut QuestParams)| {
        let mut params = QuestParams::default();
        change(&mut params);
        Quest::new(1, params).expect_err("an error").message().to_owned()
    };
    assert_eq!(
        error_message(&|params| params.universe = 24),
        "transactions of up to 25 items do not fit a universe of 24"
    );
    assert_eq!(error_message(&|params| params.universe = 0), "universe = 0 is out of range");
    assert_eq!(error_message(&|params| params.patterns = 0), "patterns = 0 is out of range");
    assert_eq!(
        error_message(&|params| params.length = 0),
        "transactions of 0 items on average are impossible with at most 25 items"
    );
    assert_eq!(
        error_message(&|params| params.length = 26),
        "transactions of 26 items on average are impossible with at most 25 items"
    );
    assert_eq!(
        error_message(&|params| params.pattern_length = f64::NAN),
        "patterns of NaN items do not fit a universe of 1000"
    );
    assert_eq!(
        error_message(&|params| params.patterns = 10_000_000),
        "10000000 patterns of 4 items are too large"
    );
    assert_eq!(
        error_message(&|params| params.correlation = 1.5),
        "a correlation of 1.5 is not between 0 and 1"
    );
    assert_eq!(
        error_message(&|params| params.corruption = -0.5),
        "a corruption of -0.5 is not between 0 and 1"
    );
    let quest = Quest::new(1, QuestParams::default()).expect("a data set");
    let error = quest.block(0, BLOCK + 1, &mut Vec::new(), &mut Vec::new()).expect_err("an error");
    assert_eq!(error.message(), "count 4097 exceeds the block size of 4096");
}

fn records(seed: u64, params: BoxesParams, blocks: u64) -> Vec<f32> {
    let boxes = Boxes::new(seed, params).expect("a data set");
    let mut records = Vec::new();
    for index in 0..blocks {
        boxes.block(index, BLOCK, &mut records).expect("a block");
    }
    records
}

#[test]
fn boxes_do_not_overlap() {
    let crowded = BoxesParams { dims: 8, clusters: 10, cluster_dims: 5, ..BoxesParams::default() };
    for (seed, params) in (0..20).flat_map(|seed| [(seed, BoxesParams::default()), (seed, crowded)]) {
        let boxes = Boxes::new(seed, params).expect("a data set");
        let planted = boxes.clusters();
        assert_eq!(planted.len(), params.clusters);
        for (place, planted_box) in planted.iter().enumerate() {
            assert_eq!((planted_box.dims.len(), planted_box.lows.len(), planted_box.highs.len()), (5, 5, 5));
            assert!(planted_box.dims.is_sorted_by(|a, b| a < b));
            assert!(planted[..place].iter().all(|other| other.dims != planted_box.dims));
            for other in &planted[..place] {
                for (a, dim) in planted_box.dims.iter().enumerate() {
                    let Some(b) = other.dims.iter().position(|its_dim| its_dim == dim) else { continue };
                    let distance =
                        (planted_box.lows[a] - other.highs[b]).max(other.lows[b] - planted_box.highs[a]);
                    assert!(distance >= 2.0 - 1e-9, "{distance}");
                }
            }
            for (low, high) in planted_box.lows.iter().zip(&planted_box.highs) {
                assert!(*low >= 0.0 && *high <= 100.0 + 1e-9 && (high - low - 10.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn records_are_inside_their_boxes() {
    let params = BoxesParams::default();
    let records = records(2, params, 10);
    assert!(records.iter().all(|&value| (0.0..100.0).contains(&value)));
    let boxes = Boxes::new(2, params).expect("a data set");
    let count = records.len() / params.dims;
    for planted in boxes.clusters() {
        let is_inside = |record: &&[f32]| {
            let bounds = planted.lows.iter().zip(&planted.highs);
            planted
                .dims
                .iter()
                .zip(bounds)
                .all(|(&dim, (low, high))| (*low..*high).contains(&f64::from(record[dim])))
        };
        let share = records.chunks(params.dims).filter(is_inside).count() as f64 / count as f64;
        // Nine tenths of the records are in five clusters, and hardly any other record is inside by chance.
        assert!((share - 0.18).abs() < 0.01, "{share}");
    }
    let noise = BoxesParams { noise: 1.0, ..params };
    let mean = self::records(2, noise, 2).iter().map(|&value| f64::from(value)).sum::<f64>()
        / (2.0 * BLOCK as f64 * 20.0);
    assert!((mean - 50.0).abs() < 0.3, "{mean}");
}

#[test]
fn records_depend_on_seed_and_position() {
    let params = BoxesParams::default();
    let all = records(5, params, 3);
    assert_eq!(records(5, params, 3), all);
    assert_ne!(records(6, params, 3), all);
    let mut first_records = Vec::new();
    Boxes::new(5, params).expect("a data set").block(2, 100, &mut first_records).expect("a block");
    assert_eq!(first_records, all[2 * BLOCK * 20..][..100 * 20]);
}

#[test]
fn contradictory_box_parameters_are_rejected() {
    let error_message = |change: &dyn Fn(&mut BoxesParams)| {
        let mut params = BoxesParams::default();
        change(&mut params);
        Boxes::new(1, params).expect_err("an error").message().to_owned()
    };
    assert_eq!(error_message(&|params| params.dims = 0), "5 clusters in 0 dimensions are out of range");
    assert_eq!(
        error_message(&|params| params.cluster_dims = 21),
        "cluster_dims = 21 is out of range (1 to 20)"
    );
    assert_eq!(error_message(&|params| params.box_share = 1.0), "box_share = 1 is out of range");
    assert_eq!(error_message(&|params| params.noise = f64::NAN), "noise of NaN is not between 0 and 1");
    assert_eq!(
        error_message(&|params| params.box_share = 0.6),
        "no room for 5 clusters in 5 of 20 dimensions each: a dimension has room for 1 boxes of 60 % of the range"
    );
    assert_eq!(
        error_message(&|params| params.cluster_dims = 20),
        "no 5 different subspaces of 20 of 20 dimensions were found that leave room for each other's boxes"
    );
    let error =
        Boxes::new(1, BoxesParams::default()).expect("a data set").block(0, BLOCK + 1, &mut Vec::new());
    assert_eq!(error.expect_err("an error").message(), "count 4097 exceeds the block size of 4096");
}
