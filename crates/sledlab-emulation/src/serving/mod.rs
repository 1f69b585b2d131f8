//! The server's thread: sockets, model and clock in one loop.
//!
//! A turn of the loop does what is due in the model, hands over the replies that are due, looks at the sockets, or
//! sleeps at them until something is due, and works off what has arrived. Nothing in a turn waits for anything else:
//! data is read and written at once, the recording goes to a thread of its own, and a client that does not read its
//! replies holds up only itself.

mod passing_on;
mod power;
mod requests;
mod sockets;
mod telling;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sledlab_core::hash::Map;
use sledlab_core::{Error, Result, Time};
use sledlab_sim::{Answer, Outcome};

pub(crate) use self::passing_on::Clients;
use self::telling::Telling;
use crate::DataStore;
use crate::awake::Awake;
use crate::budget::Budget;
use crate::clock::{Clock, Scale, Switched};
use crate::connections::Connections;
use crate::flight::Flights;
use crate::lateness::{HeldUp, Lateness, STALL_NS, Stalls};
use crate::listener::Listener;
use crate::model::Model;
use crate::pacer::{PaceStep, Pacer};
use crate::power::{Cut, Power};
use crate::probe::Probed;
use crate::recording::Recording;
use crate::report::{HostWay, RequestCounts, ServerReport, Shifted, Status};
use crate::transport::nbd::Export;

/// Clients at a time; more wait to be accepted.
pub(crate) const MOST_CONNECTIONS: usize = 64;

/// What the model does while nobody waits for it may be so late: then it is woken less often.
const NOBODY_WAITS_NS: u64 = 10_000_000;

/// How long a server that ends waits for clients to take their replies.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Where answers come at once, the next request mostly does too: so long it is looked for before going to sleep.
const LINGER_NS: u64 = 50_000;

/// The sockets are looked at so often, however much else is due.
const LOOK_EVERY_NS: u64 = 100_000;

/// What the server's thread is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ServerOrder {
    Serve,
    /// Take nothing more, answer what is under way, and end.
    Drain,
    /// Break all connections and end.
    Break,
    /// Answer what is under way, and go on to what is done next, with the same clients.
    Turn,
}

/// What the server's thread shares with others.
#[derive(Debug)]
pub(crate) struct Shared {
    order: AtomicU8,
    /// An eventfd at which the thread sleeps.
    pub wake: Arc<OwnedFd>,
    cut: Mutex<Option<Cut>>,
    /// Whether there is a cut, which is looked at all the time.
    is_cut: AtomicBool,
    pub status: Mutex<Status>,
}

