//! Collectives as programs of messages: what each member of a group sends, and for how many messages it waits.
//!
//! Broadcast, gather and reduce run along binomial trees, a barrier disseminates, all-gather is Bruck's algorithm, and
//! all-reduce doubles the distance, with a fold before and after where the number of members is no power of two: the
//! textbook algorithms of MPI libraries (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
//! Operations in MPICH", 2005) for short messages. What they cost beyond their bytes is for the caller to say.

#[cfg(test)]
mod tests;

sledlab_core::choices! {
    /// What a group does together.
    pub enum CollectiveOperation {
        /// Nobody goes on before everybody is there.
        Barrier = "barrier",
        /// The root gets what everybody contributes.
        Gather = "gather",
        /// Everybody gets the root's vector.
        Broadcast = "broadcast",
        /// The root gets the combination of everybody's vectors.
        Reduce = "reduce",
        /// Everybody gets the combination of everybody's vectors.
        AllReduce = "all-reduce",
        /// Everybody gets what everybody contributes.
        AllGather = "all-gather",
    }
}

/// What a member does before it goes on to the next round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// To whom it sends how many bytes, at once.
    pub sends: Vec<(usize, u64)>,
    /// How many messages of this round it waits for.
    pub receives: usize,
}

/// What each member does, round after round: it sends, and goes on when it has received as many messages as said.
///
/// All members have equally many rounds, and a message counts in the round of the receiver in which it is sent: one
/// that is early, because its sender is ahead, waits for its round. A member that neither sends nor receives in a round
/// goes on at once.
///
/// `bytes[i]` is what member `i` contributes (gather, all-gather), or the length of its vector, of which the longest
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
            let held = Ring::new(root, bytes);
            program.rise(root, |first, count| held.sum(first, count));
        }
        CollectiveOperation::Reduce => program.rise(root, |_, _| longest),
        CollectiveOperation::Broadcast => program.fall(root, longest),
        CollectiveOperation::AllGather => program.bruck(&Ring::new(0, bytes)),
        CollectiveOperation::AllReduce => program.double(longest),
    }
    program.0
}

/// How many rounds a collective of so many members has.
pub fn rounds(kind: CollectiveOperation, members: usize) -> usize {
    let members = members.max(1);
    match kind {
        CollectiveOperation::AllReduce if !members.is_power_of_two() => members.ilog2() as usize + 2,
        _ => members.next_power_of_two().ilog2() as usize,
    }
}

/// Sums of contributions over members that follow each other round the ring, from the first of a tree on.
struct Ring {
    /// Of the members before each; twice round.
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

    /// Of `count` members from `first` on; no more than there are.
    fn sum(&self, first: usize, count: usize) -> u64 {
        self.sums[first + count] - self.sums[first]
    }
}

/// The rounds of each member, by member.
struct Program(Vec<Vec<Round>>);

impl Program {
    fn new(members: usize, rounds: usize) -> Self {
        Program(vec![vec![Round::default(); rounds]; members])
    }

    fn members(&self) -> usize {
        self.0.len()
    }

    fn send(&mut self, round: usize, from: usize, to: usize, bytes: u64) {
        self.0[from][round].sends.push((to, bytes));
        self.0[to][round].receives += 1;
    }

    /// How far the messages of each round go: 1, 2, 4 ... up to half the members.
    fn distances(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        let rounds = self.members().max(1).next_power_of_two().ilog2() as usize;
        (0..rounds).map(|round| (round, 1 << round))
    }

    /// After a round, everybody knows of twice as many who are there.
    fn disseminate(&mut self) {
        let members = self.members();
        for (round, distance) in self.distances() {
            for member in 0..members {
                self.send(round, member, (member + distance) % members, 0);
            }
        }
    }

    /// Up a binomial tree to the root. A member that sends speaks for those that follow it on the ring that starts with
    /// the root: from `first` on, `count` of them, which is so many bytes.
    fn rise(&mut self, root: usize, bytes: impl Fn(usize, usize) -> u64) {
        let members = self.members();
        for (round, distance) in self.distances() {
            for child in (distance..members).step_by(2 * distance) {
                let bytes = bytes(child, distance.min(members - child));
                self.send(round, (child + root) % members, (child - distance + root) % members, bytes);
            }
        }
    }

    /// Down the same tree, the farthest first.
    fn fall(&mut self, root: usize, bytes: u64) {
        let members = self.members();
        for (round, (_, distance)) in self.distances().rev().enumerate() {
            for child in (distance..members).step_by(2 * distance) {
                self.send(round, (child - distance + root) % members, (child + root) % members, bytes);
            }
        }
    }

    /// Everybody sends all it has, at most what is missing there, to the member a distance before it; what it has are
    /// the contributions from its own on round the ring.
    fn bruck(&mut self, held: &Ring) {
        let members = self.members();
        for (round, distance) in self.distances() {
            for member in 0..members {
                let bytes = held.sum(member, distance.min(members - distance));
                self.send(round, member, (member + members - distance) % members, bytes);
            }
        }
    }

    /// Pairs exchange what they have, at twice the distance each round. Of those beyond a power of two, each hands its
    /// vector to a neighbour before and gets the result from it afterwards.
    fn double(&mut self, bytes: u64) {
        let members = self.members().max(1);
        let power = 1 << members.ilog2();
        let folded = members - power;
        let last = rounds(CollectiveOperation::AllReduce, members).saturating_sub(1);
        for pair in 0..folded {
            self.send(0, 2 * pair, 2 * pair + 1, bytes);
            self.send(last, 2 * pair + 1, 2 * pair, bytes);
        }
        // Of a folded pair the odd one takes part.
        let member = |rank: usize| if rank < folded { 2 * rank + 1 } else { rank + folded };
        let first = usize::from(folded > 0);
        for round in 0..power.ilog2() as usize {
            for rank in 0..power {
                self.send(first + round, member(rank), member(rank ^ (1 << round)), bytes);
            }
        }
    }
}
