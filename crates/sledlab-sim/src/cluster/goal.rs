//! Export to GOAL, the language of `LogGOPSim` and related simulators (Hoefler, Schneider, Lumsdaine, HPDC 2010): each
//! node is a rank that computes, sends and receives, so network simulators can run sledlab's jobs.
//!
//! GOAL has no stores: the computation of a rank lasts as long as the node computes and uses its store, without
//! overlap. GOAL has no phases either: ranks end a phase together with a barrier. Its messages have at least one byte.

use std::io::Write;

use sledlab_core::{Error, Result};
use sledlab_models::network::collective::{self, CollectiveOperation};
use sledlab_trace::work::{Phase, Work};

use super::engine::collective_operation;
use super::messages::sends_in_turn;
use super::outcome::{ClusterOutcome, PhaseOutcome};

/// The schedule of a rank under construction.
#[derive(Clone, Default)]
struct Rank {
    lines: Vec<String>,
    operations: usize,
    /// Numbers of the operations on which the next operations depend.
    last: Vec<usize>,
}

impl Rank {
    /// Adds an operation that depends on those of `after`; returns its number.
    fn add(&mut self, operation: &str, predecessors: &[usize]) -> usize {
        self.operations += 1;
        let number = self.operations;
        self.lines.push(format!("l{number}: {operation}"));
        self.lines
            .extend(predecessors.iter().map(|predecessor| format!("l{number} requires l{predecessor}")));
        number
    }
}

/// Writes the schedule of all ranks, the client last.
///
/// # Errors
/// Errors of the writer.
pub fn goal(work: &Work, outcome: &ClusterOutcome, out: &mut dyn Write) -> Result<()> {
    let mut schedule = Schedule { ranks: vec![Rank::default(); work.nodes + 1], tag: 0 };
    // A start-up phase may precede the phases of the record.
    let startup = outcome.phases.len().saturating_sub(work.phases.len());
    for (index, phase_outcome) in outcome.phases.iter().enumerate() {
        schedule.compute(phase_outcome);
        if let Some(phase) = index.checked_sub(startup).and_then(|index| work.phases.get(index)) {
            schedule.communicate(phase);
        }
        if index + 1 < outcome.phases.len() {
            let nodes: Vec<usize> = (0..work.nodes).collect();
            schedule.collective(CollectiveOperation::Barrier, 0, &vec![0; work.nodes], &nodes);
        }
    }
    schedule.write(out).map_err(|error| Error::user(format!("cannot write the schedule: {error}")))
}

/// The schedule of all ranks under construction.
struct Schedule {
    ranks: Vec<Rank>,
    /// Tag of the next messages.
    tag: usize,
}

impl Schedule {
    /// Adds the computation of a phase.
    fn compute(&mut self, phase_outcome: &PhaseOutcome) {
        for (rank, node) in self.ranks.iter_mut().zip(&phase_outcome.nodes) {
            let predecessors = std::mem::take(&mut rank.last);
            rank.last = vec![rank.add(&format!("calc {}", node.compute_ns + node.store_ns), &predecessors)];
        }
    }

    /// Adds the messages of a phase.
    fn communicate(&mut self, phase: &Phase) {
        let sends = phase.steps.iter().enumerate().flat_map(|(from, step)| {
            sends_in_turn(step, from).into_iter().map(move |(to, bytes)| (from, to as usize, bytes))
        });
        self.exchange(sends);
        for collective in &phase.collectives {
            self.collective(
                collective_operation(collective.kind),
                collective.root,
                &collective.bytes,
                &collective.members,
            );
        }
    }

    fn collective(&mut self, kind: CollectiveOperation, root: usize, bytes: &[u64], members: &[usize]) {
        let programs = collective::program(kind, root, bytes);
        for round in 0..collective::rounds(kind, members.len()) {
            let sends = programs.iter().enumerate().flat_map(|(from, rounds)| {
                let sends = rounds.get(round).into_iter().flat_map(|round| &round.sends);
                sends.map(move |(to, bytes)| (members[from], members[*to], *bytes))
            });
            self.exchange(sends);
        }
    }

