//! The steady state of greedy garbage collection under uniform random writes.
//!
//! The limit of many choices in the mean field model of Van Houdt (SIGMETRICS 2013): a block with i valid pages loses
//! them at a rate in proportion to i, so that the number of such blocks is in proportion to 1 / i, down to the number
//! of valid pages at which blocks are collected.

/// Blocks by their number of valid pages.
#[derive(Clone, Debug)]
pub(super) struct SteadyState {
    /// Pages of a block.
    pages: u32,
    /// Share of the blocks with each number of valid pages, from 0.
    shares: Vec<f64>,
    /// Mean number of valid pages of a block when it is collected.
    victim_pages: f64,
}

impl SteadyState {
    /// The state of full blocks of `pages` pages each, of which `mean_valid_pages` are valid on average.
    pub fn new(pages: u32, mean_valid_pages: f64) -> Self {
        let mean_valid_pages = mean_valid_pages.max(1e-9);
        let mut weights = vec![0.0; pages as usize + 1];
        let (mut sum, mut victim_pages) = (0.0, 0.0);
        for level in (1..=pages).rev() {
            let (valid, above) = (f64::from(level), f64::from(pages - level));
            if above + 1.0 <= mean_valid_pages * (sum + 1.0 / valid) {
                // Blocks are collected at this level, except for a share that is collected one page later.
                let share = (mean_valid_pages * sum - above) / (1.0 - mean_valid_pages / valid);
                weights[level as usize] = share / valid;
                sum += share / valid;
                victim_pages = valid - share;
                break;
            }
            weights[level as usize] = 1.0 / valid;
            sum += 1.0 / valid;
        }
        if victim_pages == 0.0 {
            // So few valid pages that blocks lose all of them before they are collected.
            let empty = f64::from(pages) / mean_valid_pages - sum;
            weights[0] = empty;
            sum += empty;
        }
        let shares = weights.iter().map(|weight| weight / sum).collect();
        SteadyState { pages, shares, victim_pages }
    }

    /// Mean number of valid pages of a block when it is collected.
    pub fn victim_pages(&self) -> f64 {
        self.victim_pages
    }

    /// Pages programmed for each page that the host writes.
    pub fn write_amplification(&self) -> f64 {
        let pages = f64::from(self.pages);
        pages / (pages - self.victim_pages)
    }

    /// The numbers of valid pages of `blocks` blocks with `valid_pages` in all, the largest first.
    pub fn valid_pages(&self, blocks: u32, valid_pages: u32) -> Vec<u32> {
        let mut level = self.pages;
        let mut share = self.shares[level as usize];
        let mut counts: Vec<u32> = (0..blocks)
            .map(|block| {
                while (f64::from(block) + 0.5) / f64::from(blocks) > share && level > 0 {
                    level -= 1;
                    share += self.shares[level as usize];
                }
                level
            })
            .collect();
        // Rounding leaves some pages too many or too few.
        let sum: u32 = counts.iter().sum();
        let (mut missing, mut surplus) = (valid_pages.saturating_sub(sum), sum.saturating_sub(valid_pages));
        while missing + surplus > 0 {
            for count in &mut counts {
                if missing > 0 && *count < self.pages {
                    *count += 1;
                    missing -= 1;
                } else if surplus > 0 && *count > 0 {
                    *count -= 1;
                    surplus -= 1;
                }
            }
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_amplification_has_the_limit_of_large_blocks() {
        // A share (a - 1) / ln a of the pages is valid, where a is the share of a block that is moved (Desnoyers,
        // SYSTOR 2012).
        for moved_share in [0.2_f64, 0.5, 0.8] {
            let pages = 100_000;
            let valid_share = (moved_share - 1.0) / moved_share.ln();
            let steady = SteadyState::new(pages, valid_share * f64::from(pages));
            let amplification = steady.write_amplification();
            assert!(
                (amplification * (1.0 - moved_share) - 1.0).abs() < 1e-3,
                "{amplification} at {valid_share}"
            );
        }
    }

    #[test]
    fn blocks_have_all_valid_pages() {
        for (pages, blocks, valid_pages) in [
            (32, 2_000, 57_000),
            (8, 100, 300),
            (768, 2_600, 1_900_000),
            (4, 10, 3),
            (4, 10, 39),
            (16, 50, 0),
        ] {
            let steady = SteadyState::new(pages, f64::from(valid_pages) / f64::from(blocks));
            let counts = steady.valid_pages(blocks, valid_pages);
            assert_eq!((counts.len() as u32, counts.iter().sum::<u32>()), (blocks, valid_pages));
            assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] <= pages);
        }
    }
}
