//! Collectives as programs of messages: which messages each member of a group sends, and for how many it waits.
//!
//! Broadcast, gather and reduce run along binomial trees, a barrier disseminates, all-gather is Bruck's algorithm, and
//! all-reduce doubles the distance, with a fold before and after where the number of members is no power of two: the
//! textbook algorithms of MPI libraries (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
//! Operations in MPICH", 2005) for short messages. The caller adds what messages cost beyond their bytes.

#[cfg(test)]
mod tests;

sledlab_core::choices! {
    /// The collective operations of a group.
    pub enum CollectiveOperation {
        /// No member continues before all members have reached the barrier.
        Barrier = "barrier",
        /// The root gets the contributions of all members.
        Gather = "gather",
        /// All members get the root's vector.
        Broadcast = "broadcast",
        /// The root gets the combination of all members' vectors.
        Reduce = "reduce",
        /// All members get the combination of all members' vectors.
        AllReduce = "all-reduce",
        /// All members get the contributions of all members.
        AllGather = "all-gather",
    }
}

/// The sends and receives of a member before it starts the next round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Messages that the member sends at the beginning of the round: receiver and bytes.
    pub sends: Vec<(usize, u64)>,
    /// Number of messages of this round that the member waits for.
    pub receives: usize,
}

/// The rounds of each member: in a round it sends its messages, and continues after it has received `receives`
/// messages.
///
/// All members have equally many rounds, and a message counts for the receiver in the round with the number in which it
/// was sent: a message from a sender that is ahead waits for its round. A member that neither sends nor receives in a
/// round continues at once.
///
/// `bytes[i]` is the length of member `i`'s contribution (gather, all-gather) or of its vector, of which the longest
/// counts (broadcast, reduce, all-reduce). A barrier has messages of no bytes. Only a tree has a `root`.
///
/// # Panics
/// A root that is no member.
pub fn program(kind: CollectiveOperation, root: usize, bytes: &[u64]) -> Vec<Vec<Round>> {
    let members = bytes.len();
    assert!(root < members.max(1), "the root {root} is none of {members} members");
    let longest = bytes.iter().copied().max().unwrap_or(0);
    let mut program = Program::new(members, rounds(kind, members));
    match kind {
        CollectiveOperation::Barrier => program.disseminate(),
        CollectiveOperation::Gather => {
            let contributions = Ring::new(root, bytes);
            program.send_up(root, |first, count| contributions.sum(first, count));
        }
        CollectiveOperation::Reduce => program.send_up(root, |_, _| longest),
        CollectiveOperation::Broadcast => program.send_down(root, longest),
        CollectiveOperation::AllGather => program.bruck(&Ring::new(0, bytes)),
        CollectiveOperation::AllReduce => program.recursive_doubling(longest),
    }
    program.0
}

/// Number of rounds of a collective of `members` members.
pub fn rounds(kind: CollectiveOperation, members: usize) -> usize {
    let members = members.max(1);
    match kind {
        CollectiveOperation::AllReduce if !members.is_power_of_two() => members.ilog2() as usize + 2,
        _ => members.next_power_of_two().ilog2() as usize,
    }
}

/// Sums of the contributions of consecutive members on a ring: from the root of a tree on, otherwise from member 0 on.
struct Ring {
    /// Sums over all members before each one, twice round the ring.
    sums: Vec<u64>,
}

impl Ring {
    fn new(first: usize, bytes: &[u64]) -> Self {
        let twice = bytes.iter().cycle().skip(first).take(2 * bytes.len());
        let mut sums = vec![0];
        sums.extend(twice.scan(0_u64, |sum, bytes| {
            *sum = sum.saturating_add(*bytes);
            Some(*sum)
        }));
        Ring { sums }
    }

    /// Returns the sum over `count` members from `first` on; `count` is at most the number of members.
    fn sum(&self, first: usize, count: usize) -> u64 {
        self.sums[first + count] - self.sums[first]
    }
}

/// The rounds of every member.
struct Program(Vec<Vec<Round>>);

impl Program {
    fn new(members: usize, rounds: usize) -> Self {
        Program(vec![vec![Round::default(); rounds]; members])
    }

    fn members(&self) -> usize {
        self.0.len()
    }

    fn send(&mut self, round: usize, sender: usize, receiver: usize, bytes: u64) {
        self.0[sender][round].sends.push((receiver, bytes));
        self.0[receiver][round].receives += 1;
    }

    /// Returns the rounds, each with the distance on the ring of its messages: 1, 2, 4 and so on below the number of
    /// members.
    fn distances(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        let rounds = self.members().max(1).next_power_of_two().ilog2() as usize;
        (0..rounds).map(|round| (round, 1 << round))
    }

    /// A dissemination barrier: after each round, every member has been notified of twice as many members that have
    /// arrived.
    fn disseminate(&mut self) {
        let members = self.members();
        for (round, distance) in self.distances() {
            for member in 0..members {
                self.send(round, member, (member + distance) % members, 0);
            }
        }
    }

    /// Sends up a binomial tree to the root. On the ring that begins with the root, a sender passes on the
    /// contributions of `count` consecutive members from itself on, whose bytes `bytes(first, count)` returns.
    fn send_up(&mut self, root: usize, bytes: impl Fn(usize, usize) -> u64) {
        let members = self.members();
        for (round, distance) in self.distances() {
            for child in (distance..members).step_by(2 * distance) {
                let bytes = bytes(child, distance.min(members - child));
                self.send(round, (child + root) % members, (child - distance + root) % members, bytes);
            }
        }
    }

    /// Sends down the same tree, over the longest distance first.
    fn send_down(&mut self, root: usize, bytes: u64) {
        let members = self.members();
        for (round, (_, distance)) in self.distances().rev().enumerate() {
            for child in (distance..members).step_by(2 * distance) {
                self.send(round, (child - distance + root) % members, (child + root) % members, bytes);
            }
        }
    }

    /// Bruck's algorithm: every member sends the contributions that it has, at most those the receiver lacks, to the
    /// member `distance` before it. A member has consecutive contributions on the ring, from its own on.
    fn bruck(&mut self, contributions: &Ring) {
        let members = self.members();
        for (round, distance) in self.distances() {
            for member in 0..members {
                let bytes = contributions.sum(member, distance.min(members - distance));
                self.send(round, member, (member + members - distance) % members, bytes);
            }
        }
    }

    /// Recursive doubling: pairs exchange their vectors, at twice the distance in each round. Each member beyond a
    /// power of two hands its vector to a neighbor in the first round and gets the result in the last.
    fn recursive_doubling(&mut self, bytes: u64) {
        let members = self.members().max(1);
        let power = 1 << members.ilog2();
        let folded = members - power;
        let last = rounds(CollectiveOperation::AllReduce, members).saturating_sub(1);
        for pair in 0..folded {
            self.send(0, 2 * pair, 2 * pair + 1, bytes);
            self.send(last, 2 * pair + 1, 2 * pair, bytes);
        }
        // Of a folded pair the member with the odd number takes part.
        let member = |rank: usize| if rank < folded { 2 * rank + 1 } else { rank + folded };
        let first = usize::from(folded > 0);
        for round in 0..power.ilog2() as usize {
            for rank in 0..power {
                self.send(first + round, member(rank), member(rank ^ (1 << round)), bytes);
            }
        }
    }
}
