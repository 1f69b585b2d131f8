//! Tests that every message is received, every contribution arrives once, and no member waits for ever.

use proptest::prelude::*;
use sledlab_core::params::Choices;

use super::*;

/// Runs a program: members advance round by round, in any order that the messages allow. Each member holds a set of
/// contributions; `combine_with` combines the receiver's set, the sender's set and the bytes of a message into the
/// receiver's new set. Returns the sets that the members hold at the end.
fn run_program(
    program: &[Vec<Round>],
    initial: impl Fn(usize) -> u64,
    combine_with: impl Fn(u64, u64, u64) -> u64,
) -> Vec<u64> {
    let members = program.len();
    let rounds = program.first().map_or(0, Vec::len);
    let mut contributions: Vec<u64> = (0..members).map(initial).collect();
    let mut round = vec![0; members];
    let mut sent_messages = vec![0; members];
    // Messages by receiver and round: their bytes, and the set of the sender.
    let mut mailboxes = vec![vec![Vec::new(); rounds]; members];
    loop {
        let previous_state = (round.clone(), sent_messages.clone());
        for member in 0..members {
            while round[member] < rounds {
                let step = &program[member][round[member]];
                if sent_messages[member] == round[member] {
                    for (receiver, bytes) in &step.sends {
                        assert_ne!(*receiver, member, "a message to itself");
                        mailboxes[*receiver][round[member]].push((*bytes, contributions[member]));
                    }
                    sent_messages[member] += 1;
                }
                if mailboxes[member][round[member]].len() < step.receives {
                    break;
                }
                for (bytes, theirs) in std::mem::take(&mut mailboxes[member][round[member]]) {
                    contributions[member] = combine_with(contributions[member], theirs, bytes);
                }
                round[member] += 1;
            }
        }
        if previous_state == (round.clone(), sent_messages.clone()) {
            break;
        }
    }
    assert!(round.iter().all(|member_round| *member_round == rounds), "some wait for ever: {round:?}");
    assert!(mailboxes.iter().flatten().all(Vec::is_empty), "some messages were not received");
    contributions
}

/// Contributions that show their member: one bit each.
fn bits(members: usize) -> Vec<u64> {
    (0..members).map(|member| 1 << member).collect()
}

fn all_bits(members: usize) -> u64 {
    (1 << members) - 1
}

/// A message with the contributions whose bits `bytes` has: the sender has all of them, the receiver none.
fn union(mine: u64, theirs: u64, bytes: u64) -> u64 {
    assert_eq!(bytes & !theirs, 0, "sent what it does not have");
    assert_eq!(bytes & mine, 0, "received twice");
    mine | bytes
}

/// A message with the combination of all data of the sender; only the complete result may be sent to a member that has
/// part of it.
fn combine(everything: u64) -> impl Fn(u64, u64, u64) -> u64 {
    move |mine, theirs, _| {
        assert!(mine & theirs == 0 || theirs == everything, "combined twice");
        mine | theirs
    }
}

