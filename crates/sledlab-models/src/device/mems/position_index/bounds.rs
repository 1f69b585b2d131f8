//! Lower bounds of the values of positions, from the lowest on.

use super::criterion::Criterion;

/// Values that are compared at once.
const CHUNK: usize = 16;

/// Ranges of costs and weights, and lower bounds of the values in them: one list per quantity, which vectorizes.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Numbers of tiles.
    pub numbers: Vec<u32>,
    /// Minimum costs.
    pub min_costs: Vec<u32>,
    /// Maximum costs, if the criterion needs them.
    pub max_costs: Vec<u32>,
    /// Maximum weights.
    pub weights: Vec<f64>,
    values: Vec<f64>,
    /// The lowest of each chunk of values.
    lowest: Vec<f64>,
}

impl Bounds {
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.min_costs.clear();
        self.max_costs.clear();
        self.weights.clear();
    }

    /// Computes the bounds.
    pub fn compute(&mut self, criterion: &impl Criterion) {
        criterion.bounds(&self.min_costs, &self.max_costs, &self.weights, &mut self.values);
        self.compute_lowest();
    }

    fn compute_lowest(&mut self) {
        self.lowest.clear();
        let (chunks, remainder) = self.values.as_chunks::<CHUNK>();
        self.lowest.extend(chunks.iter().map(|chunk| minimum(chunk)));
        if !remainder.is_empty() {
            self.lowest.push(minimum(remainder));
        }
    }

    /// Returns the number of the lowest bound that is at most `limit`, and removes the bound.
    pub fn take_lowest(&mut self, limit: f64) -> Option<usize> {
        let lowest = minimum(&self.lowest);
        if lowest > limit {
            return None;
        }
        let chunk = self.lowest.iter().position(|other| *other <= lowest)?;
        let first = chunk * CHUNK;
        let values = self.values[first..].chunks_mut(CHUNK).next()?;
        let place = values.iter().position(|other| *other <= lowest)?;
        values[place] = f64::NAN;
        self.lowest[chunk] = minimum(values);
        Some(first + place)
    }
}

/// The minimum of numbers, four at a time, without those that are not a number.
fn minimum(numbers: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 4];
    let (chunks, remainder) = numbers.as_chunks::<4>();
    let less = |a: f64, b: f64| if a < b { a } else { b };
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = less(*number, *lane);
        }
    }
    lanes
        .into_iter()
        .chain(remainder.iter().copied())
        .fold(f64::INFINITY, |least, number| less(number, least))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a sort.
        #[test]
        fn bounds_are_taken_in_order(values in prop::collection::vec(0_u32..50, 0..100), limit in 0_u32..60) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut bounds = Bounds { values: values.clone(), ..Bounds::default() };
            bounds.compute_lowest();
            let numbers: Vec<usize> = std::iter::from_fn(|| bounds.take_lowest(f64::from(limit))).collect();
            let mut expected: Vec<usize> = (0..values.len()).filter(|at| values[*at] <= f64::from(limit)).collect();
            expected.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
            prop_assert_eq!(numbers, expected);
        }
    }
}