impl Shared {
    pub fn new() -> Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::user(format!("there is no eventfd: {error}")))?;
        Ok(Shared {
            order: AtomicU8::new(ServerOrder::Serve as u8),
            wake: Arc::new(wake),
            cut: Mutex::new(None),
            is_cut: AtomicBool::new(false),
            status: Mutex::new(Status::default()),
        })
    }

    /// Tells the thread to end.
    pub fn order(&self, order: ServerOrder) {
        self.order.store(order as u8, Ordering::SeqCst);
        crate::recording::ring(&self.wake);
    }

    /// Asks the thread to have the power fail.
    pub fn cut(&self, cut: Cut) {
        *self.cut.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
        self.is_cut.store(true, Ordering::SeqCst);
        crate::recording::ring(&self.wake);
    }

    fn asked_to_cut(&self) -> Option<Cut> {
        if !self.is_cut.load(Ordering::Relaxed) || !self.is_cut.swap(false, Ordering::SeqCst) {
            return None;
        }
        self.cut.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn ordered(&self) -> ServerOrder {
        match self.order.load(Ordering::Relaxed) {
            0 => ServerOrder::Serve,
            1 => ServerOrder::Drain,
            3 => ServerOrder::Turn,
            _ => ServerOrder::Break,
        }
    }

    /// Whether the thread is to go on to what is done next; from then on it serves again.
    pub fn turns(&self) -> bool {
        let (turn, serve) = (ServerOrder::Turn as u8, ServerOrder::Serve as u8);
        self.order.compare_exchange(turn, serve, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// The status; somebody who panicked while writing it leaves one that is as good as any.
    pub fn status(&self) -> std::sync::MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells of a per-request table, and begins another.
pub(crate) type Rows = Box<dyn FnMut() -> (u64, u64) + Send>;

/// All that a server is made of.
pub(crate) struct ServerParts {
    pub clock: Box<dyn Clock>,
    pub scale: Scale,
    /// None: everything is answered at once.
    pub model: Option<Box<dyn Model>>,
    /// Tells of the per-request table since it was asked last: the number that stands for it, and its rows.
    pub rows: Rows,
    /// What power failures need, if there may be any.
    pub power: Option<Power>,
    pub store: DataStore,
    pub export: Export,
    pub listener: Option<Listener>,
    pub recording: Option<Recording>,
    pub shared: Arc<Shared>,
    pub host: HostWay,
    pub realtime: bool,
    /// What was learnt before about handing over.
    pub pacer: Pacer,
    /// Keeps processors awake while requests are under way.
    pub awake: Option<Arc<Awake>>,
}

/// When the loop wants to be back, and whether it sleeps until then.
#[derive(Clone, Copy, Debug)]
struct Back {
    wanted: u64,
    slept: bool,
}

/// A server at work.
pub(crate) struct Serving {
    clock: Box<dyn Clock>,
    time: Switched,
    model: Option<Box<dyn Model>>,
    rows: Rows,
    power: Option<Power>,
    /// How often the power has failed.
    starts: u16,
    store: DataStore,
    export: Export,
    listener: Option<Listener>,
    recording: Option<Recording>,
    shared: Arc<Shared>,
    host: HostWay,
    awake: Option<Arc<Awake>>,

    connections: Connections,
    flights: Flights,
    /// Keys of the requests whose operations wait for the model, by the numbers of these.
    ids: Map<u64, u32>,
    answers: Vec<Answer>,
    answered: Vec<u32>,
    /// The model tells some answers only when they are due: then it must be asked a little earlier.
    asks_early: bool,
    /// Replies that are planned up to here have left.
    left_until: Time,

    pacer: Pacer,
    budget: Budget,
    naps: u64,
    /// Processor time of the thread when it began to serve.
    used_before: u64,
    held: HeldUp,
    lateness: Lateness,
    stalls: Stalls,
    shifted: Shifted,
    counts: RequestCounts,
    /// Reads and writes that this model was asked for.
    media_asked: u64,
    longest_queue: u64,
    wanted: Option<Back>,
    /// When something was answered at once.
    answered_at: Option<u64>,
    looked: u64,
    /// What is found at the sockets next may have waited there while the server was held up.
    after_stall: bool,
    telling: Telling,
    /// Since when nothing is left to do but what clients do not take.
    drained: Option<u64>,
    untimed: bool,
    /// Takes what requests cost the server itself.
    pub probed: Option<Vec<Probed>>,
}

impl Serving {
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
            awake,
        } = parts;
        let budget = Budget::new(realtime, clock.now(), clock.processor());
        let untimed = model.is_none();
        let used_before = clock.processor();
        Serving {
            clock,
            time: Switched::on(scale, 0),
            model,
            rows,
            power,
            starts: 0,
            store,
            export,
            listener,
            recording,
            shared,
            host,
            awake,
            connections: Connections::default(),
            flights: Flights::default(),
            ids: Map::default(),
            answers: Vec::new(),
            answered: Vec::new(),
            asks_early: false,
            left_until: Time::ZERO,
            pacer,
            budget,
            naps: 0,
            used_before,
            held: HeldUp::default(),
            lateness: Lateness::default(),
            stalls: Stalls::default(),
            shifted: Shifted::default(),
            counts: RequestCounts::default(),
            media_asked: 0,
            longest_queue: 0,
            wanted: None,
            answered_at: None,
            looked: 0,
            after_stall: false,
            telling: Telling { told: 0, due: true },
            drained: None,
            untimed,
            probed: None,
        }
    }

    /// Serves until it is ordered to end, or the model gives up, when every request that waits gets an error; tells what
    /// came of it.
    ///
    /// # Errors
    /// A recording that cannot be written.
    pub fn serve(mut self) -> Result<ServerReport> {
        let served = self.turns();
        if let Err(error) = &served {
            self.give_up();
            self.shared.status().error = Some(error.to_string());
        }
        self.connections.clear();
        self.listener = None;
        let finished = served.and_then(|()| self.finish_model());
        self.recording.take().map_or(Ok(()), Recording::finish)?;
        if finished.is_ok() {
            self.tell(true);
        }
        let (outcome, failure) = finished.map_or_else(|error| (None, Some(error)), |outcome| (outcome, None));
        Ok(self.report(outcome, failure))
    }

    /// The same without an end: what was learnt about handing over goes on.
    pub fn probe(mut self) -> Result<(Pacer, Vec<Probed>)> {
        self.turns()?;
        Ok((self.pacer, self.probed.unwrap_or_default()))
    }

    /// Serves a client that has connected some other way.
    pub fn adopt(&mut self, client: OwnedFd) {
        self.connect(client);
    }

    fn turns(&mut self) -> Result<()> {
        loop {
            self.lose_power_if_asked()?;
            let began = self.clock.now();
            self.notice(began);
            self.advance_model(began)?;
            self.hand_over_due()?;
            self.work_off()?;
            self.keep_awake();
            if self.ends()? {
                return Ok(());
            }
            let now = self.clock.now();
            self.check_stall(began, now);
            self.rest(now)?;
        }
    }

    /// What the time says: whether the server was held up, and what it has used of its budget.
    fn notice(&mut self, now: u64) {
        if let Some(Back { wanted, slept }) = self.wanted.take() {
            if now > wanted {
                self.held.woken(wanted, now);
                if slept {
                    self.pacer.slept(now - wanted);
                }
            }
            self.check_stall(wanted, now);
        }
        if self.budget.is_due(now) {
            self.budget.charge(now, self.clock.processor());
            if let Some(nap) = self.budget.nap() {
                self.naps += 1;
                std::thread::sleep(Duration::from_nanos(nap));
            }
        }
    }

    /// While a request is under way, or was answered a moment ago, processors are not to fall asleep.
    fn keep_awake(&self) {
        let Some(awake) = &self.awake else { return };
        let lingers = |at| self.clock.now() < at + LINGER_NS;
        if self.flights.len() > 0 || self.answered_at.is_some_and(lingers) {
            awake.hold();
        }
    }

    fn check_stall(&mut self, wanted: u64, now: u64) {
        if now.saturating_sub(wanted) > STALL_NS {
            self.after_stall |= self.stalls.check(wanted, now);
        }
    }

    /// Whether the end was ordered, and all is done that comes before it.
    fn ends(&mut self) -> Result<bool> {
        if self.recording.as_ref().is_some_and(Recording::has_failed) {
            return Err(Error::user("the recording cannot be written"));
        }
        match self.shared.ordered() {
            ServerOrder::Serve => Ok(false),
            ServerOrder::Break => Ok(true),
            ServerOrder::Drain => {
                self.listener = None;
                Ok(self.is_drained())
            }
            ServerOrder::Turn => Ok(self.is_drained()),
        }
    }

    /// Whether all that was asked has been answered, as far as clients take it.
    fn is_drained(&mut self) -> bool {
        let idle = self.connections.iter().all(|(_, connection)| connection.is_idle());
        let only_clients = self.ids.is_empty() && self.pacer.is_empty();
        let now = self.clock.now();
        let since = *self.drained.get_or_insert(now);
        if !only_clients {
            self.drained = None;
        }
        only_clients && (idle || now > since + PATIENCE_NS)
    }

    /// Waits for what comes first: something at a socket, or something that is due.
    fn rest(&mut self, now: u64) -> Result<()> {
        if self.has_input() {
            self.wanted = Some(Back { wanted: now, slept: false });
            return self.look(Some(0));
        }
        let (urgent, other) = self.next_of_model();
        let step = self.pacer.step(now, urgent, &self.budget);
        let wait = match step {
            PaceStep::Act | PaceStep::Spin if now < self.looked + LOOK_EVERY_NS => {
                self.wanted = Some(Back { wanted: now, slept: false });
                return Ok(());
            }
            PaceStep::Act | PaceStep::Spin | PaceStep::Look => 0,
            PaceStep::Sleep(until) => until.min(other.unwrap_or(u64::MAX)).saturating_sub(now),
            PaceStep::Wait if self.answered_at.is_some_and(|at| now < at + LINGER_NS) => {
                // A client on the same processor goes first.
                rustix::thread::sched_yield();
                0
            }
            PaceStep::Wait => other.map_or(u64::MAX, |other| other.saturating_sub(now)),
        };
        self.looked = now;
        let wait =
            if self.shared.ordered() == ServerOrder::Serve { wait } else { wait.min(PATIENCE_NS / 10) };
        let wait = self.tell_when_idle(now, wait);
        let back = now.checked_add(wait).filter(|_| wait < u64::MAX);
        self.wanted = back.map(|wanted| Back { wanted, slept: wait > 0 });
        self.look((wait < u64::MAX).then_some(wait))
    }

    /// When the model wants to go on: for somebody who waits, in which case that is to be on time, or for nobody.
    fn next_of_model(&self) -> (Option<u64>, Option<u64>) {
        let Some(event) = self.model.as_ref().and_then(|model| model.next_event()) else {
            return (None, None);
        };
        let at = self.time.real(event);
        if self.ids.is_empty() {
            (None, Some(at.saturating_add(NOBODY_WAITS_NS)))
        } else {
            (Some(at.saturating_sub(self.lead())), None)
        }
    }

    /// How much earlier than they are due answers must be known that the model only tells then.
    fn lead(&self) -> u64 {
        if !self.asks_early {
            return 0;
        }
        let bytes = self.flights.largest_waiting();
        u64::from(self.host.ns(true, bytes).max(self.host.ns(false, 0))) + self.pacer.send(bytes)
    }

    /// The rest takes its time in the model and none here.
    fn finish_model(&mut self) -> Result<Option<Outcome>> {
        let Some(model) = self.model.take() else { return Ok(None) };
        if self.media_asked == 0 {
            return Ok(None);
        }
        let mut answers = std::mem::take(&mut self.answers);
        let outcome = model.finish(&mut answers);
        for answer in answers {
            self.planned_after_the_end(answer);
        }
        for key in self.flights.keys() {
            self.record_silently(key);
        }
        outcome
    }
}
