//! Every number that describes a flash device, declared once.

use sledlab_core::{BLOCK_BYTES, Error, Result, Span};

sledlab_core::choices! {
    /// Writes before the start of a run.
    pub enum Precondition {
        /// Uniform random writes until write amplification is steady.
        Random = "random",
        /// One write of each page, in order.
        Sequential = "sequential",
    }
}

sledlab_core::choices! {
    /// When the valid pages of a block are moved.
    pub enum GarbageCollection {
        /// A few with each page that the host writes.
        Spread = "spread",
        /// All at once, over the channel, while the die serves nothing else.
        Block = "block",
    }
}

sledlab_core::params! {
    /// A flash device. Defaults are those of the preset `ssd-tlc`.
    pub struct SsdParams {
        /// Channels between the controller and the dies.
        channels: u64 = 4_u64, "", 1..256;
        /// Dies that share a channel.
        dies_per_channel: u64 = 4_u64, "", 1..256;
        /// Dies of a chip (way), a divisor of `dies_per_channel`; only `allocation` depends on it.
        dies_per_chip: u64 = 1_u64, "", 1..256;
        /// Blocks of a die; a block is erased at once.
        blocks_per_die: u64 = 2732_u64, "", 4..1e7;
        /// Pages of a block; a page is read and programmed at once.
        pages_per_block: u64 = 768_u64, "", 2..1e5;
        /// Size of a page, over all planes of a die that work together.
        page_kb: u64 = 16_u64, "KB", 1..1024;
        /// Die of a page: `turn`, the next at each write, or by address: an order of channel, way, die, plane (`CWDP`).
        allocation: String = "turn";
        /// Pages hidden from the host, as a share of the pages that the host sees.
        over_provisioning: f64 = 0.07, "", 0.001..10.0;
        /// Share of the host's pages that hold data at the start, in order over the dies.
        filled: f64 = 1.0, "", 0.0..1.0;
        /// How these pages were written before: once in order, or at random until the steady state.
        precondition: Precondition = Precondition::Sequential;
        /// How pages are moved: a few with each write to the die, or all of a block while the die serves nothing else.
        garbage_collection: GarbageCollection = GarbageCollection::Spread;
        /// Erased blocks of a die at which garbage collection moves pages to erase another block.
        gc_free_blocks: u64 = 4_u64, "", 1..1e5;

        /// Commands in the device at once.
        queue_depth: u64 = 32_u64, "", 1..65535;
        /// Time of the controller before a command starts; commands do not wait for each other there.
        command_us: f64 = 20.0, "us", 0.0..1e6;
        /// Time of a die to read a page.
        read_us: f64 = 60.0, "us", 1e-3..1e6;
        /// Time of a die to program a page.
        program_us: f64 = 700.0, "us", 1e-3..1e6;
        /// Time of a die to erase a block.
        erase_us: f64 = 5000.0, "us", 0.0..1e7;
        /// Rate of a channel, in 10^6 bytes per second.
        channel_mb_s: f64 = 400.0, "MB/s", 1e-3..1e6;
        /// Time of a channel to send a command to a die; at 0, commands do not wait for a free channel.
        channel_command_us: f64 = 0.0, "us", 0.0..1e6;
        /// Whether a die serves the next page while a page crosses its channel.
        cache_registers: bool = true;
        /// Whether of a page that is written in part on its die only the new blocks cross the channel.
        copyback: bool = false;
        /// Whether a die serves waiting reads before waiting programs; otherwise in order of arrival.
        reads_first: bool = false;
        /// Rate of the bus to the host, in 10^6 bytes per second.
        bus_mb_s: f64 = 560.0, "MB/s", 1e-3..1e6;

        /// Power while no command is in the device.
        idle_mw: f64 = 350.0, "mW", 0.0..1e6;
        /// Power while commands are in the device, without dies and channels.
        active_mw: f64 = 1000.0, "mW", 1e-3..1e6;
        /// Power of a die that reads.
        read_mw: f64 = 80.0, "mW", 0.0..1e5;
        /// Power of a die that programs.
        program_mw: f64 = 120.0, "mW", 0.0..1e5;
        /// Power of a die that erases.
        erase_mw: f64 = 80.0, "mW", 0.0..1e5;
        /// Power of a channel that transfers.
        channel_mw: f64 = 100.0, "mW", 0.0..1e5;
        /// Power while the device is parked.
        inactive_mw: f64 = 5.0, "mW", 0.0..1e6;
        /// Power during a start-up.
        startup_mw: f64 = 1000.0, "mW", 0.0..1e6;
        /// Time of a start-up.
        startup_ms: f64 = 79.0, "ms", 0.0..1e6;
        /// Idle time after which the device is parked.
        idle_timeout_ms: f64 = 1000.0, "ms", 0.0..1e9;
    }
}

