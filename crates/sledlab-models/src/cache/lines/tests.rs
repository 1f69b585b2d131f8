//! Tests of the lines of a cache.

use proptest::prelude::*;

use super::*;
use crate::replacement::LIST;

fn lines(capacity_blocks: u64, line_blocks: u64) -> Lines {
    lines_with_policy("lru", capacity_blocks, line_blocks)
}

fn lines_with_policy(policy: &str, capacity_blocks: u64, line_blocks: u64) -> Lines {
    let replacement = policy.to_owned();
    let params = CacheParams {
        capacity_blocks,
        line_blocks,
        destage_blocks: 6,
        replacement,
        ..CacheParams::default()
    };
    Lines::new(&params).unwrap()
}

fn block_run(first: u64, blocks: u64) -> BlockRun {
    BlockRun { first, end: first + blocks }
}

#[test]
fn least_recently_used_line_is_evicted() {
    let mut lines = lines(12, 4);
    lines.fill(block_run(0, 12));
    lines.touch(block_run(1, 1));
    lines.fill(block_run(20, 2));
    assert_eq!(lines.missing_runs(block_run(0, 12)), [block_run(4, 4)]);
    assert_eq!(lines.missing_runs(block_run(20, 4)), [block_run(22, 2)]);
}

#[test]
fn dirty_lines_stay_until_destaged() {
    let mut lines = lines(8, 4);
    assert_eq!(lines.write(block_run(2, 4)), 6);
    assert_eq!(lines.write(block_run(10, 2)), 10, "no room");
    lines.fill(block_run(12, 4));
    assert_eq!(lines.missing_runs(block_run(12, 4)), [block_run(12, 4)]);
    assert_eq!(lines.first_dirty(), Some(block_run(2, 4)));
    lines.begin_destage(block_run(2, 4));
    assert_eq!((lines.first_dirty(), lines.next_dirty(0)), (None, None));
    assert_eq!(lines.write(block_run(10, 2)), 10, "a line in flight is not resident");
    assert_eq!(lines.write(block_run(3, 1)), 4, "written again meanwhile");
    assert_eq!(lines.next_dirty(0), None, "one write of a block at a time");
    lines.end_destage(block_run(2, 4));
    assert_eq!(lines.next_dirty(0), Some(block_run(3, 1)));
    assert_eq!(lines.write(block_run(10, 2)), 12);
    assert_eq!(lines.missing_runs(block_run(0, 12)), [block_run(0, 2), block_run(4, 6)]);
}

#[test]
fn destages_ascend_and_wrap_around() {
    let mut lines = lines(400, 4);
    for first in [40, 8, 100] {
        lines.write(block_run(first, 10));
    }
    assert_eq!(lines.next_dirty(30), Some(block_run(40, 6)), "at most so many at once");
    assert_eq!(lines.next_dirty(104), Some(block_run(104, 6)));
    assert_eq!(lines.next_dirty(108), Some(block_run(104, 6)), "with what lies before");
    assert_eq!(lines.next_dirty(112), Some(block_run(8, 6)));
    assert_eq!(lines.first_dirty(), Some(block_run(40, 6)));
}

#[test]
fn write_waits_for_room_for_all_blocks() {
    let mut lines = lines(16, 4);
    lines.write(block_run(0, 12));
    assert_eq!(lines.write(block_run(20, 8)), 20, "two lines, and one is left");
    lines.fill(block_run(20, 4));
    assert_eq!(lines.write(block_run(20, 8)), 20, "resident blocks make no space for the others");
    assert_eq!(lines.write(block_run(20, 12)), 24, "more than half the cache goes piece by piece");
}

/// Counts a use of each resident line of `run`; tries every number.
fn touch_every_line(lines: &mut Lines, run: BlockRun) {
    for number in lines.numbers(run) {
        if let Some(index) = lines.resident.get(&number).copied() {
            lines.change(index, |_| {});
        }
    }
}

/// Numbers of the lines of a cache under LRU, in the order in which they would be evicted.
fn eviction_order(lines: &Lines) -> Vec<u64> {
    let mut all: Vec<_> = lines.resident.values().map(|index| lines.entries[*index as usize]).collect();
    all.sort_unstable_by_key(|line| line.last_use);
    all.into_iter().map(|line| line.number).collect()
}

/// 2^21 blocks in pieces of 6: looking at all the remaining blocks with each piece would be 10^11 steps.
#[test]
fn a_large_write_takes_time_in_proportion() {
    let mut lines = lines(64, 4);
    let (all, mut next, mut pieces) = (block_run(2, 1 << 21), 2, 0);
    while next < all.end {
        next = lines.write(BlockRun { first: next, end: all.end });
        if let Some(out) = lines.first_dirty() {
            lines.begin_destage(out);
            lines.end_destage(out);
            pieces += 1;
        }
    }
    assert!(pieces >= ((1 << 21) - 64) / 6);
}

