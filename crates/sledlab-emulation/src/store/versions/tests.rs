//! The versions kept are exactly those that a power failure may restore.

use proptest::prelude::*;

use super::*;

const BLOCKS: u64 = 6;

/// A write, in terms of the definition.
struct WriteState {
    id: u64,
    /// Number of operations that had begun when the write was acknowledged.
    acknowledged_at: Option<u64>,
    is_safe: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write {
        lbn: u64,
        blocks: u64,
        is_zero: bool,
    },
    Trim {
        lbn: u64,
        blocks: u64,
    },
    /// Acknowledges one of the writes in flight.
    Answer(usize),
    Flush,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let run = || (0..BLOCKS).prop_flat_map(|lbn| (Just(lbn), 1..=BLOCKS - lbn));
    let step = prop_oneof![
        4 => (run(), any::<bool>()).prop_map(|((lbn, blocks), is_zero)| Step::Write { lbn, blocks, is_zero }),
        1 => run().prop_map(|(lbn, blocks)| Step::Trim { lbn, blocks }),
        4 => any::<usize>().prop_map(Step::Answer),
        1 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 1..60)
}

/// A store, the kept versions, and the state from which the definition determines which versions a failure may restore.
struct Session {
    versions: Versions,
    is_volatile: bool,
    store: Vec<u8>,
    writes: Vec<WriteState>,
    /// By block: all versions since the last trim, with the data of each.
    history: Vec<Vec<(u64, Block)>>,
    next_id: u64,
}

impl Session {
    fn new(is_volatile: bool) -> Self {
        Session {
            versions: Versions::new(is_volatile),
            is_volatile,
            store: vec![9; BLOCKS as usize * BLOCK],
            writes: Vec::new(),
            history: vec![vec![(OLDEST_VERSION, [9; BLOCK])]; BLOCKS as usize],
            next_id: 0,
        }
    }

    fn step(&mut self, step: Step) {
        let id = self.next_id;
        self.next_id += 1;
        match step {
            Step::Write { lbn, blocks, is_zero } => {
                let bytes = lbn as usize * BLOCK..(lbn + blocks) as usize * BLOCK;
                self.versions.arrive(id, lbn, &self.store[bytes.clone()]);
                let data = [if is_zero { 0 } else { id as u8 + 10 }; BLOCK];
                self.store[bytes].as_chunks_mut::<BLOCK>().0.fill(data);
                self.writes.push(WriteState { id, acknowledged_at: None, is_safe: false });
                for block in lbn..lbn + blocks {
                    self.history[block as usize].push((version(id), data));
                }
            }
            Step::Trim { lbn, blocks } => {
                self.versions.trim(lbn, blocks);
                self.store[lbn as usize * BLOCK..(lbn + blocks) as usize * BLOCK].fill(0);
                for block in lbn..lbn + blocks {
                    self.history[block as usize] = vec![(OLDEST_VERSION, [0; BLOCK])];
                }
            }
            Step::Answer(pick) => {
                let next_id = self.next_id;
                let mut unacknowledged_writes: Vec<_> =
                    self.writes.iter_mut().filter(|w| w.acknowledged_at.is_none()).collect();
                if !unacknowledged_writes.is_empty() {
                    let index = pick % unacknowledged_writes.len();
                    let write = &mut *unacknowledged_writes[index];
                    write.acknowledged_at = Some(next_id);
                    write.is_safe |= !self.is_volatile;
                    self.versions.complete(write.id, Time::ZERO);
                    self.versions.advance(Time::ZERO);
                    self.versions.acknowledge(write.id);
                }
            }
            Step::Flush => {
                // Some durable writes may not have been acknowledged yet; without a volatile cache all have been.
                let is_volatile = self.is_volatile;
                self.writes
                    .iter_mut()
                    .filter(|w| is_volatile || w.acknowledged_at.is_some())
                    .for_each(|w| w.is_safe = true);
                if self.writes.iter().all(|write| write.is_safe) {
                    self.versions.flush(id);
                }
            }
        }
    }

