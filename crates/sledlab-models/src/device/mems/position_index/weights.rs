//! Upper bounds of the weights of positions, which grow linearly from the beginning to the end of an epoch.

/// Bounds of the positions of a tile.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    lines: Vec<Line>,
    /// Maximum at the beginning and at the end of the epoch.
    max_weights: [f64; 2],
}

/// The weight at the beginning of the epoch, and its increase until the end.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: f64,
    growth: f64,
}

/// The maximum of no weights.
const NONE: [f64; 2] = [f64::NEG_INFINITY; 2];

impl Default for Weights {
    fn default() -> Self {
        Weights { lines: Vec::new(), max_weights: NONE }
    }
}

impl Weights {
    /// Adds the weight of position `at`, by its values at both ends of the epoch. It is convex in time, so it lies
    /// below the line between the ends.
    pub fn insert(&mut self, at: usize, [from, to]: [f64; 2]) {
        // Ends, line and share are rounded; the last term makes up for the rounding.
        let line = Line { from: from + (from.abs() + to.abs()) * 4e-15, growth: to - from };
        self.lines.insert(at, line);
        self.max_weights = larger(self.max_weights, line.ends());
    }

    /// Removes the weight of position `at`.
    pub fn remove(&mut self, at: usize) {
        let ends = self.lines.remove(at).ends();
        if ends[0] >= self.max_weights[0] || ends[1] >= self.max_weights[1] {
            self.max_weights = self.lines.iter().map(|line| line.ends()).fold(NONE, larger);
        }
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.max_weights = NONE;
    }

    /// The maximum weight after `share` of the epoch.
    pub fn max(&self, share: f64) -> f64 {
        let [from, to] = self.max_weights;
        from + (to - from) * share
    }

    /// The weights after `share` of the epoch.
    pub fn after(&self, share: f64) -> impl Iterator<Item = f64> {
        self.lines.iter().map(move |line| line.from + line.growth * share)
    }
}

impl Line {
    fn ends(self) -> [f64; 2] {
        [self.from, self.from + self.growth]
    }
}

fn larger(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let larger = |at: usize| if a[at] > b[at] { a[at] } else { b[at] };
    [larger(0), larger(1)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with all lines between the ends, after some of them have left.
        #[test]
        fn weights_are_not_below_lines(
            ends in prop::collection::vec((any::<i32>(), any::<i32>()), 2..20), removed in 0_usize..20,
            share in 0.0..=1.0,
        ) {
            let mut lines: Vec<[f64; 2]> = ends.iter().map(|(from, to)| [f64::from(*from), f64::from(*to)]).collect();
            let mut weights = Weights::default();
            for (at, line) in lines.iter().enumerate() {
                weights.insert(at, *line);
            }
            weights.remove(removed % lines.len());
            lines.remove(removed % lines.len());
            let bounds: Vec<f64> = weights.after(share).collect();
            prop_assert_eq!(bounds.len(), lines.len());
            for ([from, to], bound) in lines.iter().zip(bounds) {
                let exact = from + (to - from) * share;
                prop_assert!(bound >= exact && weights.max(share) >= exact);
                prop_assert!(bound - exact <= (from.abs() + to.abs()) * 1e-14);
            }
            let highest = |end: usize| lines.iter().map(|line| line[end]).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(weights.max(0.0) <= highest(0) + 1e-4 && weights.max(1.0) <= highest(1) + 1e-4);
        }
    }
}
