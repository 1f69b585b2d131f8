//! The data that each hour of a workload touches, and where.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use sledlab_core::hash::Set;
use sledlab_core::{BLOCK_BYTES, Request, Time};

use super::footprint::Footprint;

const NS_PER_HOUR: u64 = 3600 * 1_000_000_000;

/// The reads and writes of an hour, and the data that they touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hour {
    /// Start of the hour, in seconds from the first request of the workload.
    pub from_s: u64,
    /// Reads and writes.
    pub requests: u64,
    /// 4 KiB blocks read or written, in bytes.
    pub working_set_bytes: u64,
    /// Bytes from the lowest address to the highest, whatever the devices.
    pub address_span_bytes: u64,
    /// Cylinders of a device in which requests begin, which are columns on a sled; `None` without a device.
    pub cylinders: Option<u64>,
}

/// Gives the cylinder of a block on a device; `None` for a block outside the device.
#[derive(Clone)]
pub struct CylinderMap(Arc<dyn Fn(u64) -> Option<u32> + Send + Sync>);

impl CylinderMap {
    /// Returns the map that calls `cylinder_of`.
    pub fn new(cylinder_of: impl Fn(u64) -> Option<u32> + Send + Sync + 'static) -> Self {
        CylinderMap(Arc::new(cylinder_of))
    }
}

impl fmt::Debug for CylinderMap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CylinderMap")
    }
}

/// Lowest and highest blocks that requests touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressSpan {
    first: u64,
    end: u64,
}

impl Default for AddressSpan {
    fn default() -> Self {
        AddressSpan { first: u64::MAX, end: 0 }
    }
}

impl AddressSpan {
    pub fn record(&mut self, request: &Request) {
        self.first = self.first.min(request.lbn);
        self.end = self.end.max(request.end());
    }

    /// The block after the highest one.
    pub fn end_block(self) -> u64 {
        self.end
    }

    pub fn bytes(self) -> u64 {
        self.end.saturating_sub(self.first) * BLOCK_BYTES
    }
}

/// Collects the hours of a workload that have requests. Only the present hour needs memory for what it touches.
#[derive(Clone, Debug)]
pub(super) struct HourCollector {
    cylinder_map: Option<CylinderMap>,
    hours: Vec<Hour>,
    present: PresentHour,
}

#[derive(Clone, Debug, Default)]
struct PresentHour {
    number: u64,
    requests: u64,
    footprint: Footprint,
    span: AddressSpan,
    cylinders: Set<u32>,
}

impl HourCollector {
    pub fn new(cylinder_map: Option<CylinderMap>) -> Self {
        HourCollector { cylinder_map, hours: Vec::new(), present: PresentHour::default() }
    }

    /// Records a read or write of a workload that begins at `start`.
    #[inline]
    pub fn record(&mut self, request: &Request, start: Time) {
        let number = request.arrival.since(start).as_ns() / NS_PER_HOUR;
        if number != self.present.number {
            self.hours.extend(self.summarize_present());
            self.present = PresentHour { number, ..PresentHour::default() };
        }
        self.present.requests += 1;
        self.present.footprint.record(request);
        self.present.span.record(request);
        if let Some(cylinder) = self.cylinder_map.as_ref().and_then(|map| (map.0)(request.lbn)) {
            self.present.cylinders.insert(cylinder);
        }
    }

    fn summarize_present(&self) -> Option<Hour> {
        let PresentHour { number, requests, footprint, span, cylinders } = &self.present;
        (*requests > 0).then(|| Hour {
            from_s: number * 3600,
            requests: *requests,
            working_set_bytes: footprint.working_set().all_4k_bytes,
            address_span_bytes: span.bytes(),
            cylinders: self.cylinder_map.as_ref().map(|_| cylinders.len() as u64),
        })
    }

    /// The hours with requests, in order.
    pub fn summarize(&self) -> Vec<Hour> {
        self.hours.iter().copied().chain(self.summarize_present()).collect()
    }
}