    /// The versions that a block may hold: those that no safe write followed which began after their acknowledgement.
    fn possible_versions(&self, lbn: u64) -> Vec<(u64, Block)> {
        let history = &self.history[lbn as usize];
        let write_of = |candidate: u64| self.writes.iter().find(|write| version(write.id) == candidate);
        let acknowledged_at =
            |candidate: u64| write_of(candidate).map_or(Some(0), |write| write.acknowledged_at);
        let is_superseded = |candidate: u64| {
            let later_writes = history
                .iter()
                .filter_map(|(later, _)| write_of(*later))
                .filter(|write| version(write.id) > candidate);
            acknowledged_at(candidate).is_some_and(|acknowledged| {
                later_writes.into_iter().any(|write| write.is_safe && write.id >= acknowledged)
            })
        };
        history.iter().copied().filter(|(candidate, _)| !is_superseded(*candidate)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn only_restorable_versions_are_kept(
        is_volatile: bool, steps in steps(), picks in prop::collection::vec(any::<usize>(), BLOCKS as usize),
    ) {
        let mut session = Session::new(is_volatile);
        for step in steps {
            session.step(step);
            let mut kept_versions = 0;
            for lbn in 0..BLOCKS {
                let candidates = session.possible_versions(lbn);
                let newest = candidates.last().expect("the newest version is always possible").0;
                let is_settled = session.writes.iter().find(|write| version(write.id) == newest)
                    .is_none_or(|write| write.is_safe && write.acknowledged_at.is_some());
                kept_versions += if candidates.len() == 1 && is_settled { 0 } else { candidates.len() };
            }
            prop_assert_eq!(session.versions.version_count, kept_versions);
            let bytes = session.versions.blocks.values().map(|block| bytes(block)).sum::<usize>();
            prop_assert_eq!(session.versions.bytes, bytes);
        }
        let mut contents = Contents::default();
        let mut expected = session.store.clone();
        for (lbn, pick) in (0..BLOCKS).zip(picks) {
            let candidates = session.possible_versions(lbn);
            let (version, data) = candidates[pick % candidates.len()];
            if version > OLDEST_VERSION {
                contents.insert(lbn, Content::Data(version));
            }
            expected[lbn as usize * BLOCK..][..BLOCK].copy_from_slice(&data);
        }
        let Session { versions, mut store, .. } = session;
        for (lbn, data) in versions.recover(&contents).expect("all possible versions are kept").older {
            store[lbn as usize * BLOCK..][..BLOCK].copy_from_slice(&data);
        }
        prop_assert!(store == expected);
    }
}

#[test]
fn safe_writes_use_no_memory() {
    for is_volatile in [false, true] {
        let mut versions = Versions::new(is_volatile);
        for id in 0..1_000 {
            versions.arrive(id, id % 7, &[1; 8 * BLOCK]);
            versions.complete(id, Time::ZERO);
            versions.advance(Time::ZERO);
            if is_volatile {
                versions.flush(id + 1);
            }
            assert_eq!(versions.memory_bytes(), 0);
        }
    }
}

#[test]
fn dropped_version_is_not_restored() {
    let mut versions = Versions::new(false);
    versions.arrive(0, 0, &[1; BLOCK]);
    versions.complete(0, Time::ZERO);
    versions.advance(Time::ZERO);
    versions.arrive(1, 0, &[2; BLOCK]);
    versions.complete(1, Time::ZERO);
    versions.advance(Time::ZERO);
    versions.arrive(2, 0, &[3; BLOCK]);
    let contents = |candidate| Contents::from_iter([(0, Content::Data(candidate))]);
    let recovered = versions.recover(&contents(version(1))).expect("the older version");
    assert_eq!(recovered, RecoveredBlocks { newest: 0, older: vec![(0, [3; BLOCK])], lost: 0 });

    let mut versions = Versions::new(false);
    versions.arrive(0, 0, &[1; BLOCK]);
    versions.arrive(1, 0, &[2; BLOCK]);
    versions.complete(1, Time::ZERO);
    versions.advance(Time::ZERO);
    let error = versions.recover(&Contents::default()).expect_err("the first content is superseded");
    assert!(error.to_string().contains("already discarded"), "{error}");
}

#[test]
fn write_trimmed_in_flight_is_not_restored() {
    let mut versions = Versions::new(false);
    versions.arrive(0, 0, &[1; BLOCK]);
    versions.trim(0, 1);
    versions.arrive(1, 0, &[0; BLOCK]);
    versions.arrive(2, 0, &[2; BLOCK]);
    // The scheduler serves write 1, which is safe, before write 0, which reaches the medium last.
    versions.complete(1, Time::ZERO);
    versions.advance(Time::ZERO);
    let contents = Contents::from_iter([(0, Content::Data(version(0)))]);
    let result = versions.recover(&contents).expect("the data of write 1");
    assert_eq!(result, RecoveredBlocks { newest: 0, older: vec![(0, [2; BLOCK])], lost: 0 });
}

#[test]
fn only_acknowledged_writes_are_lost() {
    for acknowledges in [false, true] {
        let mut versions = Versions::new(true);
        versions.arrive(0, 0, &[1; BLOCK]);
        versions.complete(0, Time::ZERO);
        versions.advance(Time::ZERO);
        if acknowledges {
            versions.acknowledge(0);
        }
        let recovered = versions.recover(&Contents::default()).expect("the older version");
        let older = vec![(0, [1; BLOCK])];
        assert_eq!(recovered, RecoveredBlocks { newest: 0, older, lost: u64::from(acknowledges) });
    }
}

#[test]
fn write_is_safe_when_it_is_durable() {
    let at = Time::from_ns;
    for (failed_at, lost) in [(19, 1), (20, 0)] {
        let mut versions = Versions::new(false);
        versions.arrive(0, 0, &[1; BLOCK]);
        versions.complete(0, at(20));
        versions.acknowledge(0);
        versions.advance(at(failed_at));
        let contents =
            if lost > 0 { Contents::default() } else { Contents::from_iter([(0, Content::Data(1))]) };
        let recovered = versions.recover(&contents).expect("a version that is kept");
        assert_eq!((recovered.newest, recovered.older.len() as u64, recovered.lost), (0, lost, lost));
    }
}
