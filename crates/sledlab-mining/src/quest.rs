//! Synthetic market-basket transactions in the manner of IBM Quest.
//!
//! R. Agrawal, R. Srikant: Fast algorithms for mining association rules, VLDB 1994, section 4, "Generation of synthetic
//! data". Items that are bought together form patterns (in the paper: maximal potentially large itemsets); transactions
//! combine patterns, drawn by weight, with some items of each pattern removed. Differences
//! from the paper:
//!
//! - The length of a transaction is normal rather than Poisson, and never more than `longest`: all transactions then
//!   have about the same size. The deviation is a tenth of the mean, or less where 1 or `longest` are nearer than
//!   2.75 deviations: cutting lengths off at these bounds then moves the mean by less than 0.1 %.
//! - A transaction has exactly as many items as its length. A pattern that is too long is cut, never kept for the next
//!   transaction, and patterns are chosen until the transaction is full; after four patterns for each of its items,
//!   random items fill it.
//! - Items are those of `0..universe`; a pattern has at least one item.
//!
//! Patterns are drawn from the stream `patterns` of the seed, block b from its own stream `transactions b`: each block
//! can be made alone, and its transactions do not depend on the size of the data set.

use rand::RngExt;
use rand::seq::{SliceRandom, index};
use rand_distr::{Distribution, Exp1, Normal, Poisson};
use sledlab_core::seed::{self, Stream};
use sledlab_core::{Error, Result};

use crate::{MAX_TABLE_ENTRIES, check_count};

/// Patterns tried for each item of a transaction before random items fill it.
const PATTERNS_PER_ITEM: u32 = 4;
/// The variance of the corruption level between patterns.
const CORRUPTION_VARIANCE: f64 = 0.1;
/// The maximum number of items of a transaction; it keeps a block below 1 GB.
const MAX_TRANSACTION_ITEMS: u32 = 1 << 16;
/// Minimum distance of the bounds of the length from its mean, in deviations.
const MIN_BOUND_DEVIATIONS: f64 = 2.75;

/// Parameters of a data set of transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestParams {
    /// Number of different items; from 1 to 16,777,216.
    pub universe: u32,
    /// Number of patterns; at least 1. All patterns together have at most 16,777,216 items.
    pub patterns: u32,
    /// Mean number of items of a pattern (Poisson), above 0 and not above `universe`.
    pub pattern_length: f64,
    /// Mean number of items of a transaction.
    pub length: u32,
    /// Maximum number of items of a transaction; from `length` to `universe`, and at most 65,536.
    pub longest: u32,
    /// Mean share of a pattern's items that are taken from the previous pattern (exponential, cut at 1); from 0 to 1.
    pub correlation: f64,
    /// Mean corruption level: the probability that each further item of a pattern is missing from a transaction; from 0
    /// to 1.
    pub corruption: f64,
}

impl Default for QuestParams {
    fn default() -> Self {
        QuestParams {
            universe: 1000,
            patterns: 2000,
            pattern_length: 4.0,
            length: 20,
            longest: 25,
            correlation: 0.5,
            corruption: 0.5,
        }
    }
}

/// A data set of market-basket transactions, without end.
#[derive(Clone, Debug)]
pub struct Quest {
    params: QuestParams,
    seed: u64,
    lengths: Normal<f64>,
    /// Items of all patterns; those of a pattern in random order, so that cutting a pattern drops random items.
    items: Vec<u32>,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Copy, Debug)]
struct Pattern {
    /// Start and end of the pattern's items in `items`.
    first: usize,
    end: usize,
    corruption: f64,
    /// Sum of the weights of all patterns up to this one.
    weight_sum: f64,
}

/// Buffers for making transactions one after another.
struct Buffers {
    /// By item: whether the transaction holds it.
    holds: Vec<bool>,
    /// The pattern that is being added.
    pattern: Vec<u32>,
}

