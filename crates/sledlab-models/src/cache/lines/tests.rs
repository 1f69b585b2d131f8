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

impl Lines {
    /// Returns the runs of the blocks of `run` that the cache does not hold, without using their lines.
    pub(crate) fn missing_runs(&self, run: BlockRun) -> Vec<BlockRun> {
        let mut missing = Vec::new();
        for number in self.numbers(run) {
            self.append_missing(number, run, &mut missing);
        }
        missing
    }

    /// Reads the blocks `run`, and fetches those that are missing at once.
    fn read_and_fill(&mut self, run: BlockRun) -> Vec<BlockRun> {
        let missing = self.read(run);
        for run in &missing {
            self.fill(*run);
        }
        missing
    }

    /// Reads the blocks `run` ahead.
    fn read_ahead(&mut self, run: BlockRun) {
        self.prefetch(run);
        self.fill(run);
    }

    /// Destages all dirty blocks.
    fn destage_all(&mut self) {
        while let Some(run) = self.first_dirty() {
            self.begin_destage(run);
            self.end_destage(run);
        }
    }
}

#[test]
fn least_recently_used_line_is_evicted() {
    let mut lines = lines(12, 4);
    lines.read_and_fill(block_run(0, 12));
    lines.read(block_run(1, 1));
    lines.read_and_fill(block_run(20, 2));
    assert_eq!(lines.missing_runs(block_run(0, 12)), [block_run(4, 4)]);
    assert_eq!(lines.missing_runs(block_run(20, 4)), [block_run(22, 2)]);
}

#[test]
fn dirty_lines_stay_until_destaged() {
    let mut lines = lines(8, 4);
    assert_eq!(lines.write(block_run(2, 4)), 6);
    assert_eq!(lines.write(block_run(10, 2)), 10, "no room");
    lines.read_and_fill(block_run(12, 4));
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
    lines.read_and_fill(block_run(20, 4));
    assert_eq!(lines.write(block_run(20, 8)), 20, "resident blocks make no space for the others");
    assert_eq!(lines.write(block_run(20, 12)), 24, "more than half the cache goes piece by piece");
}

#[test]
fn write_does_not_evict_its_own_lines() {
    for policy in LIST.entries.iter().filter(|policy| !policy.facts.needs_future) {
        let mut lines = lines_with_policy(policy.name, 16, 4);
        lines.read_and_fill(block_run(4, 4));
        lines.read_and_fill(block_run(20, 12));
        assert_eq!(lines.write(block_run(2, 4)), 6);
        assert_eq!(lines.missing_runs(block_run(0, 8)), [block_run(0, 2)], "{}", policy.name);
    }
}

#[test]
fn read_longer_than_cache_uses_cached_blocks() {
    let mut lines = lines(16, 4);
    lines.read_and_fill(block_run(24, 4));
    assert_eq!(lines.read_and_fill(block_run(0, 28)), [block_run(0, 24)]);
    assert_eq!(lines.missing_runs(block_run(0, 28)), [block_run(0, 8), block_run(24, 4)]);
}

/// 2^21 blocks in pieces of 6: looking at all the remaining blocks with each piece would be 10^11 steps.
#[test]
fn a_large_write_takes_time_in_proportion() {
    let mut lines = lines(64, 4);
    let (run, mut next, mut pieces) = (block_run(2, 1 << 21), 2, 0);
    while next < run.end {
        next = lines.write(BlockRun { first: next, end: run.end });
        if let Some(destage) = lines.first_dirty() {
            lines.begin_destage(destage);
            lines.end_destage(destage);
            pieces += 1;
        }
    }
    assert!(pieces >= ((1 << 21) - 64) / 6);
}

