//! Contents of the devices of an array: data, copies and parity, as a controller computes them from the data of writes
//! and the blocks it has read.

use sledlab_core::Op;
use sledlab_core::hash::Map;

use super::flow::Flow;
use super::layout::BlockContent;
use crate::device::QueuedRequest;
use crate::system::{Completion, Content, System};

/// The data that a controller has for outstanding requests.
#[derive(Default)]
pub(super) struct RequestData {
    /// Data of writes, by request.
    write_data: Map<u64, Vec<Content>>,
    /// Blocks that were read for a request, by device and number on the device.
    blocks_read: Map<u64, Map<(usize, u64), u64>>,
    /// Contents of completed reads, by request, until `read_contents` returns them.
    read_results: Map<u64, Vec<Content>>,
}

/// Returns the word of a content from which parity is computed. Hybrids write headers on their own devices only, so an
/// array gets none.
fn word(content: &Content) -> u64 {
    match content {
        Content::Data(word) => *word,
        Content::Header(words) => words.iter().fold(0, |xor, word| xor ^ word),
    }
}

impl RequestData {
    pub fn supply_data(&mut self, request: u64, data: Vec<Content>) {
        self.write_data.insert(request, data);
    }

    pub fn read_contents(&mut self, request: u64) -> Vec<Content> {
        self.read_results.remove(&request).unwrap_or_default()
    }

    /// A request arrives.
    pub fn arrive(&mut self, request: &QueuedRequest) {
        self.blocks_read.insert(request.id, Map::default());
    }

    /// Discards the blocks read for requests that begin anew.
    pub fn forget(&mut self, restarted: &[u64]) {
        for request in restarted {
            self.blocks_read.entry(*request).or_default().clear();
        }
    }

    /// Records the blocks that completed reads of a device found, where their request is still outstanding.
    pub fn record_reads(&mut self, flow: &Flow, node: &mut dyn System, completions: &[Completion]) {
        for access in completions.iter().filter(|access| access.request.op == Op::Read) {
            let contents =
                node.durable().map(|medium| medium.read_contents(access.request.id)).unwrap_or_default();
            let Some((request, device)) = flow.owner(access.request.id) else { continue };
            let places = (access.request.lbn..).map(|lbn| (device, lbn));
            self.blocks_read.entry(request).or_default().extend(places.zip(contents.iter().map(word)));
        }
    }

    /// The data that an access writes to a device: data of the host, or words computed from these and from the blocks
    /// read.
    pub fn write_data(&self, flow: &Flow, device: usize, access: &QueuedRequest) -> Vec<Content> {
        let Some((request, _)) = flow.owner(access.id) else { return Vec::new() };
        let blocks = access.lbn..access.lbn + u64::from(access.blocks);
        blocks.map(|lbn| Content::Data(self.block(flow, request, device, lbn))).collect()
    }

    fn block(&self, flow: &Flow, request: u64, device: usize, lbn: u64) -> u64 {
        let content = flow.layout().holds(device, lbn);
        match content {
            BlockContent::Host(host) => {
                // A block without new data of the host is being rebuilt.
                let new = self.new_word(flow, request, host);
                let copy = || self.copy(flow, request, host, lbn);
                let others = || self.xor_of_other_devices(flow, request, device, lbn);
                new.or_else(copy).or_else(others).unwrap_or_default()
            }
            BlockContent::Parity => {
                let xor_of_others = self.xor_of_other_devices(flow, request, device, lbn);
                xor_of_others.or_else(|| self.updated_parity(flow, request, device, lbn)).unwrap_or_default()
            }
            BlockContent::Nothing => 0,
        }
    }

    /// The host's new data for a block that the request writes.
    fn new_word(&self, flow: &Flow, request: u64, host: u64) -> Option<u64> {
        let outstanding = flow.request(request)?;
        let place = host.checked_sub(outstanding.lbn)?;
        self.write_data.get(&request)?.get(place as usize).map(word)
    }

    /// The word of a host block that was read for the request, from any device.
    fn copy(&self, flow: &Flow, request: u64, host: u64, lbn: u64) -> Option<u64> {
        let blocks = self.blocks_read.get(&request)?;
        let holds = |device: &usize| flow.layout().holds(*device, lbn) == BlockContent::Host(host);
        (0..flow.layout().devices()).filter(holds).find_map(|device| blocks.get(&(device, lbn)).copied())
    }

    /// XOR of the words that all other devices hold at this place once the request is complete, if they are known.
    fn xor_of_other_devices(&self, flow: &Flow, request: u64, device: usize, lbn: u64) -> Option<u64> {
        let blocks = self.blocks_read.get(&request)?;
        let mut xor = 0;
        for other in (0..flow.layout().devices()).filter(|other| *other != device) {
            let new = match flow.layout().holds(other, lbn) {
                BlockContent::Host(host) => self.new_word(flow, request, host),
                _ => None,
            };
            xor ^= new.or_else(|| blocks.get(&(other, lbn)).copied())?;
        }
        Some(xor)
    }

    /// The old parity, updated by the changes of the data at this place.
    fn updated_parity(&self, flow: &Flow, request: u64, device: usize, lbn: u64) -> Option<u64> {
        let blocks = self.blocks_read.get(&request)?;
        let mut parity = *blocks.get(&(device, lbn))?;
        for other in (0..flow.layout().devices()).filter(|other| *other != device) {
            if let BlockContent::Host(host) = flow.layout().holds(other, lbn)
                && let Some(new) = self.new_word(flow, request, host)
            {
                parity ^= new ^ blocks.get(&(other, lbn))?;
            }
        }
        Some(parity)
    }

    /// A request is complete: assembles the data that it has read.
    pub fn finish(&mut self, flow: &Flow, request: &QueuedRequest) {
        self.write_data.remove(&request.id);
        if request.op == Op::Read {
            let hosts = request.lbn..request.lbn + u64::from(request.blocks);
            let words = hosts.map(|host| {
                let (device, lbn) = flow.layout().place(host);
                let copy = self.copy(flow, request.id, host, lbn);
                copy.or_else(|| self.xor_of_other_devices(flow, request.id, device, lbn))
            });
            let contents = words.map(|word| Content::Data(word.unwrap_or_default())).collect();
            self.read_results.insert(request.id, contents);
        }
        self.blocks_read.remove(&request.id);
    }
}
