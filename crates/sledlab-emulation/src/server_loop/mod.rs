//! The server's thread: sockets, model and clock in one loop.
//!
//! Each iteration of the loop simulates the events that are due in the model, sends the replies that are due, polls the
//! sockets, or sleeps at them until something is due, and parses the input that has arrived. No step of an iteration
//! waits for another client or thread: data is read and written at once, a separate thread writes the recording, and a
//! client that does not read its replies delays only itself.

mod power;
mod probe_timing;
mod requests;
mod sockets;
mod stage_change;
mod status_updates;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sledlab_core::hash::Map;
use sledlab_core::{Error, Result, Time};
use sledlab_sim::{Answer, Outcome};

pub(crate) use self::probe_timing::ProbeTiming;
pub(crate) use self::stage_change::Clients;
use self::status_updates::StatusUpdates;
use crate::DataStore;
use crate::in_flight::InFlightRequests;
use crate::model::Model;
use crate::power::{Power, PowerCut};
use crate::record::recording::Recording;
use crate::report::{HostPathCost, RequestCounts, ServerReport, ShiftedArrivals, Status};
use crate::sockets::connections::Connections;
use crate::sockets::listener::Listener;
use crate::timing::budget::Budget;
use crate::timing::clock::{Clock, DeviceClock, Scale};
use crate::timing::cpu_idle::CpuIdleInhibitor;
use crate::timing::lateness::{Lateness, RecentStalls, STALL_NS, Stalls};
use crate::timing::pacer::{PaceStep, Pacer};
use crate::transport::nbd::Export;

/// Maximum number of connected clients; more wait to be accepted.
pub(crate) const MAX_CONNECTIONS: usize = 64;

/// Maximum delay of simulated events while no client waits for a reply: the server wakes less often then.
const IDLE_DELAY_NS: u64 = 10_000_000;

/// How long a server that ends waits for clients to take their replies, in nanoseconds.
const DRAIN_TIMEOUT_NS: u64 = 2_000_000_000;

/// How long the server polls for the next request before it sleeps, where requests are answered at once, in
/// nanoseconds: the next request usually arrives at once, too.
const LINGER_NS: u64 = 50_000;

/// Maximum time between two polls of the sockets, whatever else is due, in nanoseconds.
const MAX_POLL_INTERVAL_NS: u64 = 100_000;

/// An order to the server's thread from other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ServerOrder {
    Serve,
    /// Take no more requests, answer those in flight, and end.
    Drain,
    /// Break all connections and end.
    Break,
    /// Answer the requests in flight, and start the next stage of attaching with the same clients.
    ChangeStage,
}

/// State that the server's thread shares with other threads.
#[derive(Debug)]
pub(crate) struct SharedState {
    order: AtomicU8,
    /// An eventfd that wakes the thread from its sleep.
    pub wake: Arc<OwnedFd>,
    power_cut: Mutex<Option<PowerCut>>,
    /// Whether `cut` contains an order: polled in every iteration, without the lock.
    has_power_cut: AtomicBool,
    pub status: Mutex<Status>,
}

