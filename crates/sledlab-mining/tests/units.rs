//! Histograms and counts of units, compared with counts by hand.

use proptest::collection::vec;
use proptest::prelude::*;
use sledlab_mining::units::UnitOperations;
use sledlab_mining::{UnitCounter, UnitGrid, histogram};

const WINDOWS: usize = 24;

/// The range from 0 to 6 in windows of a quarter.
fn grid(dims: usize, bin_of_window: Vec<u16>) -> UnitGrid {
    UnitGrid { dims, windows: WINDOWS, lows: vec![0.0; dims], highs: vec![6.0; dims], bin_of_window }
}

fn window(value: f32) -> usize {
    ((value * 4.0) as usize).min(WINDOWS - 1)
}

fn count(counter: &UnitCounter, records: &[f32], threads: usize) -> (Vec<u64>, UnitOperations) {
    let mut counts = vec![0; counter.len()];
    let operations = counter.count(records, &mut counts, threads).expect("counts");
    (counts, operations)
}

type Unit = Vec<(u32, u32)>;

/// Dimensions, bins of windows, length, units, records.
fn jobs() -> impl Strategy<Value = (usize, Vec<u16>, usize, Vec<Unit>, Vec<f32>)> {
    (2_usize..=6, 1_u32..=20).prop_flat_map(|(dims, bins)| {
        (1..=dims.min(4)).prop_flat_map(move |length| {
            let bin_of_window =
                (0..dims * WINDOWS).map(|place| (place % WINDOWS % bins as usize) as u16).collect();
            let chosen = proptest::sample::subsequence((0..dims as u32).collect::<Vec<_>>(), length);
            let unit =
                (chosen, vec(0..bins, length)).prop_map(|(dims, bins)| dims.into_iter().zip(bins).collect());
            // All values are eighths, so that some lie on boundaries of windows.
            let records = vec((0_u16..=48).prop_map(|eighth| f32::from(eighth) / 8.0), dims * 50);
            (Just(dims), Just(bin_of_window), Just(length), vec(unit, 0..200), records)
        })
    })
}

proptest! {
    #[test]
    fn counts_equal_brute_force((dims, bins, length, units, records) in jobs()) {
        let flat: Vec<u32> = units.concat().into_iter().flat_map(|(dim, bin)| [dim, bin]).collect();
        let counter = UnitCounter::new(&grid(dims, bins.clone()), &flat, length).expect("a counter");
        let is_inside = |unit: &Unit, record: &[f32]| {
            unit.iter().all(|&(dim, bin)| {
                u32::from(bins[dim as usize * WINDOWS + window(record[dim as usize])]) == bin
            })
        };
        let expected_counts = units.iter().map(|unit| {
            records.chunks(dims).filter(|record| is_inside(unit, record)).count() as u64
        });
        let (counts, operations) = count(&counter, &records, 1);
        prop_assert_eq!(&counts, &expected_counts.collect::<Vec<_>>());
        let mut walk_counts = vec![0; counter.len()];
        prop_assert_eq!(counter.walk(&records, &mut walk_counts).expect("counts"), operations);
        prop_assert_eq!(&walk_counts, &counts);
        let (front, back) = records.split_at(17 * dims);
        let (front, front_operations) = count(&counter, front, 1);
        let (back, back_operations) = count(&counter, back, 1);
        prop_assert_eq!(counts, front.iter().zip(back).map(|(a, b)| a + b).collect::<Vec<_>>());
        prop_assert_eq!(operations, [front_operations, back_operations].into_iter().sum());
    }

    #[test]
    fn histogram_equals_brute_force(records in vec((0_u16..=48).prop_map(|eighth| f32::from(eighth) / 8.0), 3 * 40)) {
        let result = histogram(&records, 3, WINDOWS, &[0.0; 3], &[6.0; 3], 1).expect("counts");
        let mut expected_counts = vec![0; 3 * WINDOWS];
        for (place, &value) in records.iter().enumerate() {
            expected_counts[place % 3 * WINDOWS + window(value)] += 1;
        }
        prop_assert_eq!(result, expected_counts);
    }
}

#[test]
fn thread_count_does_not_change_results() {
    let records: Vec<f32> =
        (0..40_000_u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 8) as f32 / 3e6).collect();
    let bins = (0..4 * WINDOWS).map(|place| (place % WINDOWS / 4) as u16).collect();
    let units: Vec<u32> = (0..36_u32).flat_map(|unit| [0, unit % 6, 2, unit / 6]).collect();
    let counter = UnitCounter::new(&grid(4, bins), &units, 2).expect("a counter");
    let single_threaded = count(&counter, &records, 1);
    let histogram = |threads| histogram(&records, 4, WINDOWS, &[0.0; 4], &[6.0; 4], threads).expect("counts");
    assert_eq!(single_threaded.0.iter().sum::<u64>(), 10_000);
    // Two of the four dimensions occur in candidates.
    assert_eq!(single_threaded.1.lookups, 20_000);
    // Every record is in one of six bins of the first dimension, with which six candidates begin.
    assert_eq!(single_threaded.1.comparisons, 10_000 * (36 + 6));
    let mut walk_counts = vec![0; counter.len()];
    assert_eq!(counter.walk(&records, &mut walk_counts).expect("counts"), single_threaded.1);
    assert_eq!(walk_counts, single_threaded.0);
    for threads in [0, 2, 3, 8] {
        assert_eq!(count(&counter, &records, threads), single_threaded);
        assert_eq!(histogram(threads), histogram(1));
    }
}