/// Bytes of a kilobyte, in which sizes of pages are given.
const KB: u64 = 1024;

/// Numbers of channels, dies, blocks and pages that follow from the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub channels: u32,
    pub dies: u32,
    /// Blocks of a die.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Blocks of 512 bytes in a page.
    pub page_blocks: u32,
    /// Pages that the host sees.
    pub logical: u32,
    /// Number of the host's pages that hold data at the start: the first ones.
    pub filled_pages: u32,
    /// Whether the pages that hold data lie as after many random writes.
    pub is_steady: bool,
    /// Number of erased blocks of a die at which garbage collection moves pages.
    pub threshold: u32,
    /// Whether garbage collection moves all pages of a block at once.
    pub collects_blocks: bool,
    /// Most pages with data on a die, so that there is always a block whose erasure frees pages.
    pub max_valid: u32,
}

impl Shape {
    /// # Errors
    /// More pages than can be numbered, or too few to spare.
    pub fn new(params: &SsdParams) -> Result<Self> {
        let SsdParams { blocks_per_die: blocks, pages_per_block: pages, gc_free_blocks, .. } = *params;
        let dies = params.channels * params.dies_per_channel;
        let total_pages = dies.saturating_mul(blocks).saturating_mul(pages);
        if total_pages >= u64::from(u32::MAX) {
            return Err(Error::user(format!(
                "device: {total_pages} pages are more than can be mapped, {}",
                u32::MAX - 1
            ))
            .with_remedy("set device.blocks_per_die lower, or device.page_kb higher"));
        }
        let collects_blocks = params.garbage_collection == GarbageCollection::Block;
        // Besides the erased blocks, one block is open and one is the victim. If blocks are collected as a whole,
        // another one is open for pages that are moved, and collection ends with one more erased block.
        let spare_blocks = gc_free_blocks + if collects_blocks { 4 } else { 2 };
        let usable = blocks.saturating_sub(spare_blocks) * pages;
        let logical = (total_pages as f64 / (1.0 + params.over_provisioning)).floor() as u64;
        if logical == 0 || logical > dies * usable {
            return Err(Error::user(format!(
                "device.over_provisioning = {} leaves {} blocks of a die to spare, but {} are needed",
                params.over_provisioning,
                (total_pages - logical) / (dies * pages),
                spare_blocks,
            ))
            .with_remedy("set it higher, or device.gc_free_blocks lower, or device.blocks_per_die higher"));
        }
        Ok(Shape {
            channels: params.channels as u32,
            dies: dies as u32,
            blocks: blocks as u32,
            pages: pages as u32,
            page_blocks: (params.page_kb * KB / BLOCK_BYTES) as u32,
            logical: logical as u32,
            filled_pages: (logical as f64 * params.filled).round() as u32,
            is_steady: params.precondition == Precondition::Random && params.filled > 0.0,
            threshold: gc_free_blocks as u32,
            collects_blocks,
            max_valid: usable as u32,
        })
    }

    /// The channel of a die: dies with neighboring numbers are on different channels.
    pub fn channel(&self, die: u32) -> u32 {
        die % self.channels
    }