impl SharedState {
    pub fn new() -> Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::user(format!("cannot create an eventfd: {error}")))?;
        Ok(SharedState {
            order: AtomicU8::new(ServerOrder::Serve as u8),
            wake: Arc::new(wake),
            power_cut: Mutex::new(None),
            has_power_cut: AtomicBool::new(false),
            status: Mutex::new(Status::default()),
        })
    }

    /// Sends an order to the thread and wakes the thread.
    pub fn order(&self, order: ServerOrder) {
        self.order.store(order as u8, Ordering::SeqCst);
        crate::record::recording::signal_eventfd(&self.wake);
    }

    /// Orders the thread to fail the power.
    pub fn order_power_cut(&self, cut: PowerCut) {
        *self.power_cut.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
        self.has_power_cut.store(true, Ordering::SeqCst);
        crate::record::recording::signal_eventfd(&self.wake);
    }

    fn take_power_cut(&self) -> Option<PowerCut> {
        if !self.has_power_cut.load(Ordering::Relaxed) || !self.has_power_cut.swap(false, Ordering::SeqCst) {
            return None;
        }
        self.power_cut.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn current_order(&self) -> ServerOrder {
        match self.order.load(Ordering::Relaxed) {
            0 => ServerOrder::Serve,
            1 => ServerOrder::Drain,
            3 => ServerOrder::ChangeStage,
            _ => ServerOrder::Break,
        }
    }

    /// Returns whether the order was to start the next stage; if so, replaces it by the order to serve.
    pub fn take_stage_change(&self) -> bool {
        let (turn, serve) = (ServerOrder::ChangeStage as u8, ServerOrder::Serve as u8);
        self.order.compare_exchange(turn, serve, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Returns the status, also if a thread panicked while writing the status.
    pub fn status(&self) -> std::sync::MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the digest and the number of rows of the per-request table, and begins another table.
pub(crate) type RowDigestSource = Box<dyn FnMut() -> (u64, u64) + Send>;

/// All parts that a server is made of.
pub(crate) struct ServerParts {
    pub clock: Box<dyn Clock>,
    pub scale: Scale,
    /// None where requests are answered at once.
    pub model: Option<Box<dyn Model>>,
    /// Returns the digest and the number of rows of the per-request table since the last call.
    pub rows: RowDigestSource,
    /// State for power failures, if they are enabled.
    pub power: Option<Power>,
    pub store: DataStore,
    pub export: Export,
    pub listener: Option<Listener>,
    pub recording: Option<Recording>,
    pub shared: Arc<SharedState>,
    pub host: HostPathCost,
    pub realtime: bool,
    /// The pacer, with the estimates of an earlier stage.
    pub pacer: Pacer,
    /// Prevents idle states of processors while requests are in flight.
    pub cpu_idle: Option<Arc<CpuIdleInhibitor>>,
}

/// When the loop is due to resume, and whether it sleeps until then.
#[derive(Clone, Copy, Debug)]
struct Resumption {
    due: u64,
    is_asleep: bool,
}

/// A server at work.
pub(crate) struct ServerState {
    clock: Box<dyn Clock>,
    time: DeviceClock,
    model: Option<Box<dyn Model>>,
    rows: RowDigestSource,
    power: Option<Power>,
    /// Number of power failures.
    power_failures: u16,
    store: DataStore,
    export: Export,
    listener: Option<Listener>,
    recording: Option<Recording>,
    shared: Arc<SharedState>,
    host: HostPathCost,
    cpu_idle: Option<Arc<CpuIdleInhibitor>>,

    connections: Connections,
    flights: InFlightRequests,
    /// By the model's number of an operation that is not complete: the key of its request.
    ids: Map<u64, u32>,
    answers: Vec<Answer>,
    completed_keys: Vec<u32>,
    /// Whether the model has reported completions only when they were due: then its events must be simulated a little
    /// earlier.
    needs_lead: bool,
    /// The latest planned completion of a reply that was sent, in simulated time.
    last_sent_completion: Time,

    pacer: Pacer,
    budget: Budget,
    naps: u64,
    /// Processor time of the thread when it began to serve, in nanoseconds.
    initial_processor_ns: u64,
    recent_stalls: RecentStalls,
    lateness: Lateness,
    stalls: Stalls,
    shifted: ShiftedArrivals,
    counts: RequestCounts,
    /// Reads and writes submitted to the model since the device was last switched on.
    media_requests: u64,
    longest_queue: u64,
    resumption: Option<Resumption>,
    /// When a request was last answered at once, without a model.
    answered_at: Option<u64>,
    last_poll: u64,
    /// Whether requests found next may have waited at the sockets during a stall of the server.
    is_after_stall: bool,
    status_updates: StatusUpdates,
    /// Since when only replies are left that clients do not read.
    drained_since: Option<u64>,
    is_untimed: bool,
    /// Collects the times of requests inside the server while the host path is measured.
    pub probe_timings: Option<Vec<ProbeTiming>>,
}

impl ServerState {
    pub fn new(parts: ServerParts) -> Self {
        let ServerParts {
            clock,
            scale,
            model,
            rows,
            power,
            store,
            export,
            listener,
            recording,
            shared,
            host,
            realtime,
            pacer,
            cpu_idle,
        } = parts;
        let budget = Budget::new(realtime, clock.now(), clock.processor());
        let is_untimed = model.is_none();
        let initial_processor_ns = clock.processor();
        ServerState {
            clock,
            time: DeviceClock::new(scale, 0),
            model,
            rows,
            power,
            power_failures: 0,
            store,
            export,
            listener,
            recording,
            shared,
            host,
            cpu_idle,
            connections: Connections::default(),
            flights: InFlightRequests::default(),
            ids: Map::default(),
            answers: Vec::new(),
            completed_keys: Vec::new(),
            needs_lead: false,
            last_sent_completion: Time::ZERO,
            pacer,
            budget,
            naps: 0,
            initial_processor_ns,
            recent_stalls: RecentStalls::default(),
            lateness: Lateness::default(),
            stalls: Stalls::default(),
            shifted: ShiftedArrivals::default(),
            counts: RequestCounts::default(),
            media_requests: 0,
            longest_queue: 0,
            resumption: None,
            answered_at: None,
            last_poll: 0,
            is_after_stall: false,
            status_updates: StatusUpdates { last_update: 0, due: true },
            drained_since: None,
            is_untimed,
            probe_timings: None,
        }
    }

    /// Serves until it is ordered to end, or the model fails; then replies to every waiting request with an error.
    /// Returns the report of the run.
    ///
    /// # Errors
    /// A recording that cannot be written.
    pub fn serve(mut self) -> Result<ServerReport> {
        let loop_result = self.run_loop();
        if let Err(error) = &loop_result {
            self.fail_waiting_requests();
            self.shared.status().error = Some(error.to_string());
        }
        self.connections.clear();
        self.listener = None;
        let model_result = loop_result.and_then(|()| self.finish_model());
        self.recording.take().map_or(Ok(()), Recording::finish)?;
        if model_result.is_ok() {
            self.update_status(true);
        }
        let (outcome, failure) =
            model_result.map_or_else(|error| (None, Some(error)), |outcome| (outcome, None));
        Ok(self.report(outcome, failure))
    }

    /// Serves until it is ordered to end, without a report. Returns the pacer, with its estimates, and the measured
    /// times of requests.
    pub fn probe(mut self) -> Result<(Pacer, Vec<ProbeTiming>)> {
        self.run_loop()?;
        Ok((self.pacer, self.probe_timings.unwrap_or_default()))
    }

    /// Serves a client whose connection did not come through the listener.
    pub fn adopt(&mut self, client: OwnedFd) {
        self.connect(client);
    }

    fn run_loop(&mut self) -> Result<()> {
        loop {
            self.handle_power_cut()?;
            let iteration_start = self.clock.now();
            self.check_wakeup(iteration_start);
            self.advance_model(iteration_start)?;
            self.hand_over_due_replies()?;
            self.parse_input()?;
            self.inhibit_cpu_idle();
            if self.should_end()? {
                return Ok(());
            }
            let now = self.clock.now();
            self.check_stall(iteration_start, now);
            self.wait(now)?;
        }
    }

    /// Checks for a stall and for the used budget of processor time; sleeps where the budget requires it.
    fn check_wakeup(&mut self, now: u64) {
        if let Some(Resumption { due: due_at, is_asleep: was_asleep }) = self.resumption.take() {
            if now > due_at {
                self.recent_stalls.record_wakeup(due_at, now);
                if was_asleep {
                    self.pacer.learn_sleep(now - due_at);
                }
            }
            self.check_stall(due_at, now);
        }
        if self.budget.is_due(now) {
            self.budget.charge(now, self.clock.processor());
            if let Some(nap_ns) = self.budget.nap() {
                self.naps += 1;
                std::thread::sleep(Duration::from_nanos(nap_ns));
            }
        }
    }

    /// Prevents idle states while a request is in flight or was answered recently.
    fn inhibit_cpu_idle(&self) {
        let Some(cpu_idle) = &self.cpu_idle else { return };
        let is_recent = |at| self.clock.now() < at + LINGER_NS;
        if self.flights.len() > 0 || self.answered_at.is_some_and(is_recent) {
            cpu_idle.hold();
        }
    }

    fn check_stall(&mut self, due_at: u64, now: u64) {
        if now.saturating_sub(due_at) > STALL_NS {
            self.is_after_stall |= self.stalls.check(due_at, now);
        }
    }

    /// Returns whether the server was ordered to end and has finished its work.
    fn should_end(&mut self) -> Result<bool> {
        if self.recording.as_ref().is_some_and(Recording::has_failed) {
            return Err(Error::user("cannot write the recording"));
        }
        match self.shared.current_order() {
            ServerOrder::Serve => Ok(false),
            ServerOrder::Break => Ok(true),
            ServerOrder::Drain => {
                self.listener = None;
                Ok(self.is_drained())
            }
            ServerOrder::ChangeStage => Ok(self.is_drained()),
        }
    }

    /// Returns whether all requests have been answered, as far as clients read the replies.
    fn is_drained(&mut self) -> bool {
        let are_clients_idle = self.connections.iter().all(|(_, connection)| connection.is_idle());
        let is_model_idle = self.ids.is_empty() && self.pacer.is_empty();
        let now = self.clock.now();
        let since = *self.drained_since.get_or_insert(now);
        if !is_model_idle {
            self.drained_since = None;
        }
        is_model_idle && (are_clients_idle || now > since + DRAIN_TIMEOUT_NS)
    }

    /// Waits for activity at a socket, or until something is due.
    fn wait(&mut self, now: u64) -> Result<()> {
        if self.has_input() {
            self.resumption = Some(Resumption { due: now, is_asleep: false });
            return self.handle_sockets(Some(0));
        }
        let (awaited_event, idle_event) = self.next_model_event();
        let step = self.pacer.step(now, awaited_event, &self.budget);
        let wait_ns = match step {
            PaceStep::Act | PaceStep::Spin if now < self.last_poll + MAX_POLL_INTERVAL_NS => {
                self.resumption = Some(Resumption { due: now, is_asleep: false });
                return Ok(());
            }
            PaceStep::Act | PaceStep::Spin | PaceStep::Poll => 0,
            PaceStep::Sleep(until) => until.min(idle_event.unwrap_or(u64::MAX)).saturating_sub(now),
            PaceStep::Wait if self.answered_at.is_some_and(|at| now < at + LINGER_NS) => {
                // Lets a client run first that waits for this processor.
                rustix::thread::sched_yield();
                0
            }
            PaceStep::Wait => idle_event.map_or(u64::MAX, |idle_event| idle_event.saturating_sub(now)),
        };
        self.last_poll = now;
        let wait_ns = if self.shared.current_order() == ServerOrder::Serve {
            wait_ns
        } else {
            wait_ns.min(DRAIN_TIMEOUT_NS / 10)
        };
        let wait_ns = self.update_when_idle(now, wait_ns);
        let resume_at = now.checked_add(wait_ns).filter(|_| wait_ns < u64::MAX);
        self.resumption = resume_at.map(|due| Resumption { due, is_asleep: wait_ns > 0 });
        self.handle_sockets((wait_ns < u64::MAX).then_some(wait_ns))
    }

    /// When the model's next event is to be simulated: on time where a request waits for the model (first), a little
    /// late where none does (second).
    fn next_model_event(&self) -> (Option<u64>, Option<u64>) {
        let Some(event) = self.model.as_ref().and_then(|model| model.next_event()) else {
            return (None, None);
        };
        let due_at = self.time.real(event);
        if self.ids.is_empty() {
            (None, Some(due_at.saturating_add(IDLE_DELAY_NS)))
        } else {
            (Some(due_at.saturating_sub(self.lead())), None)
        }
    }

    /// Returns how early, in nanoseconds, an event must be simulated whose completions are known only at the event.
    fn lead(&self) -> u64 {
        if !self.needs_lead {
            return 0;
        }
        let bytes = self.flights.largest_waiting_bytes();
        u64::from(self.host.ns(true, bytes).max(self.host.ns(false, 0))) + self.pacer.send_ns(bytes)
    }

    /// Ends the model: the remaining requests are simulated to completion without waiting.
    fn finish_model(&mut self) -> Result<Option<Outcome>> {
        let Some(model) = self.model.take() else { return Ok(None) };
        if self.media_requests == 0 {
            return Ok(None);
        }
        let mut answers = std::mem::take(&mut self.answers);
        let outcome = model.finish(&mut answers);
        for answer in answers {
            self.record_late_completion(answer);
        }
        for key in self.flights.keys() {
            self.record_unanswered(key);
        }
        outcome
    }
}