impl Quest {
    /// The data set of a seed. An error where parameters contradict each other.
    pub fn new(seed: u64, params: QuestParams) -> Result<Self> {
        check_params(&params)?;
        let distribution_error =
            |error: &dyn std::fmt::Display| Error::internal(format!("a distribution of Quest: {error}"));
        let mut quest = Quest {
            params,
            seed,
            lengths: Normal::new(f64::from(params.length), length_deviation(&params))
                .map_err(|error| distribution_error(&error))?,
            items: Vec::new(),
            patterns: Vec::with_capacity(params.patterns as usize),
        };
        let sizes = Poisson::new(params.pattern_length).map_err(|error| distribution_error(&error))?;
        let levels = Normal::new(params.corruption, CORRUPTION_VARIANCE.sqrt())
            .map_err(|error| distribution_error(&error))?;
        let mut rng = seed::stream(seed, "patterns");
        let mut holds = vec![false; params.universe as usize];
        for _ in 0..params.patterns {
            let size = (sizes.sample(&mut rng) as usize).clamp(1, params.universe as usize);
            quest.add_pattern(size, &levels, &mut holds, &mut rng);
        }
        Ok(quest)
    }

    /// Adds a pattern of `size` items. `holds` is false for all items, before and after.
    fn add_pattern(&mut self, size: usize, levels: &Normal<f64>, holds: &mut [bool], rng: &mut Stream) {
        let previous = self.patterns.last().map_or(0..0, |pattern| pattern.first..pattern.end);
        let share = (self.params.correlation * rng.sample::<f64, _>(Exp1)).min(1.0);
        let shared_count = ((share * size as f64).round() as usize).min(previous.len());
        let first = self.items.len();
        for place in index::sample(rng, previous.len(), shared_count) {
            self.items.push(self.items[previous.start + place]);
        }
        mark(&self.items[first..], true, holds);
        add_random_items(&mut self.items, first + size, holds, rng);
        mark(&self.items[first..], false, holds);
        self.items[first..].shuffle(rng);
        let weight: f64 = rng.sample(Exp1);
        self.patterns.push(Pattern {
            first,
            end: self.items.len(),
            corruption: levels.sample(rng).clamp(0.0, 1.0),
            weight_sum: self.patterns.last().map_or(0.0, |pattern| pattern.weight_sum) + weight,
        });
    }

    /// The parameters.
    pub fn params(&self) -> &QuestParams {
        &self.params
    }

    /// Adds the first `count` transactions of a block to `lengths` and, each strictly increasing, to `items`.
    ///
    /// Transaction t of the data set is number `t % BLOCK` of block `t / BLOCK`. An error where `count` is above
    /// [`BLOCK`](crate::BLOCK).
    pub fn block(
        &self,
        index: u64,
        count: usize,
        lengths: &mut Vec<u32>,
        items: &mut Vec<u32>,
    ) -> Result<()> {
        check_count(count)?;
        let mut rng = seed::stream(self.seed, &format!("transactions {index}"));
        let mut buffers = Buffers { holds: vec![false; self.params.universe as usize], pattern: Vec::new() };
        lengths.reserve(count);
        items.reserve(count * self.params.length as usize);
        for _ in 0..count {
            let first = items.len();
            self.generate_transaction(&mut buffers, items, &mut rng);
            lengths.push((items.len() - first) as u32);
        }
        Ok(())
    }

    fn generate_transaction(&self, buffers: &mut Buffers, items: &mut Vec<u32>, rng: &mut Stream) {
        let length = self.draw_length(rng);
        let first = items.len();
        let end = first + length as usize;
        let Buffers { holds, pattern } = buffers;
        for _ in 0..length * PATTERNS_PER_ITEM {
            self.draw_pattern(pattern, rng);
            for &item in &*pattern {
                if items.len() < end && !holds[item as usize] {
                    holds[item as usize] = true;
                    items.push(item);
                }
            }
            if items.len() == end {
                break;
            }
        }
        add_random_items(items, end, holds, rng);
        let transaction = &mut items[first..];
        mark(transaction, false, holds);
        transaction.sort_unstable();
    }

    fn draw_length(&self, rng: &mut Stream) -> u32 {
        loop {
            let length = self.lengths.sample(rng).round();
            if length >= 1.0 && length <= f64::from(self.params.longest) {
                return length as u32;
            }
        }
    }

