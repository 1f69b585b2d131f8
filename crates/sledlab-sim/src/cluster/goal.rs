//! Export to GOAL, the language of `LogGOPSim` and related simulators (Hoefler, Schneider, Lumsdaine, HPDC 2010): each
//! node is a rank that computes, sends and receives, so network simulators can run sledlab's jobs.
//!
//! GOAL has no stores: the computation of a rank lasts as long as the node computes and uses its store, without
//! overlap.

use std::io::Write;

use sledlab_core::{Error, Result};
use sledlab_models::network::collective;
use sledlab_trace::work::Work;

use super::engine::collective_operation;
use super::outcome::ClusterOutcome;

/// The schedule of a rank under construction.
#[derive(Default)]
struct Rank {
    lines: Vec<String>,
    operations: usize,
    /// Numbers of the operations on which the next operations depend.
    last: Vec<usize>,
}

impl Rank {
    /// Adds an operation that depends on those of `after`; returns its number.
    fn add(&mut self, operation: &str, after: &[usize]) -> usize {
        self.operations += 1;
        let number = self.operations;
        self.lines.push(format!("l{number}: {operation}"));
        self.lines.extend(after.iter().map(|before| format!("l{number} requires l{before}")));
        number
    }
}

/// Writes the schedule of all ranks, the client last.
///
/// # Errors
/// Errors of the writer.
pub fn goal(work: &Work, outcome: &ClusterOutcome, out: &mut dyn Write) -> Result<()> {
    let mut ranks: Vec<Rank> = (0..=work.nodes).map(|_| Rank::default()).collect();
    let mut tag = 0;
    for phase in &work.phases {
        let Some(ran) = outcome.phases.iter().find(|ran| ran.name == phase.name) else { continue };
        for (rank, node) in ranks.iter_mut().zip(&ran.nodes) {
            let after = std::mem::take(&mut rank.last);
            let calc = rank.add(&format!("calc {}", node.compute_ns + node.store_ns), &after);
            rank.last = vec![calc];
        }
        let sends = phase.steps.iter().enumerate().flat_map(|(from, step)| {
            let others = step.sends.iter().filter(move |(to, _)| *to as usize != from);
            others.map(move |(to, bytes)| (from, *to as usize, *bytes))
        });
        exchange(&mut ranks, sends, tag);
        tag += 1;
        for collective in &phase.collectives {
            let programs = collective::program(
                collective_operation(collective.kind),
                collective.root,
                &collective.bytes,
            );
            let rounds = programs.iter().map(Vec::len).max().unwrap_or_default();
            for round in 0..rounds {
                let sends = programs.iter().enumerate().flat_map(|(from, rounds)| {
                    let sends = rounds.get(round).into_iter().flat_map(|round| &round.sends);
                    sends.map(move |(to, bytes)| (collective.members[from], collective.members[*to], *bytes))
                });
                exchange(&mut ranks, sends, tag);
                tag += 1;
            }
        }
    }
    let cannot = |error: std::io::Error| Error::user(format!("cannot write the schedule: {error}"));
    writeln!(out, "num_ranks {}", ranks.len()).map_err(cannot)?;
    for (index, rank) in ranks.iter().enumerate() {
        writeln!(out, "\nrank {index} {{").map_err(cannot)?;
        for line in &rank.lines {
            writeln!(out, "{line}").map_err(cannot)?;
        }
        writeln!(out, "}}").map_err(cannot)?;
    }
    Ok(())
}

/// Writes messages that may all be sent when the previous operations are complete, and that are all received before the
/// next operations.
fn exchange(ranks: &mut [Rank], sends: impl Iterator<Item = (usize, usize, u64)>, tag: usize) {
    let before: Vec<Vec<usize>> = ranks.iter().map(|rank| rank.last.clone()).collect();
    let mut touched = vec![false; ranks.len()];
    for (from, to, bytes) in sends {
        for (rank, operation) in [
            (from, format!("send {bytes}b to {to} tag {tag}")),
            (to, format!("recv {bytes}b from {from} tag {tag}")),
        ] {
            let number = ranks[rank].add(&operation, &before[rank]);
            if !std::mem::replace(&mut touched[rank], true) {
                ranks[rank].last.clear();
            }
            ranks[rank].last.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::{ClusterExperiment, ClusterHooks};
    use super::*;

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
        for rank in out.split("\nrank ").skip(1) {
            for line in rank.lines().filter(|line| line.contains(" requires ")) {
                let (own, before) = line.split_once(" requires ").unwrap();
                assert!(
                    rank.contains(&format!("\n{before}: ")) && rank.contains(&format!("\n{own}: ")),
                    "{line}"
                );
            }
        }
    }
}