proptest! {
    /// For any resident lines, and runs of any length.
    #[test]
    fn touch_equals_touching_every_line(
        fills in prop::collection::vec((0_u64..200, 1_u64..20, any::<bool>()), 1..40),
        touches in prop::collection::vec((0_u64..200, 1_u64..400), 1..10),
        line_blocks in 1_u64..=64,
    ) {
        let [mut lines, mut oracle] = [0, 1].map(|_| {
            let mut lines = lines(96, line_blocks);
            for (first, blocks, is_written) in &fills {
                if *is_written {
                    lines.write(block_run(*first, *blocks));
                } else {
                    lines.fill(block_run(*first, *blocks));
                }
            }
            lines
        });
        for (first, blocks) in touches {
            lines.touch(block_run(first, blocks));
            touch_every_line(&mut oracle, block_run(first, blocks));
        }
        prop_assert_eq!((lines.clean, &lines.dirty_numbers), (oracle.clean, &oracle.dirty_numbers));
        prop_assert_eq!(eviction_order(&lines), eviction_order(&oracle));
    }

    /// The queues of last uses choose the same lines as the policy.
    #[test]
    fn order_of_last_uses_equals_lru(
        steps in prop::collection::vec((0_u8..6, 0_u64..120, 1_u64..20), 1..300), line_blocks in 1_u64..=16,
    ) {
        let policy = Choice::parse("lru").unwrap().make_sparing("", (48 / line_blocks) as usize).unwrap();
        let mut lines = [lines(48, line_blocks), Lines { order: Order::Policy(policy), ..lines(48, line_blocks) }];
        let mut on_their_way: Vec<BlockRun> = Vec::new();
        for (step, first, blocks) in steps {
            let all = block_run(first, blocks);
            let [own, oracle] = lines.each_mut().map(|lines| match step {
                0 => { lines.fill(all); None }
                1 => { lines.touch(all); None }
                2 => Some(block_run(lines.write(all), 0)),
                3 => lines.next_dirty(first),
                4 => lines.first_dirty(),
                _ => on_their_way.first().copied().inspect(|out| lines.end_destage(*out)),
            });
            prop_assert_eq!(own, oracle);
            match own {
                Some(out) if step == 3 || step == 4 => {
                    for lines in &mut lines {
                        lines.begin_destage(out);
                    }
                    on_their_way.push(out);
                }
                Some(_) if step == 5 => drop(on_their_way.remove(0)),
                _ => {}
            }
            let missing = lines.each_ref().map(|lines| lines.missing_runs(block_run(0, 140)));
            prop_assert_eq!(&missing[0], &missing[1]);
        }
    }

    /// Compared with sets of blocks: no written block is lost, and the cache never holds more lines than it has
    /// room for.
    #[test]
    fn dirty_blocks_are_never_lost(
        steps in prop::collection::vec((0_u8..5, 0_u64..120, 1_u64..20), 1..200), line_blocks in 1_u64..=48,
        policy in 0..LIST.len(),
    ) {
        prop_assume!(!LIST[policy].facts.needs_future);
        let mut lines = lines_with_policy(LIST[policy].name, 48, line_blocks);
        let mut dirty = BTreeSet::new();
        let mut on_their_way: Vec<BlockRun> = Vec::new();
        for (step, first, blocks) in steps {
            let all = block_run(first, blocks);
            match step {
                0 => lines.fill(all),
                1 => lines.touch(all),
                2 => dirty.extend(first..lines.write(all)),
                3 => {
                    if let Some(out) = lines.next_dirty(first) {
                        prop_assert!((out.first..out.end).all(|block| dirty.remove(&block)));
                        lines.begin_destage(out);
                        on_their_way.push(out);
                    }
                }
                _ if on_their_way.is_empty() => {}
                _ => lines.end_destage(on_their_way.swap_remove(first as usize % on_their_way.len())),
            }
            let stored = dirty.iter().copied().chain(on_their_way.iter().flat_map(|out| out.first..out.end));
            for block in stored {
                prop_assert!(lines.holds(block), "{block}");
            }
            prop_assert!(lines.resident.len() <= lines.capacity);
            if let Order::Policy(policy) = &lines.order {
                prop_assert_eq!(policy.len(), lines.resident.len());
            }
            let resident = lines.resident.values().map(|index| lines.entries[*index as usize]);
            prop_assert_eq!(resident.filter(Line::is_clean).count(), lines.clean);
            prop_assert_eq!(lines.is_dirty(), !dirty.is_empty());
            let out = lines.first_dirty().map(|run| run.first);
            prop_assert!(out.is_none_or(|block| dirty.contains(&block)));
        }
    }
}
