//! Sampling of the passes of a nested loop: selects the passes to simulate, and estimates time and energy of the
//! others.
//!
//! 1. The first passes are simulated: at least [`FIRST_PAGES`] pages and [`MIN_SAMPLES`] + 2 groups of passes. Short
//!    loops end here. A group has as many passes as contain [`GROUP_PAGES`] pages.
//! 2. Then passes are skipped, one group is simulated to bring the store into the state of that part of the loop, and
//!    the next group is the sample. Gaps have random lengths, so that samples do not coincide with a period of the
//!    loop. The skipped passes are assigned the mean of the samples before and after them.
//! 3. The variance of the samples bounds the error of the sum. Rare passes, such as those with another revolution of a
//!    disk, may take longer by one request and be missing from all samples; the variance includes such a difference.
//!    After each sample, the next gap is chosen so that the bound stays below [`TARGET_ERROR`]. If that requires nearly
//!    all passes, all are simulated.

use rand::RngExt;
use sledlab_core::Span;
use sledlab_core::seed::{self, Stream};
use sledlab_models::power::Energy;

use super::member::MemberParts;
use super::sequence::Loop;
use super::store::{MAX_TIME_NS, energy_difference, scale_energy};

/// Pages at the beginning of a loop that are always simulated.
const FIRST_PAGES: u64 = 1 << 14;
/// Minimum number of pages in a group of passes. The group exceeds the buffer of a drive, so that the group before the
/// sample removes the effects of passes before the gap.
const GROUP_PAGES: u64 = 256;
/// Minimum number of differences of samples for an estimate of their variance.
const MIN_SAMPLES: u32 = 8;
/// Student's t for a two-sided confidence of 99.9 % at 8 degrees of freedom; with more samples the bound is wider than
/// necessary.
const T_9995: f64 = 5.04;
/// The error for which gaps are planned, as a share of the loop's time. It is less than the documented 0.1 %, because
/// the variance is not known before the last sample.
const TARGET_ERROR: f64 = 5e-4;
/// Minimum number of groups in a gap: sampling with shorter gaps saves little.
const MIN_GAP: f64 = 4.0;

/// Time by component and energy of the store, since the beginning of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub parts: MemberParts,
    pub energy: Energy,
    /// The longest time between two completions of the store since the last state.
    pub longest_gap: Span,
}

/// The effect of the end of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skip {
    /// Time and energy of the store for passes skipped earlier.
    pub store: Span,
    pub energy: Energy,
    /// Passes to skip now, and their pages.
    pub passes: u64,
    pub pages: u64,
}

/// The role of the group of passes that is being simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// The first group of the loop or after a gap: the store is in a different state than in the skipped passes.
    WarmUp,
    Sample,
}

/// Store time, time of the node and energy of the store in a group.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    store_ns: u64,
    total_ns: u64,
    energy: Energy,
}

/// Sums and sums of squares of store time and energy.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    store: [f64; 2],
    energy: [f64; 2],
    count: u32,
}

impl Sums {
    /// Adds the difference of two samples.
    fn add(&mut self, sample: &Sample, other: &Sample) {
        let add_to = |sums: &mut [f64; 2], value: f64| *sums = [sums[0] + value, sums[1] + value * value];
        add_to(&mut self.store, sample.store_ns as f64 - other.store_ns as f64);
        add_to(&mut self.energy, sample.energy.total - other.energy.total);
        self.count += 1;
    }
}

/// Sums over all samples.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    total_ns: f64,
    energy_j: f64,
    count: f64,
}

impl Mean {
    /// Returns the larger variance of store time and energy, each relative to the square of the mean.
    fn relative_variance(&self, store: f64, energy: f64) -> f64 {
        let relative_variance = |variance: f64, sum: f64| {
            let mean = sum / self.count.max(1.0);
            if variance <= 0.0 { 0.0 } else { variance / (mean * mean) }
        };
        relative_variance(store, self.total_ns).max(relative_variance(energy, self.energy_j))
    }
}

