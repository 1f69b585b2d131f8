//! Speed of the kernels and generators of data mining, printed as a table and kept in `validation/benches/mining.json`.
//!
//! Every figure is the median of several runs in this process, on one thread. Times of single operations are those of
//! passes that do hardly anything else, or are solved for from several passes.

#[path = "../../sledlab-sim/benches/table/mod.rs"]
mod table;

use std::time::Instant;

use sledlab_mining::{
    BLOCK, Boxes, BoxesParams, HashTree, Quest, QuestParams, UnitCounter, UnitGrid, histogram,
};
use table::{Row, median, row};

const RUNS: usize = 5;
const TRANSACTIONS: usize = 10 * BLOCK;
const RECORDS: usize = 25 * BLOCK;
const WINDOWS: usize = 1000;

/// The median time of several runs in s, and the result of the last one.
fn seconds<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut outcome = run();
    let durations_s = (0..RUNS).map(|_| {
        let start = Instant::now();
        outcome = run();
        start.elapsed().as_secs_f64()
    });
    (median(durations_s.collect()), outcome)
}

/// Offsets and items of transactions, and the seconds that making them took.
fn transactions(params: QuestParams) -> (f64, Vec<u64>, Vec<u32>) {
    let quest = Quest::new(1, params).expect("a data set");
    let (took_s, (lengths, items)) = seconds(|| {
        let (mut lengths, mut items) = (Vec::new(), Vec::new());
        for block in 0..TRANSACTIONS / BLOCK {
            quest.block(block as u64, BLOCK, &mut lengths, &mut items).expect("a block");
        }
        (lengths, items)
    });
    let mut offsets = vec![0];
    offsets.extend(lengths.iter().scan(0, |end, &length| {
        *end += u64::from(length);
        Some(*end)
    }));
    (took_s, offsets, items)
}

