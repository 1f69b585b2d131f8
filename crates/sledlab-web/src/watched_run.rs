//! A recorded run: the experiment is run a second time with recording, next to the run whose outcome is shown.

use serde_json::{Value, json};
use sledlab_core::hash::Map;
use sledlab_core::{Error, Op, Result, Span, Time};
use sledlab_models::device::{QueuedRequest, RotationalArc};
use sledlab_models::system::{Access, Choice, IdlePeriod, State};
use sledlab_sim::{Experiment, Hooks, IncrementalRun};

use crate::answer::{Answer, AnswerBuilder, Column};
use crate::residencies::Residencies;

/// Iterations of the simulation between two counts of the choices.
const TURNS_PER_STEP: u32 = 64;
/// Residencies are sampled from this long before a window on, so that the window does not begin before the first
/// sample.
const LEAD_TIME: Span = Span::from_ns(100_000_000);

/// Accesses, choices and idle periods of a station in the window.
#[derive(Default)]
struct Station {
    accesses: Vec<Access>,
    choices: Vec<Choice>,
    idle_periods: Vec<IdlePeriod>,
}

/// A watched run, as far as it has been simulated.
pub(crate) struct WatchedRun {
    running: IncrementalRun<'static>,
    stations: Vec<Station>,
    residencies: Residencies,
    done: bool,
    /// The window watched last, from `from` up to `to`.
    from: Time,
    to: Time,
}

impl WatchedRun {
    pub fn new(experiment: &Experiment, from: Time) -> Result<Self> {
        let mut running = experiment.begin(Hooks::default())?;
        let mut stations = Vec::new();
        for station in running.stations_mut() {
            station.watch(from);
            stations.push(Station::default());
        }
        let residencies = Residencies::new(running.system());
        Ok(WatchedRun { running, stations, residencies, done: false, from, to: Time::ZERO })
    }

    /// Returns whether the run can reach a window from `from` without a restart.
    pub fn can_reach(&self, from: Time) -> bool {
        from >= self.to
    }

    /// Advances to the window that begins at `from`, has at least `choices` scheduler choices and reaches `until`; it
    /// is shorter if the run ends.
    pub fn advance_to_window(&mut self, from: Time, choices: usize, until: Time) -> Result<()> {
        self.from = from;
        for (station, log) in self.running.stations_mut().into_iter().zip(&mut self.stations) {
            station.watch(from);
            log.discard_history(from);
        }
        let mut choice_count: usize = self.stations.iter().map(|station| station.choices.len()).sum();
        while !self.done && (choice_count < choices || self.last_choice().is_none_or(|last| last < until)) {
            self.advance()?;
            for (station, log) in self.running.stations_mut().into_iter().zip(&mut self.stations) {
                choice_count += log.append(station.take_log());
            }
        }
        let simulated_time = self.running.progress().simulated_time;
        // A window beyond the end of the run is the end.
        (self.from, self.to) = if self.done {
            (from.min(simulated_time), simulated_time)
        } else {
            (from, self.last_choice().unwrap_or(simulated_time).max(from))
        };
        self.residencies.discard_history(from);
        Ok(())
    }

    fn last_choice(&self) -> Option<Time> {
        self.stations.iter().filter_map(|station| station.choices.last()).map(|choice| choice.at).max()
    }

    /// Simulates some iterations; samples residencies if the system has any and the window is near.
    fn advance(&mut self) -> Result<()> {
        let turns = self.residencies.turns_per_sample();
        self.done = self.running.run_iterations(turns.unwrap_or(TURNS_PER_STEP).min(TURNS_PER_STEP))?;
        let system = self.running.system();
        if turns.is_some() && system.next_event().is_none_or(|next| next + LEAD_TIME >= self.from) {
            self.residencies.sample(system);
        }
        Ok(())
    }

