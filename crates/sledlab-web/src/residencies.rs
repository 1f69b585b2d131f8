//! Samples of the residency of caches and of front devices of hybrids in a recorded run. Each sample is stored as the
//! changes since the previous one.

use serde_json::{Value, json};
use sledlab_core::Time;
use sledlab_models::cache::SlotState;
use sledlab_models::system::{Residency, System};

use crate::answer::{AnswerBuilder, Column};

/// Slots that are sampled in about the time that simulating an event takes.
const SLOTS_PER_TURN: usize = 4096;

/// The residency of a cache or of the front of a hybrid, in samples.
struct ResidencySamples {
    /// The first station of the hybrid; none for a cache in front of all stations.
    station: Option<usize>,
    /// The latest sample.
    last: Residency,
    /// The state of every slot at the first sample.
    first: Vec<SlotState>,
    samples: Vec<ResidencySample>,
    /// Slots whose state differs from that of the sample before, and their new states; of all samples.
    changes: Vec<(u32, SlotState)>,
}

/// A sample: counts of slots by state.
struct ResidencySample {
    since: Time,
    slots: [u32; SlotState::ALL.len()],
    waiting: usize,
    writing: usize,
    /// Index in `changes` of the sample's first change.
    changes: usize,
}

/// The residencies of a system.
pub(crate) struct Residencies(Vec<ResidencySamples>);

impl Residencies {
    /// Takes the first samples.
    pub fn new(system: &dyn System) -> Self {
        let residencies = system.residency();
        let caches = usize::from(system.cache().is_some());
        let hybrids = residencies.len().saturating_sub(caches).max(1);
        let stations_per_hybrid = system.stations().len() / hybrids;
        let samples = residencies.into_iter().enumerate().map(|(number, residency)| {
            ResidencySamples::new(
                number.checked_sub(caches).map(|hybrid| hybrid * stations_per_hybrid),
                residency,
            )
        });
        Residencies(samples.collect())
    }

    /// Iterations of the simulation between two samples; `None` if the system has neither cache nor hybrid.
    pub fn turns_per_sample(&self) -> Option<u32> {
        let slots: usize = self.0.iter().map(|samples| samples.last.slots.len()).sum();
        (!self.0.is_empty()).then(|| u32::try_from(slots / SLOTS_PER_TURN).unwrap_or(u32::MAX).max(1))
    }

    /// Takes further samples.
    pub fn sample(&mut self, system: &dyn System) {
        for (samples, residency) in self.0.iter_mut().zip(system.residency()) {
            samples.sample(residency);
        }
    }

    /// Drops samples before `from`, except for the last of them, whose states are valid at `from`.
    pub fn discard_history(&mut self, from: Time) {
        self.0.iter_mut().for_each(|samples| samples.discard_history(from));
    }

    /// All samples, in columns.
    pub fn columns(&self, answer: &mut AnswerBuilder) -> Value {
        self.0.iter().map(|samples| samples.columns(answer)).collect()
    }
}

impl ResidencySamples {
    fn new(station: Option<usize>, residency: Residency) -> Self {
        let samples = vec![ResidencySample::new(&residency, 0)];
        ResidencySamples {
            station,
            first: residency.slots.clone(),
            last: residency,
            samples,
            changes: Vec::new(),
        }
    }

    fn sample(&mut self, residency: Residency) {
        let changes = self.changes.len();
        let slots = (0..).zip(residency.slots.iter().zip(&self.last.slots));
        self.changes.extend(
            slots
                .filter(|(_, (state, previous_state))| state != previous_state)
                .map(|(slot, (state, _))| (slot, *state)),
        );
        let is_same = (residency.waiting, residency.writing) == (self.last.waiting, self.last.writing);
        if changes < self.changes.len() || !is_same {
            self.samples.push(ResidencySample::new(&residency, changes));
            self.last = residency;
        }
    }

    fn discard_history(&mut self, from: Time) {
        let last_before = self.samples.partition_point(|sample| sample.since <= from).saturating_sub(1);
        if last_before == 0 {
            return;
        }
        let changes = self.samples.get(last_before + 1).map_or(self.changes.len(), |sample| sample.changes);
        for (slot, state) in self.changes.drain(..changes) {
            self.first[slot as usize] = state;
        }
        self.samples.drain(..last_before);
        for sample in &mut self.samples {
            sample.changes = sample.changes.saturating_sub(changes);
        }
    }

    fn columns(&self, answer: &mut AnswerBuilder) -> Value {
        let Residency { unit, slot_blocks, has_places, .. } = self.last;
        let count = |quantity: fn(&ResidencySample) -> usize| {
            self.samples.iter().map(|sample| quantity(sample) as u32).collect::<Vec<_>>()
        };
        let states =
            |slots: &mut dyn Iterator<Item = SlotState>| slots.map(|slot| slot as u8).collect::<Vec<_>>();
        let counts: Vec<u32> = self.samples.iter().flat_map(|sample| sample.slots).collect();
        let changed: Vec<u32> = self.changes.iter().map(|(slot, _)| *slot).collect();
        json!({
            "station": self.station,
            "unit": unit,
            "slot_blocks": slot_blocks,
            "has_places": has_places,
            "since_ns": answer.numbers(self.samples.iter().map(|sample| sample.since.as_ns() as f64)),
            "counts": answer.column(&Column::U32(&counts)),
            "waiting": answer.column(&Column::U32(&count(|sample| sample.waiting))),
            "writing": answer.column(&Column::U32(&count(|sample| sample.writing))),
            "changes": answer.column(&Column::U32(&count(|sample| sample.changes))),
            "first": answer.column(&Column::U8(&states(&mut self.first.iter().copied()))),
            "slot": answer.column(&Column::U32(&changed)),
            "state": answer.column(&Column::U8(&states(&mut self.changes.iter().map(|(_, now)| *now)))),
        })
    }
}

impl ResidencySample {
    fn new(residency: &Residency, changes: usize) -> Self {
        let mut slots = [0; SlotState::ALL.len()];
        residency.slots.iter().for_each(|slot| slots[*slot as usize] += 1);
        let Residency { since, waiting, writing, .. } = *residency;
        ResidencySample { since, slots, waiting, writing, changes }
    }
}