/// A loop that is being sampled.
#[derive(Debug)]
struct RunningStats {
    shape: Loop,
    /// Passes of a group.
    group: u64,
    finished_passes: u64,
    /// Passes skipped since the last sample.
    unsampled_passes: u64,
    role: Group,
    group_start: State,
    first: Option<Sample>,
    last: Option<Sample>,
    mean: Mean,
    /// Differences of all samples from the first, and of samples with a gap between them.
    all_differences: Sums,
    distant_differences: Sums,
    /// Variance of the estimate, in variances of a sample.
    weight: f64,
    /// The longest time between two completions after the first group.
    rare: Span,
}

impl RunningStats {
    fn new(shape: Loop, group_pages: u64, group_start: State) -> Self {
        RunningStats {
            shape,
            group: group_pages.div_ceil(shape.pages.max(1)),
            finished_passes: 0,
            unsampled_passes: 0,
            role: Group::WarmUp,
            group_start,
            first: None,
            last: None,
            mean: Mean::default(),
            all_differences: Sums::default(),
            distant_differences: Sums::default(),
            weight: 0.0,
            rare: Span::ZERO,
        }
    }

    fn groups(&self, passes: u64) -> f64 {
        passes as f64 / self.group as f64
    }

    /// Ends a group; `passes_ahead` passes have already begun.
    fn end_group(&mut self, state: State, passes_ahead: u64, random: &mut Stream) -> Skip {
        // The first group includes the time between the preceding requests and the loop.
        if self.finished_passes > 0 {
            self.rare = self.rare.max(state.longest_gap);
        }
        self.finished_passes += self.group;
        let mut skip = Skip::default();
        if self.role == Group::WarmUp {
            self.role = Group::Sample;
        } else {
            let parts = |state: &State| (state.parts.store.as_ns(), state.parts.total().as_ns());
            let ((store, total), (store_before, total_before)) = (parts(&state), parts(&self.group_start));
            let sample = Sample {
                store_ns: store - store_before,
                total_ns: total - total_before,
                energy: energy_difference(state.energy, self.group_start.energy),
            };
            skip = self.take(sample);
            skip.passes = self.gap(passes_ahead, random);
            skip.pages = skip.passes * self.shape.pages;
            if skip.passes > 0 {
                self.role = Group::WarmUp;
                self.unsampled_passes = skip.passes;
                self.finished_passes += skip.passes;
            }
        }
        skip
    }

    /// Records a sample; returns the time and energy of the passes skipped before it.
    fn take(&mut self, sample: Sample) -> Skip {
        let mut skip = Skip::default();
        self.mean.total_ns += sample.total_ns as f64;
        self.mean.energy_j += sample.energy.total;
        self.mean.count += 1.0;
        self.all_differences.add(&sample, self.first.get_or_insert(sample));
        let Some(last) = self.last.replace(sample).filter(|_| self.unsampled_passes > 0) else { return skip };
        self.distant_differences.add(&last, &sample);
        let sum_ns = u128::from(last.store_ns) + u128::from(sample.store_ns);
        let store = u128::from(self.unsampled_passes) * sum_ns / (2 * u128::from(self.group));
        skip.store = Span::from_ns(store.min(2 * u128::from(MAX_TIME_NS)) as u64);
        let mut energy = last.energy;
        energy += sample.energy;
        let gap = self.groups(self.unsampled_passes);
        skip.energy = scale_energy(energy, gap / 2.0);
        // A sample represents half of the gaps before and after it, and the skipped passes have a variance, too.
        self.weight += gap * gap + gap;
        self.unsampled_passes = 0;
        skip
    }