    /// The window, in columns.
    pub fn window(&self) -> Result<Answer> {
        let mut answer = AnswerBuilder::default();
        let numbered = || self.stations.iter().enumerate();
        let idle_periods = numbered()
            .flat_map(|(n, station)| station.idle_periods.iter().map(move |period| (n as u16, *period)));
        let (accesses, rows) = self.accesses(&mut answer);
        let (choices, candidates) = self.choices(&mut answer, &rows);
        let states = self.states(&mut answer, idle_periods.collect());
        let residencies = self.residencies.columns(&mut answer);
        answer.finish(&json!({
            "from_ns": self.from.as_ns(),
            "to_ns": self.to.as_ns(),
            "done": self.done,
            "accesses": accesses,
            "choices": choices,
            "candidates": candidates,
            "states": states,
            "residencies": residencies,
        }))
    }

    /// All accesses in the order in which they were queued, in columns, and the row of each by station and request.
    fn accesses(&self, answer: &mut AnswerBuilder) -> (Value, Map<(usize, u64), u32>) {
        let mut all: Vec<(usize, &Access)> = Vec::new();
        for (number, station) in self.stations.iter().enumerate() {
            all.extend(station.accesses.iter().map(|access| (number, access)));
        }
        all.sort_by_key(|(station, access)| {
            (queued_request(access).queue_time, *station, queued_request(access).id)
        });
        let rows = all.iter().enumerate();
        let rows = rows
            .map(|(row, (station, access))| ((*station, queued_request(access).id), row as u32))
            .collect();
        let stations = self.running.system().stations();
        let extents: Vec<_> = all
            .iter()
            .map(|(station, access)| {
                stations[*station].device().mechanics().location(queued_request(access).lbn)
            })
            .collect();
        let arcs: Vec<_> = all
            .iter()
            .map(|(station, access)| {
                stations[*station].device().mechanics().rotation_arc(queued_request(access))
            })
            .collect();
        let mut ns =
            |value_of: fn(&Access) -> f64| answer.numbers(all.iter().map(|(_, access)| value_of(access)));
        let mut columns = json!({
            "id": ns(|access| queued_request(access).id as f64),
            "queued_ns": ns(|access| queued_request(access).queue_time.as_ns() as f64),
            "start_ns": ns(|access| completion_ns(access, |served| served.start.as_ns())),
            "end_ns": ns(|access| completion_ns(access, |served| served.completion.as_ns())),
            "lbn": ns(|access| queued_request(access).lbn as f64),
            "overhead_ns": ns(|access| timing_part(access, |timing| timing.overhead)),
            "seek_x_ns": ns(|access| timing_part(access, |timing| timing.seek_x)),
            "settle_ns": ns(|access| timing_part(access, |timing| timing.settle)),
            "seek_y_ns": ns(|access| timing_part(access, |timing| timing.seek_y)),
            "turnaround_ns": ns(|access| timing_part(access, |timing| timing.turnaround)),
            "rotation_ns": ns(|access| timing_part(access, |timing| timing.rotation)),
            "transfer_ns": ns(|access| timing_part(access, |timing| timing.transfer)),
            "startup_ns": ns(|access| timing_part(access, |timing| timing.startup)),
        });
        let mut put = |name: &str, column: Column| columns[name] = answer.column(&column);
        put("station", Column::U16(&all.iter().map(|(station, _)| *station as u16).collect::<Vec<_>>()));
        put(
            "blocks",
            Column::U32(&all.iter().map(|(_, access)| queued_request(access).blocks).collect::<Vec<_>>()),
        );
        put(
            "op",
            Column::U8(
                &all.iter().map(|(_, access)| op_letter(queued_request(access).op)).collect::<Vec<_>>(),
            ),
        );
        put("column", Column::U32(&extents.iter().map(|place| place.cylinder).collect::<Vec<_>>()));
        put("row", Column::U32(&extents.iter().map(|place| place.row).collect::<Vec<_>>()));
        put("x_bit", Column::I32(&extents.iter().map(|place| place.x).collect::<Vec<_>>()));
        let turns = |value_of: fn(&RotationalArc) -> f64| {
            arcs.iter().map(|arc| arc.as_ref().map_or(0.0, value_of)).collect::<Vec<_>>()
        };
        put("turn", Column::F64(&turns(|arc| arc.begin)));
        put("turns", Column::F64(&turns(|arc| arc.length)));
        put("y_bit", Column::I32(&extents.iter().map(|place| place.y).collect::<Vec<_>>()));
        (columns, rows)
    }

