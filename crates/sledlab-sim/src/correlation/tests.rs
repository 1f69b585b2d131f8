use rand::RngExt;
use sledlab_core::source::MemorySource;
use sledlab_core::{Request, Source, Time};

use crate::{Experiment, Hooks, Summary};

/// Sizes of requests: the service time on the memory of [`run`] is 10 us and 1 us per block.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sizes {
    /// M/D/1: all requests have 490 blocks.
    Equal,
    /// Nearly M/M/1: sizes are geometric with mean 490, so that their standard deviation is 98 % of the mean service
    /// time.
    Geometric,
}

const MEAN_US: f64 = 500.0;

impl Sizes {
    /// Returns the true mean response time in ms at `load` (Pollaczek and Khinchine).
    fn mean_response_ms(self, load: f64) -> f64 {
        let variance = match self {
            Sizes::Equal => 0.0,
            Sizes::Geometric => 490.0 * 489.0,
        };
        let waiting_us = load * (MEAN_US + variance / MEAN_US) / (2.0 * (1.0 - load));
        (MEAN_US + waiting_us) / 1e3
    }

    fn draw(self, rng: &mut impl RngExt) -> u32 {
        match self {
            Sizes::Equal => 490,
            Sizes::Geometric => 1 + (exponential(rng) / -(-1.0_f64 / 490.0).ln_1p()) as u32,
        }
    }
}

fn exponential(rng: &mut impl RngExt) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

/// Replays `count` requests with Poisson arrivals.
fn run(sizes: Sizes, load: f64, count: usize, seed: u64) -> Summary {
    let mut rng = sledlab_core::seed::stream(seed, "coverage of intervals");
    let mut now_us = 0.0;
    let request = |_| {
        now_us += exponential(&mut rng) * MEAN_US / load;
        Request {
            arrival: Time::from_ns((now_us * 1e3) as u64),
            blocks: sizes.draw(&mut rng),
            ..Request::default()
        }
    };
    let requests: Vec<_> = (0..count).map(request).collect();
    let mut experiment = Experiment::new();
    experiment.set_device("ram").unwrap();
    experiment.set("device.access_us", "10.0").unwrap();
    experiment.set("device.bus_mb_s", "512.0").unwrap();
    let source: Option<Box<dyn Source>> = Some(Box::new(MemorySource::new(requests)));
    experiment.run(Hooks { source, ..Hooks::default() }).unwrap().summary
}

/// Runs with an interval, and those whose interval contains the true mean.
#[derive(Clone, Copy, Debug, Default)]
struct Coverage {
    given: usize,
    covered: usize,
}

fn coverage(sizes: Sizes, load: f64, count: usize, runs: usize) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in 0..runs {
        let times = run(sizes, load, count, seed as u64).response_time_ms;
        if let Some(half) = times.ci95_half_width {
            coverage.given += 1;
            coverage.covered += usize::from((times.stats.mean - sizes.mean_response_ms(load)).abs() <= half);
        }
    }
    coverage
}

/// `validation/sections` measures the coverage with more runs.
#[test]
fn intervals_of_queues_cover_the_true_mean_or_are_not_given() {
    for sizes in [Sizes::Equal, Sizes::Geometric] {
        let mut total = Coverage::default();
        for load in [0.3, 0.5, 0.8, 0.9, 0.95] {
            for (count, runs) in [(300, 60), (3000, 40), (30_000, 10)] {
                let coverage = coverage(sizes, load, count, runs);
                total.given += coverage.given;
                total.covered += coverage.covered;
                let share = coverage.given as f64 / runs as f64;
                match count as f64 * (1.0_f64 - load).powi(2) {
                    ..80.0 => assert!(share < 0.1, "{sizes:?} {load} {count}: {coverage:?}"),
                    1000.0.. => assert!(share > 0.9, "{sizes:?} {load} {count}: {coverage:?}"),
                    _ => {}
                }
            }
        }
        assert!(
            total.given > 100 && total.covered as f64 >= 0.93 * total.given as f64,
            "{sizes:?}: {total:?}"
        );
    }
}