    /// Chooses a pattern by its weight, and omits items of it as long as random numbers are below its corruption
    /// level.
    fn draw_pattern(&self, pattern: &mut Vec<u32>, rng: &mut Stream) {
        let sum = self.patterns.last().map_or(0.0, |pattern| pattern.weight_sum);
        let drawn_weight = rng.random::<f64>() * sum;
        let place = self.patterns.partition_point(|pattern| pattern.weight_sum <= drawn_weight);
        let Pattern { first, end, corruption, .. } = self.patterns[place.min(self.patterns.len() - 1)];
        pattern.clear();
        pattern.extend_from_slice(&self.items[first..end]);
        while !pattern.is_empty() && rng.random::<f64>() < corruption {
            // The order of the items does not matter.
            pattern.swap_remove(rng.random_range(0..pattern.len() as u32) as usize);
        }
    }
}

/// Adds random items that `holds` does not have yet, until `items` has `end` of them; sets them in `holds`.
fn add_random_items(items: &mut Vec<u32>, end: usize, holds: &mut [bool], rng: &mut Stream) {
    let missing = end - items.len();
    // If most items are free, a draw rarely fails; if few are free, drawing could take very long.
    if holds.len() >= 4 * end {
        while items.len() < end {
            let item = rng.random_range(0..holds.len() as u32);
            if !holds[item as usize] {
                holds[item as usize] = true;
                items.push(item);
            }
        }
    } else if missing > 0 {
        let mut free_items: Vec<u32> =
            (0..holds.len() as u32).filter(|&item| !holds[item as usize]).collect();
        let (chosen, _) = free_items.partial_shuffle(rng, missing);
        mark(chosen, true, holds);
        items.extend_from_slice(chosen);
    }
}

/// Sets in `holds` whether a transaction contains these items.
fn mark(items: &[u32], is_contained: bool, holds: &mut [bool]) {
    for &item in items {
        holds[item as usize] = is_contained;
    }
}

/// The deviation of lengths, explained in the module documentation.
fn length_deviation(params: &QuestParams) -> f64 {
    let length = f64::from(params.length);
    let distance_to_max = f64::from(params.longest) + 0.5 - length;
    (length / 10.0).min(distance_to_max / MIN_BOUND_DEVIATIONS).min((length - 0.5) / MIN_BOUND_DEVIATIONS)
}

fn check_params(params: &QuestParams) -> Result<()> {
    let QuestParams { universe, patterns, pattern_length, length, longest, correlation, corruption } =
        *params;
    for (what, number) in [("universe", universe), ("patterns", patterns)] {
        if number == 0 || number as usize > MAX_TABLE_ENTRIES {
            return Err(Error::user(format!("{what} = {number} is out of range"))
                .with_remedy(format!("choose from 1 to {MAX_TABLE_ENTRIES}")));
        }
    }
    if !(pattern_length > 0.0 && pattern_length <= f64::from(universe)) {
        return Err(Error::user(format!(
            "patterns of {pattern_length} items do not fit a universe of {universe}"
        ))
        .with_remedy("choose a length above 0 and not above the universe"));
    }
    if f64::from(patterns) * pattern_length > MAX_TABLE_ENTRIES as f64 {
        return Err(Error::user(format!("{patterns} patterns of {pattern_length} items are too large"))
            .with_remedy(format!(
                "choose fewer or shorter patterns, of at most {MAX_TABLE_ENTRIES} items in all"
            )));
    }
    if longest > MAX_TRANSACTION_ITEMS {
        return Err(Error::user(format!("transactions of up to {longest} items are too long"))
            .with_remedy(format!("choose at most {MAX_TRANSACTION_ITEMS}")));
    }
    if length == 0 || length > longest {
        return Err(Error::user(format!(
            "transactions of {length} items on average are impossible with at most {longest} items"
        ))
        .with_remedy("choose a length from 1 to the longest"));
    }
    if longest > universe {
        return Err(Error::user(format!(
            "transactions of up to {longest} items do not fit a universe of {universe}"
        ))
        .with_remedy("choose a larger universe or shorter transactions"));
    }
    for (what, share) in [("correlation", correlation), ("corruption", corruption)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::user(format!("a {what} of {share} is not between 0 and 1")));
        }
    }
    Ok(())
}