    /// All choices in order of time, and their candidates, in columns.
    fn choices(&self, answer: &mut AnswerBuilder, rows: &Map<(usize, u64), u32>) -> (Value, Value) {
        let mut all: Vec<(usize, &Choice)> = Vec::new();
        for (number, station) in self.stations.iter().enumerate() {
            all.extend(station.choices.iter().map(|choice| (number, choice)));
        }
        all.sort_by_key(|(station, choice)| (choice.at, *station));
        let (mut first, mut count) = (Vec::new(), Vec::new());
        let (mut access, mut positioning, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
        for (station, choice) in &all {
            first.push(access.len() as u32);
            for candidate in &choice.candidates {
                // A request that was merged into another has no separate times.
                if let Some(row) = rows.get(&(*station, candidate.id)) {
                    access.push(*row);
                    positioning.push(candidate.positioning.as_ns() as f64);
                    chosen.push(u8::from(candidate.chosen));
                }
            }
            count.push((access.len() as u32 - first[first.len() - 1]).min(255) as u8);
        }
        let waiting_counts: Vec<u32> = all.iter().map(|(_, choice)| choice.waiting as u32).collect();
        let stations: Vec<u16> = all.iter().map(|(station, _)| *station as u16).collect();
        let choices = json!({
            "at_ns": answer.numbers(all.iter().map(|(_, choice)| choice.at.as_ns() as f64)),
            "station": answer.column(&Column::U16(&stations)),
            "waiting": answer.column(&Column::U32(&waiting_counts)),
            "first": answer.column(&Column::U32(&first)),
            "count": answer.column(&Column::U8(&count)),
        });
        let candidates = json!({
            "access": answer.column(&Column::U32(&access)),
            "positioning_ns": answer.column(&Column::F64(&positioning)),
            "chosen": answer.column(&Column::U8(&chosen)),
        });
        (choices, candidates)
    }

    /// The states of stations over time: idle periods, and the two parts of every service, positioning (with overhead)
    /// and transfer.
    fn states(&self, answer: &mut AnswerBuilder, idle_periods: Vec<(u16, IdlePeriod)>) -> Value {
        let mut all: Vec<(u64, u16, u64, u8)> = Vec::new();
        for (station, IdlePeriod { state, begin, end }) in idle_periods {
            let end = if end == Time::MAX { self.to.max(begin) } else { end };
            let code = match state {
                State::Idle => IDLE_CODE,
                State::Parked => PARKED_CODE,
                State::StartUp => START_UP_CODE,
            };
            all.push((begin.as_ns(), station, end.as_ns(), code));
        }
        for (number, station) in self.stations.iter().enumerate() {
            for access in &station.accesses {
                let Access::Served(served) = access else { continue };
                let transfer_begin = served.start + served.timing.overhead + served.timing.positioning();
                let transfer_begin = transfer_begin.min(served.completion);
                let mut add = |begin: Time, end: Time, code| {
                    if begin < end {
                        all.push((begin.as_ns(), number as u16, end.as_ns(), code));
                    }
                };
                add(served.start, transfer_begin, SEEK_CODE);
                add(transfer_begin, served.completion, ACCESS_CODE);
            }
        }
        all.sort_unstable();
        json!({
            "station": answer.column(&Column::U16(&all.iter().map(|span| span.1).collect::<Vec<_>>())),
            "begin_ns": answer.numbers(all.iter().map(|span| span.0 as f64)),
            "end_ns": answer.numbers(all.iter().map(|span| span.2 as f64)),
            "state": answer.column(&Column::U8(&all.iter().map(|span| span.3).collect::<Vec<_>>())),
        })
    }

    /// Positions of a station's mechanism at instants of the window.
    pub fn positions(&self, station: usize, at: &[Time]) -> Result<Answer> {
        let history = self.stations.get(station).ok_or_else(|| unknown_station(station))?;
        let stations = self.running.system().stations();
        let mechanics = stations.get(station).ok_or_else(|| unknown_station(station))?.device().mechanics();
        let mut cached_paths = None;
        let (xs, ys): (Vec<f64>, Vec<f64>) = at
            .iter()
            .map(|at| {
                let choice_count = history.choices.partition_point(|choice| choice.at <= *at);
                let idle_period =
                    history.idle_periods.iter().rev().find(|period| period.begin <= *at && *at < period.end);
                let next = history.choices.get(choice_count).filter(|_| {
                    choice_count == 0 || idle_period.is_some_and(|period| period.state != State::Idle)
                });
                if let Some(next) = next {
                    return (f64::from(next.from.x), f64::from(next.from.y));
                }
                let Some(choice) = choice_count.checked_sub(1).and_then(|last| history.choices.get(last))
                else {
                    let state = mechanics.state();
                    return (f64::from(state.x), f64::from(state.y));
                };
                if cached_paths.as_ref().is_none_or(|(cached_count, _)| *cached_count != choice_count) {
                    cached_paths = Some((choice_count, motion_paths(choice, mechanics)));
                }
                let Some((_, paths)) = &cached_paths else { return (0.0, 0.0) };
                let path_index = paths.partition_point(|(begin, _)| begin <= at).max(1) - 1;
                let (begin, path) = &paths[path_index];
                path.position(at.since((*begin).min(*at)))
            })
            .unzip();
        let mut answer = AnswerBuilder::default();
        let text = json!({ "x": answer.numbers(xs), "y": answer.numbers(ys) });
        answer.finish(&text)
    }
}

/// The paths of the mechanism through the requests of a choice, one after another, and when each begins.
fn motion_paths(
    choice: &Choice,
    mechanics: &dyn sledlab_models::device::Mechanics,
) -> Vec<(Time, sledlab_models::device::MotionPath)> {
    let (mut begin, mut state) = (choice.at + choice.overhead, choice.from);
    let mut paths = Vec::with_capacity(choice.batch.len());
    for request in &choice.batch {
        paths.push((begin, mechanics.motion_path(state, request)));
        let (timing, after) = mechanics.serve_from(state, request);
        begin += timing.positioning() + timing.transfer;
        state = after;
    }
    paths
}

const IDLE_CODE: u8 = 0;
const SEEK_CODE: u8 = 1;
const ACCESS_CODE: u8 = 2;
const PARKED_CODE: u8 = 3;
const START_UP_CODE: u8 = 4;

fn unknown_station(station: usize) -> Error {
    Error::internal(format!("there is no station {station}"))
}

impl Station {
    /// Adds what a station has recorded and returns the number of new choices. Requests that waited before may have
    /// been served since.
    fn append(&mut self, log: sledlab_models::system::StationLog) -> usize {
        self.accesses.retain(|access| matches!(access, Access::Served(_)));
        self.accesses.extend(log.accesses);
        let new_choices = log.choices.len();
        self.choices.extend(log.choices);
        self.idle_periods.retain(|period| period.end < Time::MAX);
        self.idle_periods.extend(log.idle_periods);
        new_choices
    }

    fn discard_history(&mut self, from: Time) {
        self.accesses.retain(|access| match access {
            Access::Served(served) => served.completion >= from,
            Access::Waiting(_) => true,
        });
        // The last choice before the window determines the position of the mechanism when the window begins.
        let last_before = self.choices.partition_point(|choice| choice.at < from).saturating_sub(1);
        self.choices.drain(..last_before);
        self.idle_periods.retain(|period| period.end > from);
    }
}

fn queued_request(access: &Access) -> &QueuedRequest {
    match access {
        Access::Served(served) => &served.request,
        Access::Waiting(request) => request,
    }
}

fn completion_ns(access: &Access, value_of: impl Fn(&sledlab_models::system::Completion) -> u64) -> f64 {
    if let Access::Served(served) = access { value_of(served) as f64 } else { f64::INFINITY }
}

fn timing_part(
    access: &Access,
    value_of: impl Fn(&sledlab_models::device::Timing) -> sledlab_core::Span,
) -> f64 {
    if let Access::Served(served) = access { value_of(&served.timing).as_ns() as f64 } else { 0.0 }
}

fn op_letter(op: Op) -> u8 {
    if op == Op::Read { b'R' } else { b'W' }
}
