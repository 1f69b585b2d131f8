//! Accesses to the two devices of a hybrid, and the requests that these accesses serve.

use std::collections::VecDeque;

use slab::Slab;
use sledlab_core::hash::Map;
use sledlab_core::{Op, Span, Time};

use crate::cache::BlockRun;
use crate::device::{QueuedRequest, Timing};
use crate::power::{RequestEnergy, TotalEnergy};
use crate::system::{Completion, Content, Contents, HybridCounts, System, Traffic, earliest};

/// One of the two devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tier {
    /// The small fast device.
    Front,
    /// The large slow device, whose address space the host sees.
    Back,
}

/// A piece of a request: the blocks that lie in one segment, or on one device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Index of the request among the outstanding requests.
    pub request: u32,
    /// The part's blocks, in the address space of the host.
    pub run: BlockRun,
    pub op: Op,
}

/// A request that is not complete.
struct OutstandingRequest {
    request: QueuedRequest,
    missing_parts: u32,
    energy: RequestEnergy,
    data: Vec<Content>,
}

/// What a device reports about itself.
#[derive(Clone, Copy)]
struct DeviceState {
    next_event: Option<Time>,
    queue_length: usize,
}

impl DeviceState {
    fn of(device: &dyn System) -> Self {
        DeviceState { next_event: device.next_event(), queue_length: device.queue_length() }
    }
}

/// Both devices, their outstanding accesses, and the requests that are not complete. `J` (job) is the action on the
/// completion of an access.
pub(super) struct Io<J> {
    /// The present time.
    pub now: Time,
    /// The devices and what they report, the front device first.
    devices: [Box<dyn System>; 2],
    states: [DeviceState; 2],
    /// The job of each access; the first entry belongs to access number `first_job`.
    jobs: VecDeque<Option<J>>,
    first_job: u64,
    requests: Slab<OutstandingRequest>,
    /// Requests that are complete and not yet returned.
    pub completed: Vec<Completion>,
    background: TotalEnergy,
    background_end: Time,
    traffic: [Traffic; 2],
    keeps_contents: bool,
    /// Data of writes that have been handed over and have not arrived, by request.
    write_data: Map<u64, Vec<Content>>,
    /// Contents of completed reads, by request, until `read_contents` returns them.
    read_results: Map<u64, Vec<Content>>,
}

impl<J> Io<J> {
    /// Returns two devices without outstanding accesses.
    pub fn new(mut front: Box<dyn System>, mut back: Box<dyn System>) -> Self {
        let keeps_contents = front.durable().is_some() && back.durable().is_some();
        Io {
            now: Time::ZERO,
            states: [&front, &back].map(|device| DeviceState::of(device.as_ref())),
            devices: [front, back],
            jobs: VecDeque::new(),
            first_job: 0,
            requests: Slab::new(),
            completed: Vec::new(),
            background: TotalEnergy::default(),
            background_end: Time::ZERO,
            traffic: [Traffic::default(); 2],
            keeps_contents,
            write_data: Map::default(),
            read_results: Map::default(),
        }
    }

    /// One of the devices.
    pub fn device(&self, tier: Tier) -> &dyn System {
        self.devices[tier as usize].as_ref()
    }

    /// Both devices, the front device first.
    pub fn devices_mut(&mut self) -> [&mut dyn System; 2] {
        self.devices.each_mut().map(|device| device.as_mut() as &mut dyn System)
    }

    fn device_mut(&mut self, tier: Tier) -> &mut dyn System {
        self.devices[tier as usize].as_mut()
    }

    /// Whether the media of both devices keep contents: only then are data passed along with accesses.
    pub fn keeps_contents(&self) -> bool {
        self.keeps_contents
    }

    /// Reads blocks of a device for no single request.
    pub fn read(&mut self, tier: Tier, run: BlockRun, job: J) {
        self.access(
            tier,
            run,
            job,
            QueuedRequest { arrival: self.now, op: Op::Read, ..QueuedRequest::default() },
        );
    }