    /// Adds messages that may all be sent when the previous operations are complete, and that are all received before
    /// the next operations. Simulators send the messages of a rank in their order here.
    fn exchange(&mut self, sends: impl Iterator<Item = (usize, usize, u64)>) {
        let (ranks, tag) = (&mut self.ranks, self.tag);
        self.tag += 1;
        let predecessors: Vec<Vec<usize>> = ranks.iter().map(|rank| rank.last.clone()).collect();
        let mut has_messages = vec![false; ranks.len()];
        for (from, to, bytes) in sends {
            let bytes = bytes.max(1);
            for (rank, operation) in [
                (from, format!("send {bytes}b to {to} tag {tag}")),
                (to, format!("recv {bytes}b from {from} tag {tag}")),
            ] {
                let number = ranks[rank].add(&operation, &predecessors[rank]);
                if !std::mem::replace(&mut has_messages[rank], true) {
                    ranks[rank].last.clear();
                }
                ranks[rank].last.push(number);
            }
        }
    }

    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "num_ranks {}", self.ranks.len())?;
        for (index, rank) in self.ranks.iter().enumerate() {
            writeln!(out, "\nrank {index} {{")?;
            rank.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            writeln!(out, "}}")?;
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Cursor;

    use super::super::{ClusterExperiment, ClusterHooks};
    use super::*;

    /// The end of the last operation of a schedule whose messages take no time.
    fn schedule_ns(schedule: &str) -> u64 {
        let ranks: Vec<Vec<&str>> =
            schedule.split("\nrank ").skip(1).map(|rank| rank.lines().skip(1).collect()).collect();
        let mut ends: BTreeMap<(usize, &str), u64> = BTreeMap::new();
        let operations = |rank: usize| ranks[rank].iter().filter_map(move |line| line.split_once(": "));
        // Every round of the loop computes at least one end, so this many rounds compute all.
        for _ in 0..ranks.iter().map(Vec::len).sum() {
            for (rank, lines) in ranks.iter().enumerate() {
                for (name, operation) in operations(rank) {
                    let mut start = 0;
                    let mut can_start = true;
                    let mut wait_for = |end: Option<&u64>| match end {
                        Some(end) => start = start.max(*end),
                        None => can_start = false,
                    };
                    for line in lines {
                        if let Some(predecessor) = line.strip_prefix(&format!("{name} requires ")) {
                            wait_for(ends.get(&(rank, predecessor)));
                        }
                    }
                    let words: Vec<&str> = operation.split(' ').collect();
                    if let ["recv", bytes, "from", sender, "tag", tag] = words[..] {
                        let (sender, send) =
                            (sender.parse().unwrap(), format!("send {bytes} to {rank} tag {tag}"));
                        let sent = operations(sender).find(|(_, operation)| *operation == send);
                        wait_for(ends.get(&(sender, sent.unwrap().0)));
                    }
                    let duration_ns = if words[0] == "calc" { words[1].parse().unwrap() } else { 0 };
                    if can_start {
                        ends.insert((rank, name), start + duration_ns);
                    }
                }
            }
        }
        ends.into_values().max().unwrap()
    }

    #[test]
    fn ranks_end_phases_together_as_nodes() {
        // Nodes alternate in which is the slowest; the phase called `start-up` is one of the record.
        let text = r#"{"work": 1, "job": "two", "nodes": 3, "files": {}}
{"phase": "start-up", "node": 0, "operations": {"tuple": 9000}}
{"phase": "start-up", "node": 1, "operations": {"tuple": 10}}
{"phase": "other", "node": 1, "operations": {"tuple": 7000}}
{"phase": "last", "node": 2, "operations": {"tuple": 5000}}
"#;
        let work = Work::parse("two.work", Cursor::new(text)).unwrap();
        for startup_ms in ["0", "3"] {
            let mut experiment = ClusterExperiment::new();
            experiment.set("device.preset", "ram").unwrap();
            experiment.set("node.startup_ms", startup_ms).unwrap();
            let outcome = experiment.run(&work, ClusterHooks::default()).unwrap();
            let mut out = Vec::new();
            goal(&work, &outcome, &mut out).unwrap();
            assert_eq!(schedule_ns(&String::from_utf8(out).unwrap()), outcome.elapsed_ns, "{startup_ms} ms");
        }
    }

    #[test]
    fn sends_and_receives_match() {
        let text = r#"{"work": 1, "job": "sort", "nodes": 3, "files": {"data": 81920}}
{"phase": "sampling", "nodes": "all", "reads": [{"file": "data"}], "operations": {"tuple": 10}}
{"phase": "sampling", "collective": "all-gather", "bytes": 100}
{"phase": "exchange", "nodes": "all", "sends": {"each": 1000, "client": 7}}
"#;
        let work = Work::parse("sort.work", Cursor::new(text)).unwrap();
        let mut experiment = ClusterExperiment::new();
        experiment.set("device.preset", "ram").unwrap();
        let outcome = experiment.run(&work, ClusterHooks::default()).unwrap();
        let mut out = Vec::new();
        goal(&work, &outcome, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with("num_ranks 4\n"));
        let count = |word: &str| out.matches(word).count();
        assert_eq!(count(": send "), count(": recv "));
        assert_eq!(count(": send 1000b"), 6);
        assert_eq!(count(": recv 7b"), 3);
        assert_eq!(count(": calc "), 6);
        // Each node begins with the node after it, and a barrier of two rounds ends the first phase.
        let first = |rank: &str| {
            let send = rank.lines().find(|line| line.contains(": send 1000b")).unwrap();
            send.split_once(" to ").unwrap().1.chars().next().unwrap()
        };
        let ranks: Vec<&str> = out.split("\nrank ").skip(1).collect();
        assert_eq!(ranks[..3].iter().map(|rank| first(rank)).collect::<Vec<_>>(), ['1', '2', '0']);
        assert_eq!(count(": send 1b"), 6);
        for rank in out.split("\nrank ").skip(1) {
            for line in rank.lines().filter(|line| line.contains(" requires ")) {
                let (operation, predecessor) = line.split_once(" requires ").unwrap();
                assert!(
                    rank.contains(&format!("\n{predecessor}: "))
                        && rank.contains(&format!("\n{operation}: ")),
                    "{line}"
                );
            }
        }
    }
}