proptest! {
    /// Each request of the host is one use of a line, and read-ahead is none: a cache whose blocks are destaged at once
    /// holds the same lines as the policy, which learns from the same uses before it evicts.
    #[test]
    fn lines_are_those_of_policy(
        steps in prop::collection::vec((0_u8..5, prop_oneof![0_u64..8, 0_u64..30], 0_u64..16, 1_u64..16), 1..300),
        capacity in 1_u64..12, line_blocks in 1_u64..=16,
    ) {
        for entry in LIST.entries.iter().filter(|entry| !entry.facts.needs_future) {
            let mut lines = lines_with_policy(entry.name, capacity * line_blocks, line_blocks);
            let mut policy = Choice::parse(entry.name).unwrap().make(capacity as usize).unwrap();
            for (step, number, from, blocks) in &steps {
                let from = from % line_blocks;
                let run = block_run(number * line_blocks + from, 1 + blocks % (line_blocks - from));
                match step {
                    0 if !policy.holds(*number) => {
                        lines.read_ahead(run);
                        policy.prefetch(*number);
                        continue;
                    }
                    0 => lines.read_ahead(run),
                    1 => {
                        lines.write(run);
                        lines.destage_all();
                    }
                    _ => drop(lines.read_and_fill(run)),
                }
                if *step > 0 {
                    policy.access(Use { key: *number, next: Use::NO_NEXT });
                }
                for number in 0..30 {
                    prop_assert_eq!(lines.line(number).is_some(), policy.holds(number), "{}", entry.name);
                }
            }
        }
    }

    /// The queues of last uses choose the same lines as the policy.
    #[test]
    fn order_of_last_uses_equals_lru(
        steps in prop::collection::vec((0_u8..7, 0_u64..120, 1_u64..60), 1..300), line_blocks in 1_u64..=16,
    ) {
        let policy = Choice::parse("lru").unwrap().make_sparing("", (48 / line_blocks) as usize).unwrap();
        let mut lines = [lines(48, line_blocks), Lines { order: Order::Policy(policy), ..lines(48, line_blocks) }];
        let mut in_flight: Vec<BlockRun> = Vec::new();
        for (step, first, blocks) in steps {
            let run = block_run(first, blocks);
            let [by_queues, by_policy] = lines.each_mut().map(|lines| match step {
                0 => { lines.read_and_fill(run); None }
                1 => lines.read(run).first().copied(),
                6 => { lines.read_ahead(run); None }
                2 => Some(block_run(lines.write(run), 0)),
                3 => lines.next_dirty(first),
                4 => lines.first_dirty(),
                _ => in_flight.first().copied().inspect(|destage| lines.end_destage(*destage)),
            });
            prop_assert_eq!(by_queues, by_policy);
            match by_queues {
                Some(destage) if step == 3 || step == 4 => {
                    for lines in &mut lines {
                        lines.begin_destage(destage);
                    }
                    in_flight.push(destage);
                }
                Some(_) if step == 5 => drop(in_flight.remove(0)),
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
        steps in prop::collection::vec((0_u8..6, 0_u64..120, 1_u64..60), 1..200), line_blocks in 1_u64..=48,
        policy in 0..LIST.len(),
    ) {
        prop_assume!(!LIST[policy].facts.needs_future);
        let mut lines = lines_with_policy(LIST[policy].name, 48, line_blocks);
        let mut dirty = BTreeSet::new();
        let mut in_flight: Vec<BlockRun> = Vec::new();
        for (step, first, blocks) in steps {
            let run = block_run(first, blocks);
            match step {
                0 => drop(lines.read_and_fill(run)),
                1 => drop(lines.read(run)),
                5 => lines.read_ahead(run),
                2 => dirty.extend(first..lines.write(run)),
                3 => {
                    if let Some(destage) = lines.next_dirty(first) {
                        prop_assert!((destage.first..destage.end).all(|block| dirty.remove(&block)));
                        lines.begin_destage(destage);
                        in_flight.push(destage);
                    }
                }
                _ if in_flight.is_empty() => {}
                _ => lines.end_destage(in_flight.swap_remove(first as usize % in_flight.len())),
            }
            let destaged = in_flight.iter().flat_map(|destage| destage.first..destage.end);
            let unwritten_blocks = dirty.iter().copied().chain(destaged);
            for block in unwritten_blocks {
                prop_assert!(lines.holds(block), "{block}");
            }
            prop_assert!(lines.resident.len() <= lines.capacity);
            if let Order::Policy(policy) = &lines.order {
                prop_assert_eq!(policy.len(), lines.resident.len());
            }
            let resident = lines.resident.values().map(|index| lines.entries[*index as usize]);
            prop_assert_eq!(resident.filter(Line::is_clean).count(), lines.clean);
            prop_assert_eq!(lines.is_dirty(), !dirty.is_empty());
            let first_dirty = lines.first_dirty().map(|run| run.first);
            prop_assert!(first_dirty.is_none_or(|block| dirty.contains(&block)));
        }
    }
}