    /// Writes blocks of a device for no single request. `data` is called only where contents are kept.
    pub fn write(&mut self, tier: Tier, run: BlockRun, job: J, data: impl FnOnce() -> Vec<Content>) {
        if self.keeps_contents {
            let data = data();
            debug_assert_eq!(data.len() as u64, run.end - run.first);
            self.supply_device_data(tier, data);
        }
        self.access(
            tier,
            run,
            job,
            QueuedRequest { arrival: self.now, op: Op::Write, ..QueuedRequest::default() },
        );
    }

    /// Reads or writes a part of a request, from block `first` of a device on.
    pub fn serve(&mut self, tier: Tier, first: u64, part: &Part, job: J) {
        let request = self.requests[part.request as usize].request;
        let is_last = part.run.end == request.lbn + u64::from(request.blocks);
        if self.keeps_contents && part.op == Op::Write {
            let data = self.data(part);
            self.supply_device_data(tier, data);
        }
        let run = BlockRun { first, end: first + (part.run.end - part.run.first) };
        let partial = request.partial.in_part(run.blocks(), is_last);
        self.access(tier, run, job, QueuedRequest { partial, ..request });
    }

    /// Number of the next access. Accesses are numbered as they begin, so that a device sees rising numbers and no
    /// number twice.
    fn next_access(&self) -> u64 {
        self.first_job + self.jobs.len() as u64
    }

    /// Hands the data of the next access, a write, to its device.
    fn supply_device_data(&mut self, tier: Tier, data: Vec<Content>) {
        let access = self.next_access();
        if let Some(device) = self.device_mut(tier).durable() {
            device.supply_data(access, data);
        }
    }

    #[inline]
    fn access(&mut self, tier: Tier, run: BlockRun, job: J, template: QueuedRequest) {
        let access =
            QueuedRequest { id: self.next_access(), lbn: run.first, blocks: run.blocks(), ..template };
        self.jobs.push_back(Some(job));
        self.traffic[tier as usize].count(access.op, run);
        let device = self.devices[tier as usize].as_mut();
        device.arrive(self.now, access);
        self.states[tier as usize] = DeviceState::of(device);
    }

    /// Number of accesses that wait for the devices.
    pub fn queue_length(&self) -> usize {
        self.states.iter().map(|state| state.queue_length).sum()
    }

    /// Whether a device has an event at the present.
    #[inline]
    pub fn is_due(&self, tier: Tier) -> bool {
        self.states[tier as usize].next_event.is_some_and(|at| at <= self.now)
    }

    /// Advances a device to the present. `completions`, which must be empty, receives the accesses that were completed.
    #[inline]
    pub fn advance(&mut self, tier: Tier, completions: &mut Vec<Completion>) {
        let device = self.devices[tier as usize].as_mut();
        device.advance(self.now, completions);
        self.states[tier as usize] = DeviceState::of(device);
        // The front device counts as the first.
        if tier == Tier::Back {
            for access in completions {
                access.offset_device(1);
            }
        }
    }