    /// Returns the variance of a sample relative to the square of the mean, estimated from differences of samples with
    /// a gap between them. While there are few of these, it is the variance of all samples if that is larger. One
    /// additional sample is assumed to contain a rare request.
    fn variance(&self) -> f64 {
        let gaps = f64::from(2 * self.distant_differences.count.max(1));
        let mut variance = self.mean.relative_variance(
            self.distant_differences.store[1] / gaps,
            self.distant_differences.energy[1] / gaps,
        );
        if self.distant_differences.count < MIN_SAMPLES {
            let count = f64::from(self.all_differences.count.max(2));
            let sample_variance = |[sum, squares]: [f64; 2]| (squares - sum * sum / count) / (count - 1.0);
            variance = variance.max(self.mean.relative_variance(
                sample_variance(self.all_differences.store),
                sample_variance(self.all_differences.energy),
            ));
        }
        let rare_share = self.rare.as_ns() as f64 * self.mean.count / self.mean.total_ns.max(1.0);
        variance + rare_share * rare_share / (self.mean.count + 1.0)
    }

    /// Returns the number of passes to skip after a sample.
    fn gap(&self, passes_ahead: u64, random: &mut Stream) -> u64 {
        let remaining_passes = self.shape.passes.saturating_sub(self.finished_passes + passes_ahead);
        if self.all_differences.count <= MIN_SAMPLES
            || self.finished_passes * self.shape.pages < FIRST_PAGES
            || remaining_passes <= 2 * self.group
        {
            return 0;
        }
        let remaining_groups = self.groups(remaining_passes);
        let allowed_weight = (TARGET_ERROR / T_9995 * self.groups(self.shape.passes)).powi(2);
        let mut budget = allowed_weight / self.variance() - self.weight - remaining_groups;
        if self.distant_differences.count < MIN_SAMPLES {
            // Distant samples may vary more than the adjacent samples known so far.
            budget /= 4.0;
        }
        if budget <= 0.0 {
            return 0;
        }
        let windows = (remaining_groups * remaining_groups / budget)
            .max(f64::from(MIN_SAMPLES.saturating_sub(self.distant_differences.count)))
            .max(1.0);
        let gap = remaining_groups / windows - 2.0;
        if gap < MIN_GAP {
            return 0;
        }
        let passes = gap * random.random_range(0.5..1.5) * self.group as f64;
        (passes as u64).min(remaining_passes - 2 * self.group)
    }

    /// Returns the maximum error of the loop's time and energy, relative to them.
    fn error(&self) -> f64 {
        T_9995 * (self.weight * self.variance()).sqrt() / self.groups(self.shape.passes)
    }
}

/// Samples the loops of a step.
#[derive(Debug)]
pub(super) struct Sampling {
    loops: std::iter::Peekable<std::vec::IntoIter<Loop>>,
    random: Stream,
    running: Option<RunningStats>,
    /// Pages done at which [`reach`](Self::reach) is due.
    pub next: u64,
    /// Maximum error of the time of all completed loops.
    pub error: Span,
    /// Number of skipped passes.
    pub skipped_passes: u64,
    loop_start: Span,
    group_pages: u64,
}

impl Sampling {
    /// Simulates every pass.
    pub fn none() -> Self {
        Sampling::new(Vec::new(), 0, seed::stream(0, ""))
    }

    /// Samples loops of a sequence that is read with at most `depth` pages in flight; `random` determines the gaps.
    pub fn new(loops: Vec<Loop>, depth: u64, random: Stream) -> Self {
        let mut sampling = Sampling {
            loops: loops.into_iter().peekable(),
            random,
            running: None,
            next: u64::MAX,
            error: Span::ZERO,
            skipped_passes: 0,
            loop_start: Span::ZERO,
            // The pages in flight at a jump belong to passes before the jump.
            group_pages: GROUP_PAGES.max(2 * depth),
        };
        sampling.next = sampling.next_loop();
        sampling
    }

    fn next_loop(&mut self) -> u64 {
        self.loops.peek().map_or(u64::MAX, |shape| shape.start)
    }

