//! Tiles of positions at which requests wait, and bounds of how good the positions can be.

use super::criterion::Criterion;
use super::lists::List;
use crate::device::RequestGroup;

/// The occupied positions of consecutive cylinders, one entry in each list for each of them.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// Maximum weight of the positions.
    pub weight: Weight,
    pub spots: Vec<Spot>,
    pub weights: Vec<Weight>,
    pub waiting: Vec<Waiting>,
}

/// Where a position lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    pub cylinder: u32,
    /// Index of its row and the parity of its cylinder in costs in y.
    pub y_at: u32,
}

/// The requests that wait at a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub requests: List,
    pub group: RequestGroup,
}

impl Tile {
    /// A tile without requests.
    pub const EMPTY: Tile =
        Tile { weight: Weight::NONE, spots: Vec::new(), weights: Vec::new(), waiting: Vec::new() };

    /// Number of the position at `spot`, if requests wait there.
    #[inline]
    pub fn find(&self, spot: Spot) -> Option<usize> {
        let differs = |other: &Spot| (other.cylinder ^ spot.cylinder) | (other.y_at ^ spot.y_at);
        self.spots.iter().position(|other| differs(other) == 0)
    }

    /// Adds a position; returns its number.
    pub fn push(&mut self, spot: Spot, weight: Weight, waiting: Waiting) -> usize {
        self.spots.push(spot);
        self.weights.push(weight);
        self.waiting.push(waiting);
        self.weight = self.weight.max(weight);
        self.spots.len() - 1
    }

    pub fn remove(&mut self, at: usize) {
        self.spots.swap_remove(at);
        self.weights.swap_remove(at);
        self.waiting.swap_remove(at);
    }

    pub fn set_weight(&mut self, at: usize, weight: Weight) {
        self.weights[at] = weight;
        self.weight = self.weight.max(weight);
    }

    /// Computes the maximum weight anew, after a weight has become smaller.
    pub fn lower_weight(&mut self) {
        self.weight = self.weights.iter().copied().fold(Weight::NONE, Weight::max);
    }
}

/// A weight at the two ends of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weight(pub [f64; 2]);

impl Weight {
    /// Less than the weight of any request.
    pub const NONE: Weight = Weight([f64::NEG_INFINITY; 2]);

    #[inline]
    fn max(self, other: Weight) -> Weight {
        let larger = |at: usize| if self.0[at] > other.0[at] { self.0[at] } else { other.0[at] };
        Weight([larger(0), larger(1)])
    }

    /// Upper bound of the weight after `share` of the epoch: it is convex in time, so it lies below the line between
    /// the ends.
    #[inline]
    pub fn bound(self, share: f64) -> f64 {
        let [from, to] = self.0;
        // Ends, line and share are rounded; the last term makes up for the rounding.
        from + (to - from) * share + (from.abs() + to.abs()) * 4e-15
    }
}

/// Value of the criterion, time in ns, distance in x, number: the smallest is served.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Key(pub f64, pub u64, pub u32, pub u64);

impl Key {
    /// Loses against the key of every request.
    pub const WORST: Key = Key(f64::INFINITY, u64::MAX, u32::MAX, u64::MAX);
}

/// Ranges of costs and weights, and lower bounds of the values in them: one list per quantity, which vectorizes.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Minimum costs.
    pub least: Vec<u32>,
    /// Maximum costs, if the criterion needs them.
    pub most: Vec<u32>,
    /// Maximum weights.
    pub weights: Vec<f64>,
    values: Vec<f64>,
}

impl Bounds {
    pub fn clear(&mut self) {
        self.least.clear();
        self.most.clear();
        self.weights.clear();
    }

    /// Computes the bounds; returns the number of the lowest.
    pub fn compute(&mut self, criterion: &impl Criterion) -> usize {
        criterion.bounds(&self.least, &self.most, &self.weights, &mut self.values);
        let lowest = minimum(&self.values);
        self.values.iter().position(|bound| *bound <= lowest).unwrap_or(0)
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether all positions of a range lose against the best so far.
    #[inline]
    pub fn loses(&self, at: usize, best: &Key) -> bool {
        let bound = self.values[at];
        bound > best.0 || (bound >= best.0 && u64::from(self.least[at]) > best.1)
    }
}

/// The minimum of numbers, four at a time.
fn minimum(numbers: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 4];
    let (chunks, rest) = numbers.as_chunks::<4>();
    let less = |a: f64, b: f64| if a < b { a } else { b };
    for chunk in chunks {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = less(*number, *lane);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(f64::INFINITY, less)
}