#[test]
fn range_includes_both_ends() {
    let result = histogram(&[-1.0, 3.0, 1.0, 2.999_999_8], 1, 4, &[-1.0], &[3.0], 1).expect("counts");
    assert_eq!(result, [1, 0, 1, 2]);
    let error_message = |value| {
        let records = [0.0, 0.0, 0.0, value];
        histogram(&records, 2, 4, &[-1.0; 2], &[3.0; 2], 1).expect_err("an error").message().to_owned()
    };
    assert_eq!(error_message(3.1), "record 1 has 3.1 in dimension 1, outside of its range -1 to 3");
    assert_eq!(error_message(f32::NAN), "record 1 has NaN in dimension 1, outside of its range -1 to 3");
    assert_eq!(
        error_message(f32::NEG_INFINITY),
        "record 1 has -inf in dimension 1, outside of its range -1 to 3"
    );
}

#[test]
fn malformed_input_is_rejected() {
    let two_dims = || grid(2, vec![0; 2 * WINDOWS]);
    let error_message = |grid: &UnitGrid, units: &[u32], length| {
        UnitCounter::new(grid, units, length).expect_err("an error").message().to_owned()
    };
    assert_eq!(error_message(&two_dims(), &[0, 0], 0), "units of 0 dimensions are out of range");
    assert_eq!(error_message(&two_dims(), &[0, 0, 1, 0], 65), "units of 65 dimensions are out of range");
    assert_eq!(
        error_message(&two_dims(), &[0, 0, 1], 2),
        "3 numbers do not form units of 2 pairs (dimension, bin)"
    );
    assert_eq!(
        error_message(&two_dims(), &[1, 0, 0, 0], 2),
        "the dimensions of unit 0 do not increase strictly"
    );
    assert_eq!(error_message(&two_dims(), &[2, 0], 1), "unit 0 has dimension 2, and there are 2");
    assert_eq!(
        error_message(&two_dims(), &[1, 3], 1),
        "a unit has bin 3 of dimension 1, which has no such bin"
    );
    assert_eq!(error_message(&grid(2, vec![0; 3]), &[], 1), "bins of 3 windows for 2 dimensions of 24");
    let histogram_error = |lows: &[f64], highs: &[f64], windows| {
        histogram(&[], 1, windows, lows, highs, 1).expect_err("an error").message().to_owned()
    };
    assert_eq!(histogram_error(&[0.0], &[1.0], 0), "a grid of 1 dimensions and 0 windows has no cells");
    assert_eq!(histogram_error(&[0.0], &[1.0, 2.0], 4), "1 lows and 2 highs for 1 dimensions");
    assert_eq!(histogram_error(&[1.0], &[1.0], 4), "the range of dimension 0 is invalid: 1 to 1");
    assert_eq!(histogram_error(&[0.0], &[f64::INFINITY], 4), "the range of dimension 0 is invalid: 0 to inf");
    assert_eq!(histogram_error(&[f64::NAN], &[1.0], 4), "the range of dimension 0 is invalid: NaN to 1");
    let counter = UnitCounter::new(&two_dims(), &[0, 0], 1).expect("a counter");
    let error_message = |records: &[f32], counts: &mut [u64]| {
        counter.count(records, counts, 1).expect_err("an error").message().to_owned()
    };
    assert_eq!(error_message(&[1.0], &mut [0]), "1 values are not a multiple of the record length 2");
    assert_eq!(error_message(&[1.0, 1.0], &mut []), "0 counts for 1 units");
    let mut counts = [7];
    let message = error_message(&[1.0, 1.0, 7.0, 1.0], &mut counts);
    assert_eq!(message, "record 1 has 7 in dimension 0, outside of its range 0 to 6");
    assert_eq!(counts, [7]);
}

#[test]
fn empty_input_gives_zero_counts() {
    let empty = UnitCounter::new(&grid(2, vec![0; 2 * WINDOWS]), &[], 2).expect("a counter");
    assert!(empty.is_empty());
    assert_eq!(count(&empty, &[1.0, 1.0], 2), (vec![], UnitOperations::default()));
    let single = UnitCounter::new(&grid(2, vec![0; 2 * WINDOWS]), &[1, 0], 1).expect("a counter");
    assert_eq!(count(&single, &[], 2), (vec![0], UnitOperations::default()));
}