    /// Time of the next event on either device.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        let [front, back] = self.states.map(|state| state.next_event);
        earliest(front, back)
    }

    /// The job of a completed access.
    #[inline]
    pub fn job(&mut self, access: u64) -> Option<J> {
        let job = self.jobs.get_mut((access - self.first_job) as usize)?.take();
        while let Some(None) = self.jobs.front() {
            self.jobs.pop_front();
            self.first_job += 1;
        }
        job
    }

    /// The contents that a completed read found; none where contents are not kept.
    pub fn contents(&mut self, tier: Tier, access: &Completion) -> Vec<Content> {
        if !self.keeps_contents {
            return Vec::new();
        }
        let device = self.device_mut(tier).durable();
        device.map(|device| device.read_contents(access.request.id)).unwrap_or_default()
    }

    /// Number of parts of a request that are not answered.
    pub fn missing_parts(&self, request: u32) -> u32 {
        self.requests[request as usize].missing_parts
    }

    /// Begins a request of `parts` parts; returns its index.
    pub fn begin(&mut self, request: QueuedRequest, parts: u32) -> u32 {
        let mut data = Vec::new();
        if self.keeps_contents {
            data = self.write_data.remove(&request.id).unwrap_or_default();
            data.resize(request.blocks as usize, Content::default());
        }
        let outstanding =
            OutstandingRequest { request, missing_parts: parts, energy: RequestEnergy::default(), data };
        self.requests.insert(outstanding) as u32
    }

    /// The data of a part of a write.
    pub fn data(&self, part: &Part) -> Vec<Content> {
        let OutstandingRequest { request, data, .. } = &self.requests[part.request as usize];
        let offset = (part.run.first - request.lbn) as usize;
        data[offset..offset + part.run.blocks() as usize].to_vec()
    }

    /// Enters the contents that a part of a read found.
    pub fn deliver(&mut self, part: &Part, contents: Vec<Content>) {
        if !self.keeps_contents {
            return;
        }
        let OutstandingRequest { request, data, .. } = &mut self.requests[part.request as usize];
        let offset = (part.run.first - request.lbn) as usize;
        for (to, content) in data[offset..].iter_mut().zip(contents) {
            *to = content;
        }
    }

    /// Adds the energy of an access to the request of a part.
    pub fn charge_request(&mut self, part: &Part, access: &Completion) {
        self.requests[part.request as usize].energy += access.energy;
    }

    /// Adds the energy of an access to the background, as it served no single request.
    pub fn charge_background(&mut self, access: &Completion) {
        self.background += access.energy;
        self.background_end = self.background_end.max(access.completion);
    }

    /// Completes a part now, without a separate access.
    pub fn complete_now(&mut self, part: &Part) {
        self.complete_part(part, &Completion::immediate(QueuedRequest::default(), self.now));
    }

    /// Completes a part with an access. The times of a request are those of the access that completes its last part.
    pub fn complete_part(&mut self, part: &Part, access: &Completion) {
        let outstanding = &mut self.requests[part.request as usize];
        outstanding.missing_parts -= 1;
        if outstanding.missing_parts > 0 {
            return;
        }
        let OutstandingRequest { request, energy, data, .. } = self.requests.remove(part.request as usize);
        if self.keeps_contents && request.op == Op::Read {
            self.read_results.insert(request.id, data);
        }
        self.completed.push(access.for_request(request, self.now, energy));
    }

    /// See [`Durable::supply_data`](crate::system::Durable::supply_data).
    pub fn supply_data(&mut self, request: u64, data: Vec<Content>) {
        self.write_data.insert(request, data);
    }

    /// See [`Durable::read_contents`](crate::system::Durable::read_contents).
    pub fn read_contents(&mut self, request: u64) -> Vec<Content> {
        self.read_results.remove(&request).unwrap_or_default()
    }

    /// The contents of the media of the two devices after a power failure at `now`.
    pub fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> (Contents, Contents) {
        let mut crash = |device: &mut dyn System| {
            device.durable().map(|device| device.crash(now, survives)).unwrap_or_default()
        };
        let [front, back] = self.devices_mut();
        (crash(front), crash(back))
    }

    /// Sets all counts to zero and opens the ledgers of both devices.
    pub fn open_ledgers(&mut self, now: Time) {
        (self.background, self.traffic) = (TotalEnergy::default(), [Traffic::default(); 2]);
        self.devices_mut().into_iter().for_each(|device| device.open_ledgers(now));
    }

    /// The energy spent for no single request, and when the last such access was completed.
    pub fn background(&self) -> (RequestEnergy, Time) {
        let (mut total, mut end) = (self.background.sum(), self.background_end);
        for tier in [Tier::Front, Tier::Back] {
            let (energy, device_end) = self.device(tier).background();
            total += energy;
            end = end.max(device_end);
        }
        (total, end)
    }

    /// Enters the traffic and the background energy counted here.
    pub fn count(&self, counts: &mut HybridCounts) {
        [counts.front, counts.back] = self.traffic;
        counts.background_j = self.background.sum().total_uj() * 1e-6;
    }
}

impl Traffic {
    fn count(&mut self, op: Op, run: BlockRun) {
        let blocks = run.end - run.first;
        if op == Op::Read {
            self.reads += 1;
            self.read_blocks += blocks;
        } else {
            self.writes += 1;
            self.written_blocks += blocks;
        }
    }
}

/// Returns `access` for the further parts that it completes: its start-up counts for the first part only.
pub(super) fn without_startup(access: &Completion) -> Completion {
    Completion { timing: Timing { startup: Span::ZERO, ..access.timing }, ..*access }
}