    /// Begins a loop or ends a group of passes when `completed_pages` pages are complete (equal to
    /// [`next`](Self::next)) and `pages_ahead` further pages have been requested.
    pub fn reach(&mut self, completed_pages: u64, pages_ahead: u64, state: State) -> Skip {
        let mut skip = Skip::default();
        if let Some(running) = &mut self.running {
            let passes_ahead = pages_ahead.div_ceil(running.shape.pages.max(1));
            skip = running.end_group(state, passes_ahead, &mut self.random);
            self.skipped_passes += skip.passes;
            running.group_start = state;
            running.group_start.parts.store += skip.store;
            running.group_start.energy += skip.energy;
            self.next = completed_pages + skip.pages + running.group * running.shape.pages;
            if running.finished_passes + running.group > running.shape.passes {
                let duration = state.parts.total() + skip.store - self.loop_start;
                self.error += Span::from_ns((running.error() * duration.as_ns() as f64) as u64);
                self.running = None;
                self.next = self.next_loop();
            }
        }
        if self.running.is_none()
            && let Some(shape) = self.loops.next_if(|shape| shape.start == completed_pages)
        {
            let running = RunningStats::new(shape, self.group_pages, state);
            self.loop_start = state.parts.total();
            self.next = completed_pages + running.group * shape.pages;
            if running.group <= shape.passes {
                self.running = Some(running);
            } else {
                self.next = self.next_loop();
            }
        }
        skip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of a pass, from its number and a random number.
    type PassDuration = fn(u64, u64) -> u64;

    /// Returns the estimate for a loop whose passes of 600 pages take `ns(pass)`, its exact time, the bound, and the
    /// skipped passes.
    fn sample_loop(passes: u64, ns: impl Fn(u64) -> u64) -> (f64, f64, f64, u64) {
        let shape = Loop { start: 0, passes, pages: 600 };
        let mut sampling = Sampling::new(vec![shape], 0, seed::stream(1, "passes"));
        let (mut store, mut pass) = (0, 0);
        let state = |store: u64| State {
            parts: MemberParts { store: Span::from_ns(store), ..MemberParts::default() },
            energy: Energy { total: store as f64, ..Energy::default() },
            longest_gap: Span::from_ns(20_000),
        };
        sampling.reach(0, 0, state(0));
        while pass < passes {
            store += ns(pass);
            pass += 1;
            if pass * 600 == sampling.next {
                let skip = sampling.reach(pass * 600, 0, state(store));
                store += skip.store.as_ns();
                pass += skip.passes;
            }
        }
        let exact: u64 = (0..passes).map(ns).sum();
        (store as f64, exact as f64, sampling.error.as_ns() as f64, sampling.skipped_passes)
    }

    #[test]
    fn error_stays_within_bound_for_any_shape() {
        let noise = |pass: u64| pass.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let shapes: [(&str, PassDuration); 6] = [
            ("constant", |_, _| 600_000),
            ("trend", |pass, _| 600_000 + pass * 10),
            ("period", |pass, _| 600_000 + pass % 64 * 200),
            ("noise", |_, noise| 600_000 + noise % 20_000),
            ("step", |pass, _| if pass < 7000 { 600_000 } else { 620_000 }),
            ("rare", |_, noise| if noise % 200 == 0 { 620_000 } else { 600_000 }),
        ];
        for (name, ns) in shapes {
            let (store, exact, bound, skipped_passes) = sample_loop(20_000, |pass| ns(pass, noise(pass)));
            println!("{name}: {:.6} {:.6} {skipped_passes}", store / exact - 1.0, bound / exact);
            assert!(skipped_passes > 1000, "{name}: {skipped_passes} skipped");
            assert!(
                (store - exact).abs() <= bound && bound <= 1e-3 * exact,
                "{name}: {store} {exact} {bound}"
            );
        }
    }

    #[test]
    fn short_loop_is_not_sampled() {
        assert_eq!(sample_loop(20, |_| 600_000).3, 0);
    }
}
