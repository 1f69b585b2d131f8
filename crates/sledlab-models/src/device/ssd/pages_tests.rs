//! Tests that pages are conserved, and that write amplification agrees with theory.

use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::seed;

use super::*;
use crate::device::ssd::params::{GarbageCollection, Precondition, SsdParams};

fn pages(params: &SsdParams) -> Pages {
    Pages::new(Shape::new(params).unwrap(), Allocation::new(params).unwrap())
}

/// Pages of all blocks that are not erased, without those of open blocks that are not programmed.
fn count_used_pages(pages: &Pages) -> u64 {
    let Shape { blocks, pages: block_pages, .. } = pages.shape;
    let used_pages = |die: &Die| {
        let open_blocks = [Some(die.open), die.collector];
        let unprogrammed = open_blocks.iter().flatten().map(|open| u64::from(block_pages - open.next));
        u64::from(blocks - die.free.len() as u32) * u64::from(block_pages) - unprogrammed.sum::<u64>()
    };
    pages.dies.iter().map(used_pages).sum()
}

/// Checks that the tables of a device, which began with `used_at_start` pages that are not erased, agree.
fn check(pages: &Pages, is_written: &[bool], used_at_start: u64) {
    let Shape { blocks, pages: block_pages, dies, max_valid, threshold, collects_blocks, .. } = pages.shape;
    let min_erased = if collects_blocks { 1 } else { threshold - 1 };
    let mut valid = vec![0_u32; (dies * blocks) as usize];
    let mut used_pages = std::collections::HashSet::new();
    for (logical, is_written) in is_written.iter().enumerate() {
        let place = pages.place(logical as u32);
        assert_eq!(place.is_some(), *is_written, "page {logical} of the host");
        if let Some(page) = place {
            assert!(used_pages.insert(page), "two pages of the host at {page}");
            assert_eq!(pages.owner(page), logical as u32);
            valid[(page / block_pages) as usize] += 1;
        }
    }
    for (number, die) in pages.dies.iter().enumerate() {
        let of_die = &valid[number * blocks as usize..][..blocks as usize];
        assert_eq!((of_die, of_die.iter().sum::<u32>()), (&die.valid[..], die.valid_pages));
        assert!(die.valid_pages <= max_valid && die.free.len() >= min_erased as usize);
        let mut full = die.full.clone();
        let mut listed_blocks = Vec::new();
        let mut last = 0;
        while let Some(block) = full.pop_lowest() {
            assert!(die.valid[block as usize] >= last, "not the fewest first");
            last = die.valid[block as usize];
            listed_blocks.push(block);
        }
        assert!(die.free.iter().all(|block| die.valid[*block as usize] == 0), "data in an erased block");
        listed_blocks.extend(die.free.iter().copied());
        listed_blocks.push(die.open.block);
        listed_blocks.extend(die.collector.map(|collector| collector.block));
        listed_blocks.extend(die.victim.map(|victim| victim.block));
        listed_blocks.sort_unstable();
        assert_eq!(
            listed_blocks,
            (0..blocks).collect::<Vec<_>>(),
            "every block is erased, open, full or being emptied"
        );
    }
    // All pages programmed lie in blocks that are not erased, and each block was erased before it was programmed
    // again.
    let PageCounts { host_pages, moved_pages, erased_blocks } = pages.counts;
    let programmed_pages = used_at_start + host_pages + moved_pages - erased_blocks * u64::from(block_pages);
    assert_eq!(
        programmed_pages,
        count_used_pages(pages),
        "pages programmed are pages of blocks that are not erased"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_conserved(
        (dies, blocks, pages_per_block, threshold) in (1_u64..5, 12_u64..30, 2_u64..20, 1_u64..5),
        (filled, hot, is_steady) in (0.0..=1.0, 0.01..1.0, any::<bool>()),
        writes in prop::collection::vec(0.0..1.0, 0..3_000),
    ) {
        let mut pages = pages(&SsdParams {
            channels: dies, dies_per_channel: 1, blocks_per_die: blocks, pages_per_block,
            over_provisioning: 1.5, gc_free_blocks: threshold, filled,
            precondition: if is_steady { Precondition::Random } else { Precondition::Sequential },
            ..SsdParams::default()
        });
        let used_at_start = count_used_pages(&pages);
        let mut is_written: Vec<bool> = (0..pages.shape.logical).map(|page| page < pages.shape.filled_pages).collect();
        for at in &writes {
            // Some pages are written more often than others, and pages of one die more than those of others.
            let page = (at * at * hot * f64::from(pages.shape.logical)) as u32 / dies as u32 * dies as u32;
            let page = page.min(pages.shape.logical - 1);
            let counts_before = pages.counts;
            let page_write = pages.write(page);
            prop_assert_eq!(page_write.old_die.is_some(), is_written[page as usize]);
            is_written[page as usize] = true;
            prop_assert_eq!(pages.die(page), page_write.new_die);
            prop_assert_eq!(pages.counts, PageCounts {
                host_pages: counts_before.host_pages + 1,
                moved_pages: counts_before.moved_pages + u64::from(page_write.moves),
                erased_blocks: counts_before.erased_blocks + u64::from(page_write.erases),
            });
        }
        check(&pages, &is_written, used_at_start);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn collected_blocks_conserve_pages(
        (blocks, pages_per_block, threshold, filled) in (16_u64..30, 2_u64..20, 1_u64..5, 0.0..=1.0),
        is_steady in any::<bool>(),
        writes in prop::collection::vec((0.0..1.0, any::<bool>()), 0..3_000),
    ) {
        let mut pages = pages(&SsdParams {
            channels: 2, dies_per_channel: 1, blocks_per_die: blocks, pages_per_block,
            over_provisioning: 2.0, gc_free_blocks: threshold, filled,
            precondition: if is_steady { Precondition::Random } else { Precondition::Sequential },
            garbage_collection: GarbageCollection::Block,
            ..SsdParams::default()
        });
        let used_at_start = count_used_pages(&pages);
        let Shape { logical, filled_pages, .. } = pages.shape;
        let mut is_written: Vec<bool> = (0..logical).map(|page| page < filled_pages).collect();
        let mut unprogrammed = Vec::new();
        for (at, is_programmed) in &writes {
            let page = (at * at * f64::from(logical)) as u32;
            let die = pages.choose_die(page);
            while !pages.has_room(die) {
                // Programs end, so that a block can be collected.
                for (die, block) in unprogrammed.drain(..) {
                    pages.programmed(die, block);
                }
                prop_assert!(pages.begin_collection(die).is_some());
                pages.end_collection(die);
            }
            let page_write = pages.write_to(die, page);
            is_written[page as usize] = true;
            prop_assert_eq!(pages.die(page), die);
            unprogrammed.push((die, page_write.new_block));
            if *is_programmed {
                for (die, block) in unprogrammed.drain(..) {
                    pages.programmed(die, block);
                }
                while pages.begin_collection(die).is_some() {
                    pages.end_collection(die);
                }
            }
        }
        for (die, block) in unprogrammed {
            pages.programmed(die, block);
        }
        check(&pages, &is_written, used_at_start);
    }
}

#[test]
fn writes_to_one_die_do_not_overfill_others() {
    let params = SsdParams {
        channels: 2,
        dies_per_channel: 1,
        blocks_per_die: 40,
        pages_per_block: 8,
        over_provisioning: 0.5,
        gc_free_blocks: 2,
        ..SsdParams::default()
    };
    let mut pages = pages(&params);
    let (logical, used_at_start) = (pages.shape.logical, count_used_pages(&pages));
    for _ in 0..20_000 {
        // The next die in turn gets a page that the other die holds.
        let other = 1 - pages.turn;
        let page = (0..logical).find(|page| pages.die(*page) == other).unwrap();
        pages.write(page);
    }
    check(&pages, &vec![true; logical as usize], used_at_start);
}

/// Write amplification of uniform random writes under greedy collection, for many blocks of `n` pages, of which a
/// share `full` holds data: the limit of many choices in the mean field model of Van Houdt 2013, solved by hand.
///
/// Blocks lose their pages one by one: in the steady state the number of blocks with i valid pages is proportional to
/// 1 / i, down to j, where nearly all are collected, a share x of them one page later. So
/// `n full = (n - j + x) / (H(n) - H(j) + x / j)`, and a collection frees n - j + x pages.
fn greedy(n: u32, full: f64) -> f64 {
    let n_pages = f64::from(n);
    let mut sum = 0.0;
    for j in (1..=n).rev() {
        let pages = f64::from(j);
        let filled_share = |x: f64| (n_pages - pages + x) / (n_pages * (sum + x / pages));
        if filled_share(1.0) <= full {
            // Linear in x: n full (sum + x / j) = n - j + x.
            let x = (n_pages - pages - n_pages * full * sum) / (n_pages * full / pages - 1.0);
            return n_pages / (n_pages - pages + x);
        }
        sum += 1.0 / pages;
    }
    1.0
}

#[test]
fn the_oracle_meets_the_limit_of_large_blocks() {
    // full = (a - 1) / ln a, where a is the share of a block that is moved (as in Desnoyers, SYSTOR 2012).
    for moved_share in [0.2_f64, 0.5, 0.8] {
        let full = (moved_share - 1.0) / moved_share.ln();
        let of_large = greedy(100_000, full);
        assert!((of_large * (1.0 - moved_share) - 1.0).abs() < 1e-3, "{of_large} at {full}");
    }
    // Small blocks are better: some of them have few valid pages left.
    assert!(greedy(8, 0.9) < greedy(64, 0.9));
}

#[test]
fn random_precondition_is_the_steady_state() {
    // Write amplification of the first writes, and after as many writes as the device has pages, is that of theory.
    for (over_provisioning, pages_per_block) in [(0.07, 32), (0.28, 32), (0.07, 128), (0.28, 8)] {
        let params = SsdParams {
            channels: 2,
            dies_per_channel: 2,
            blocks_per_die: 65_536 / pages_per_block,
            pages_per_block,
            over_provisioning,
            gc_free_blocks: 1,
            precondition: Precondition::Random,
            ..SsdParams::default()
        };
        let mut pages = pages(&params);
        let mut rng = seed::stream(1, "steady start");
        let Shape { logical, dies, blocks, .. } = pages.shape;
        let aging = dies * (blocks - 2) * pages_per_block as u32;
        let expected = greedy(pages_per_block as u32, f64::from(logical) / f64::from(aging));
        let steady = pages.steady_write_amplification();
        assert!((steady / expected - 1.0).abs() < 0.02, "{steady}, {expected}");
        for part in 0..4 {
            let counts_before = pages.counts;
            for _ in 0..logical / 4 {
                pages.write(rng.random_range(0..logical));
            }
            let host = pages.counts.host_pages - counts_before.host_pages;
            let moved = pages.counts.moved_pages - counts_before.moved_pages;
            let amplification = 1.0 + moved as f64 / host as f64;
            assert!(
                (amplification / expected - 1.0).abs() < 0.02,
                "{over_provisioning}, {pages_per_block}, part {part}: {amplification}, {expected}"
            );
        }
    }
}

#[test]
fn write_amplification_of_uniform_writes_equals_theory() {
    for (over_provisioning, pages_per_block) in [(0.07, 32), (0.125, 32), (0.28, 32), (0.07, 128), (0.28, 8)]
    {
        let params = SsdParams {
            channels: 1,
            dies_per_channel: 2,
            blocks_per_die: 65_536 / pages_per_block,
            pages_per_block,
            over_provisioning,
            gc_free_blocks: 1,
            ..SsdParams::default()
        };
        let mut pages = pages(&params);
        let mut rng = seed::stream(1, "write amplification");
        let Shape { logical, dies, blocks, .. } = pages.shape;
        let mut write_pages = |pages: &mut Pages, count: u32| {
            for _ in 0..count {
                pages.write(rng.random_range(0..logical));
            }
        };
        write_pages(&mut pages, logical * 4);
        let counts_before = pages.counts;
        write_pages(&mut pages, logical * 2);
        let PageCounts { host_pages: host, moved_pages: moved, .. } = pages.counts;
        let amplification =
            1.0 + (moved - counts_before.moved_pages) as f64 / (host - counts_before.host_pages) as f64;
        // Data do not age in the erased block and in the open block, which is half full on average.
        let aging = dies * (blocks - 2) * pages_per_block as u32;
        let expected = greedy(pages_per_block as u32, f64::from(logical) / f64::from(aging));
        assert!(
            (amplification / expected - 1.0).abs() < 0.01,
            "{over_provisioning}, {pages_per_block}: {amplification}, {expected}"
        );
    }
}