/// All itemsets of `length` items out of `items`.
fn all_sets(items: u32, length: usize) -> Vec<u32> {
    let mut sets: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in 0..length {
        let extensions = |set: &Vec<u32>| {
            let first = set.last().map_or(0, |last| last + 1);
            let set = set.clone();
            (first..items).map(move |item| [&set[..], &[item]].concat()).collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(extensions).collect();
    }
    sets.concat()
}

/// Seconds, visits and checks of a pass over transactions with items of `0..universe`.
fn pass(
    universe: u32,
    candidates: &[u32],
    length: usize,
    fan_out: Option<usize>,
    rows: &mut Vec<Row>,
) -> [f64; 3] {
    let (_, offsets, items) = transactions(QuestParams { universe, ..QuestParams::default() });
    let tree = match fan_out {
        None => HashTree::new(candidates, length),
        Some(fan_out) => HashTree::with_fan_out(candidates, length, fan_out),
    };
    let tree = tree.expect("a tree");
    let mut counts = vec![0; tree.len()];
    let (took_s, operations) = seconds(|| tree.count(&offsets, &items, &mut counts, 1).expect("counts"));
    let label = format!("{} sets of {length} of {universe} items, {} buckets", tree.len(), tree.fan_out());
    rows.push(row(label, TRANSACTIONS as f64 / took_s * 1e-6, "million transactions/s", ""));
    [took_s, operations.visits as f64, operations.checks as f64]
}

fn push_tree_rows(rows: &mut Vec<Row>) {
    pass(1000, &all_sets(1000, 1), 1, None, rows);
    // This pass is part of the Apriori job: 3.2 million transactions in less than 20 s on two threads.
    let [took_s, visits, _] = pass(1000, &all_sets(1000, 2), 2, None, rows);
    rows.push(row("a visit with its check, largest tree", took_s / visits * 1e9, "ns", ""));
    let [took_s, visits, _] = pass(40, &all_sets(40, 3), 3, None, rows);
    rows.push(row("a visit with its check, small tree", took_s / visits * 1e9, "ns", ""));
    // A tree is made such that there are about as many visits as checks. Two passes distinguish their times: one over a
    // tree of few buckets, whose leaves are long, and one over a tree whose leaves are mostly empty. Two equations, two
    // unknowns.
    let all_candidates = all_sets(200, 2);
    let [took_s, visits, checks] = pass(200, &all_candidates, 2, Some(16), rows);
    let few_candidates: Vec<u32> = all_candidates.chunks_exact(2).step_by(29).flatten().copied().collect();
    let [took_few_s, visits_few, checks_few] = pass(200, &few_candidates, 2, None, rows);
    let determinant = visits * checks_few - visits_few * checks;
    let visit = (took_s * checks_few - took_few_s * checks) / determinant;
    let check = (visits * took_few_s - visits_few * took_s) / determinant;
    rows.push(row("a visit", visit * 1e9, "ns", ""));
    rows.push(row("a check", check * 1e9, "ns", ""));
}

/// Figures of units, on a grid whose dimensions have ten bins of a hundred windows each.
fn push_unit_rows(rows: &mut Vec<Row>) {
    let params = BoxesParams::default();
    let boxes = Boxes::new(1, params).expect("a data set");
    let (took_s, records) = seconds(|| {
        let mut records = Vec::new();
        for block in 0..RECORDS / BLOCK {
            boxes.block(block as u64, BLOCK, &mut records).expect("a block");
        }
        records
    });
    rows.push(row("records with planted boxes", RECORDS as f64 / took_s * 1e-6, "million records/s", "0.43"));
    let dims = params.dims;
    let (lows, highs) = (vec![0.0; dims], vec![100.0; dims]);
    let (took_s, _) = seconds(|| histogram(&records, dims, WINDOWS, &lows, &highs, 1).expect("counts"));
    rows.push(row("histogram: a value", took_s / records.len() as f64 * 1e9, "ns", ""));
    rows.push(row("histogram", RECORDS as f64 / took_s * 1e-6, "million records/s", ""));
    let bin_of_window = (0..dims * WINDOWS).map(|window| (window % WINDOWS * 10 / WINDOWS) as u16).collect();
    let grid = UnitGrid { dims, windows: WINDOWS, lows, highs, bin_of_window };
    let passes = [(2, 2, 300), (2, 3, 2000), (10, 2, 100_000), (1, 5, 1)];
    let passes = passes.map(|(bins, length, maximum)| {
        let units = all_sets(dims as u32 * bins, length);
        let has_distinct_dims = |unit: &&[u32]| unit.is_sorted_by(|a, b| a / bins < b / bins);
        let units = units.chunks_exact(length).filter(has_distinct_dims).take(maximum).flatten();
        let candidates: Vec<u32> = units.flat_map(|place| [place / bins, place % bins]).collect();
        let counter = UnitCounter::new(&grid, &candidates, length).expect("a counter");
        let mut counts = vec![0; counter.len()];
        let (took_s, _) = seconds(|| counter.count(&records, &mut counts, 1).expect("counts"));
        let label = format!("{} units of {length} dimensions", counter.len());
        rows.push(row(label, RECORDS as f64 / took_s * 1e-6, "million records/s", ""));
        // Operations where records go through the tree one by one, as on a node.
        seconds(|| counter.walk(&records, &mut counts).expect("counts"))
    });
    // A pass with a single long unit does hardly anything but lookups.
    let (took_s, operations) = passes[3];
    let lookup = took_s / operations.lookups as f64;
    rows.push(row("a lookup", lookup * 1e9, "ns", ""));
    for ((took_s, operations), label) in passes.iter().zip(["few units", "more units", "most units"]) {
        let probe = (took_s - lookup * operations.lookups as f64) / operations.probes as f64;
        rows.push(row(format!("a probe, {label}"), probe * 1e9, "ns", ""));
    }
}

fn main() {
    // `cargo test --benches` only checks that this builds and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut rows: Vec<Row> = Vec::new();
    let (took_s, ..) = transactions(QuestParams::default());
    rows.push(row(
        "transactions of Quest",
        TRANSACTIONS as f64 / took_s * 1e-6,
        "million transactions/s",
        "0.16",
    ));
    push_unit_rows(&mut rows);
    push_tree_rows(&mut rows);
    table::print_and_save("mining.json", &rows);
}