proptest! {
    #[test]
    fn gather_delivers_every_contribution_once(members in 1_usize..60, root in 0_usize..60) {
        let root = root % members;
        let bytes = bits(members);
        let gather = program(CollectiveOperation::Gather, root, &bytes);
        let contributions = run_program(&gather, |member| bytes[member], union);
        prop_assert_eq!(contributions[root], all_bits(members));
        let all_gather = program(CollectiveOperation::AllGather, root, &bytes);
        let contributions = run_program(&all_gather, |member| bytes[member], union);
        prop_assert!(contributions.iter().all(|contributions| *contributions == all_bits(members)));
    }

    #[test]
    fn reduce_combines_every_contribution_once(members in 1_usize..60, root in 0_usize..60) {
        let root = root % members;
        let bytes = bits(members);
        let everything = all_bits(members);
        let reduce = program(CollectiveOperation::Reduce, root, &bytes);
        let combined = run_program(&reduce, |member| bytes[member], combine(0));
        prop_assert_eq!(combined[root], everything);
        let all_reduce = program(CollectiveOperation::AllReduce, root, &bytes);
        let combined = run_program(&all_reduce, |member| bytes[member], combine(everything));
        prop_assert!(combined.iter().all(|contributions| *contributions == everything));
    }

    #[test]
    fn broadcast_reaches_every_member_once(members in 1_usize..60, root in 0_usize..60) {
        let root = root % members;
        let take_theirs = |mine, theirs, _| {
            assert_eq!((mine, theirs), (0, 1), "sent to one that had it, or by one that had not");
            theirs
        };
        let broadcast = program(CollectiveOperation::Broadcast, root, &vec![9; members]);
        let contributions = run_program(&broadcast, |member| u64::from(member == root), take_theirs);
        prop_assert!(contributions.iter().all(|contributions| *contributions == 1));
    }

    #[test]
    fn no_member_leaves_barrier_early(members in 1_usize..60) {
        let barrier = program(CollectiveOperation::Barrier, 0, &vec![5; members]);
        let contributions = run_program(&barrier, |member| 1 << member, |mine, theirs, bytes| {
            assert_eq!(bytes, 0);
            mine | theirs
        });
        prop_assert!(contributions.iter().all(|contributions| *contributions == all_bits(members)));
    }

    /// In each round a member waits for as many messages as are sent to it, and vectors have the length of the longest.
    #[test]
    fn sent_and_received_messages_match(
        bytes in prop::collection::vec(0_u64..1_000_000, 1..200), root in 0_usize..200,
    ) {
        let (members, longest) = (bytes.len(), bytes.iter().copied().max().unwrap());
        for kind in CollectiveOperation::ALL {
            let program = program(*kind, root % members, &bytes);
            prop_assert_eq!(program.len(), members);
            for round in 0..rounds(*kind, members) {
                let mut receives = vec![0; members];
                for (receiver, bytes) in program.iter().flat_map(|member| &member[round].sends) {
                    receives[*receiver] += 1;
                    match kind {
                        CollectiveOperation::Barrier => prop_assert_eq!(*bytes, 0),
                        CollectiveOperation::Gather | CollectiveOperation::AllGather => {}
                        CollectiveOperation::Broadcast
                        | CollectiveOperation::Reduce
                        | CollectiveOperation::AllReduce => prop_assert_eq!(*bytes, longest),
                    }
                }
                let waits_for: Vec<usize> = program.iter().map(|member| member[round].receives).collect();
                prop_assert_eq!(receives, waits_for, "{:?} round {}", kind, round);
            }
            prop_assert!(program.iter().all(|member| member.len() == rounds(*kind, members)));
        }
    }
}

#[test]
fn round_counts_equal_textbook() {
    let counts = |kind| [1, 2, 3, 4, 5, 8, 9, 1_000, 1_024].map(|members| rounds(kind, members));
    for kind in [
        CollectiveOperation::Barrier,
        CollectiveOperation::Gather,
        CollectiveOperation::Broadcast,
        CollectiveOperation::Reduce,
        CollectiveOperation::AllGather,
    ] {
        assert_eq!(counts(kind), [0, 1, 2, 2, 3, 3, 4, 10, 10]);
    }
    assert_eq!(counts(CollectiveOperation::AllReduce), [0, 1, 3, 2, 4, 3, 5, 11, 10]);
    assert!(program(CollectiveOperation::Barrier, 0, &[]).is_empty());
}

/// Total messages and bytes: a tree has one edge fewer than members, and the bytes sent are the fewest possible.
#[test]
fn messages_and_bytes_are_minimal() {
    let totals = |kind, bytes: &[u64]| {
        let sends = program(kind, 1, bytes).into_iter().flatten().flat_map(|round| round.sends);
        sends.fold((0, 0), |(messages, sum), (_, bytes)| (messages + 1, sum + bytes))
    };
    for members in [2, 3, 7, 64, 1_000, 1_024] {
        let (edges, others) = (members as u64 - 1, members as u64);
        let bytes = vec![10; members];
        assert_eq!(totals(CollectiveOperation::Broadcast, &bytes), (edges, 10 * edges));
        assert_eq!(totals(CollectiveOperation::Reduce, &bytes), (edges, 10 * edges));
        assert_eq!(totals(CollectiveOperation::Gather, &bytes).0, edges);
        assert_eq!(totals(CollectiveOperation::AllGather, &bytes).1, 10 * edges * others);
        assert_eq!(
            totals(CollectiveOperation::Barrier, &bytes).0,
            others * rounds(CollectiveOperation::Barrier, members) as u64
        );
    }
    assert_eq!(totals(CollectiveOperation::AllReduce, &[10; 1_024]).0, 10 * 1_024);
    assert_eq!(totals(CollectiveOperation::AllReduce, &[10; 1_000]).0, 9 * 512 + 2 * (1_000 - 512));
}

#[test]
#[should_panic(expected = "the root 3 is none of 3 members")]
fn a_root_is_a_member() {
    program(CollectiveOperation::Gather, 3, &[1, 2, 3]);
}
