//! Layouts: where an array keeps the blocks of the host.

use std::ops::Range;

use super::health::Health;
use super::plan::Plan;
use crate::device::QueuedRequest;

/// Chooses the device with the shortest positioning time for a read, among those that have its blocks.
pub(super) type Nearest<'a> = &'a mut dyn FnMut(&QueuedRequest, &dyn Fn(usize) -> bool) -> usize;

/// A layout of the host's blocks over several devices.
pub(super) trait Layout: Send {
    /// Number of blocks the host sees.
    fn capacity_blocks(&self) -> u64;

    /// Returns the accesses of a request; `nearest` chooses among several devices with the blocks. A layout that calls
    /// `nearest` locks no stripes for reads.
    fn plan(&self, request: &QueuedRequest, nearest: Nearest) -> Plan;

    /// Returns the stripes that no other request may change while this one is outstanding.
    fn locked_stripes(&self, _request: &QueuedRequest) -> LockedStripes {
        LockedStripes::NONE
    }

    /// Number of devices.
    fn devices(&self) -> usize;

    /// The device of a host block, the first where several have it, and the block's number on that device.
    fn place(&self, lbn: u64) -> (usize, u64);

    /// Contents of a block of a device.
    fn holds(&self, device: usize, lbn: u64) -> BlockContent;

    /// The state of the devices, where the layout survives the failure of one.
    fn health(&mut self) -> Option<&mut Health> {
        None
    }

    /// This layout as one that survives the failure of a device, where it does.
    fn redundant(&self) -> Option<&dyn Redundant> {
        None
    }
}

/// A layout that survives the failure of a device.
pub(super) trait Redundant {
    /// The state of the devices.
    fn health(&self) -> &Health;

    /// The accesses that rebuild a stripe of a device on its spare; none where the stripe is lost.
    fn rebuild(&self, device: usize, stripe: u64) -> Plan;

    /// Whether some blocks of a request are lost: no working device holds them, and they cannot be recomputed.
    fn loses(&self, request: &QueuedRequest) -> bool;

    /// Number of blocks of the host that are lost.
    fn lost_blocks(&self) -> u64;
}

/// Stripes that a request claims.
#[derive(Clone, Debug)]
pub(super) struct LockedStripes {
    pub stripes: Range<u64>,
    /// Whether other requests that share the stripes may be outstanding at the same time.
    pub is_shared: bool,
}

impl LockedStripes {
    pub const NONE: LockedStripes = LockedStripes { stripes: 0..0, is_shared: true };

    /// Most stripes that are claimed one by one.
    const MAX_STRIPES: u64 = 1024;

    /// Whether the stripes are claimed as a range, which takes the same memory whatever their number.
    pub fn is_long(&self) -> bool {
        self.stripes.end - self.stripes.start > LockedStripes::MAX_STRIPES
    }

    /// The stripes that are claimed one by one.
    pub fn single_stripes(&self) -> Range<u64> {
        if self.is_long() { 0..0 } else { self.stripes.clone() }
    }

    /// Whether this and another claim exclude each other.
    pub fn conflicts(&self, other: &LockedStripes) -> bool {
        let overlaps = self.stripes.start < other.stripes.end && other.stripes.start < self.stripes.end;
        overlaps && !(self.is_shared && other.is_shared)
    }
}

/// Contents of a block of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockContent {
    /// The block of the host with this number.
    Host(u64),
    /// Parity of the blocks with the same number on all other devices.
    Parity,
    /// Nothing: the block is behind the last stripe.
    Nothing,
}

/// The blocks of a request: the first and the one after the last.
pub(super) fn blocks(request: &QueuedRequest) -> Range<u64> {
    request.lbn..request.lbn + u64::from(request.blocks)
}

/// The parts of a range of blocks, cut at multiples of `unit` blocks.
pub(super) fn split_at_units(
    Range { start: mut lbn, end }: Range<u64>,
    unit: u64,
) -> impl Iterator<Item = UnitPart> {
    std::iter::from_fn(move || {
        (lbn < end).then(|| {
            let (number, offset) = (lbn / unit, lbn % unit);
            let end_offset = (offset + end - lbn).min(unit);
            lbn += end_offset - offset;
            UnitPart { unit: number, first: offset, end: end_offset, is_last: lbn == end }
        })
    })
}

/// The part of a request in one unit.
pub(super) struct UnitPart {
    /// Number of the unit.
    pub unit: u64,
    /// First block within the unit.
    pub first: u64,
    /// Block after the last within the unit.
    pub end: u64,
    /// Whether the range ends in this unit.
    pub is_last: bool,
}