    /// Blocks of a die that are full in the steady state: neither erased nor open.
    pub fn full_blocks(&self) -> u32 {
        self.blocks - self.threshold - 1 - if self.collects_blocks { 2 } else { 0 }
    }

    /// A zero for each block of a die, if blocks are collected as a whole.
    pub fn no_pages_by_block(&self) -> Vec<u32> {
        vec![0; if self.collects_blocks { self.blocks as usize } else { 0 }]
    }

    /// Number of blocks of the device, of 512 bytes.
    pub fn capacity_blocks(&self) -> u64 {
        u64::from(self.logical) * u64::from(self.page_blocks)
    }
}

/// What the controller does in which order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether a die serves the next page while pages cross its channel.
    pub cache_registers: bool,
    /// Whether only the new blocks of a page cross the channel if it is written in part on its die.
    pub copyback: bool,
    /// Whether a die serves waiting reads before waiting programs.
    pub reads_first: bool,
}

impl Rules {
    /// Whether dies, channels and the bus serve pages in order of arrival.
    pub fn is_in_order(self, shape: &Shape, costs: &Costs) -> bool {
        let has_choice = self.copyback || self.reads_first || shape.collects_blocks;
        !has_choice && self.cache_registers && costs.channel_command == Span::ZERO
    }

    pub fn new(params: &SsdParams) -> Self {
        let SsdParams { cache_registers, copyback, reads_first, .. } = *params;
        Rules { cache_registers, copyback, reads_first }
    }
}

/// Times and energies of the operations of dies and channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub command: Span,
    /// Time of a channel to send a command to a die.
    pub channel_command: Span,
    pub read: Span,
    pub program: Span,
    pub erase: Span,
    /// Time of a block of 512 bytes.
    channel_block_ns: f64,
    bus_block_ns: f64,
    channel_mw: f64,
    /// Energy in mW ns, like all energies of dies and channels.
    pub read_energy: u64,
    pub program_energy: u64,
    pub erase_energy: u64,
}

impl Costs {
    pub fn new(params: &SsdParams) -> Self {
        let span = |us: f64| Span::from_ms(us / 1e3);
        let energy = |us: f64, mw: f64| (us * 1e3 * mw).round() as u64;
        let block_ns = |mb_s: f64| BLOCK_BYTES as f64 * 1e3 / mb_s;
        Costs {
            command: span(params.command_us),
            channel_command: span(params.channel_command_us),
            read: span(params.read_us),
            program: span(params.program_us),
            erase: span(params.erase_us),
            channel_block_ns: block_ns(params.channel_mb_s),
            bus_block_ns: block_ns(params.bus_mb_s),
            channel_mw: params.channel_mw,
            read_energy: energy(params.read_us, params.read_mw),
            program_energy: energy(params.program_us, params.program_mw),
            erase_energy: energy(params.erase_us, params.erase_mw),
        }
    }

    /// Time of `blocks` on a channel.
    pub fn channel(&self, blocks: u32) -> Span {
        Span::from_ns((self.channel_block_ns * f64::from(blocks)).round() as u64)
    }

    /// Time of `blocks` on the bus to the host.
    pub fn bus(&self, blocks: u32) -> Span {
        Span::from_ns((self.bus_block_ns * f64::from(blocks)).round() as u64)
    }

    /// Time of a die to move pages and erase blocks without using the channel.
    pub fn collection_time(&self, moved_pages: u64, erased_blocks: u64) -> Span {
        (self.read + self.program).saturating_mul(moved_pages) + self.erase.saturating_mul(erased_blocks)
    }

    /// Energy of dies and channels for a block that is collected, `moves` of whose pages cross a channel twice.
    pub fn collection_energy(&self, moves: u32, page_blocks: u32) -> u64 {
        (self.read_energy + self.program_energy + 2 * self.channel_energy(page_blocks)) * u64::from(moves)
            + self.erase_energy
    }

    /// Energy of `blocks` on a channel.
    pub fn channel_energy(&self, blocks: u32) -> u64 {
        (self.channel_block_ns * f64::from(blocks) * self.channel_mw).round() as u64
    }
}
