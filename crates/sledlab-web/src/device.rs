//! The figures of a device that a page shows, computed fast enough to follow a slider.

use serde_json::{Value, json};
use sledlab_core::params::Params;
use sledlab_core::{Error, Op, Result, Span, Time};
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::preset::DeviceFile;
use sledlab_models::device::{Mechanics, QueuedRequest};

use crate::answer::Answer;

/// Random places over whose seeks the mean is taken.
const SEEK_COUNT: u64 = 1000;
/// Blocks of the read whose transfer shows the bandwidth.
const STREAM_BLOCKS: u64 = 8192;

/// The figures of a device.
pub(crate) fn facts(file: &DeviceFile) -> Result<Answer> {
    let device = file.params.device()?;
    let mechanics = device.mechanics();
    let extent = mechanics.extent();
    let (mean, longest) = mean_and_longest_seek(mechanics);
    let mut facts = json!({
        "kind": file.params.kind(),
        "name": file.name,
        "toml": to_toml(file)?,
        "parameters": file.to_table(),
        "capacity_blocks": mechanics.capacity_blocks(),
        "columns": extent.cylinders,
        "rows": extent.rows,
        "blocks_per_track": extent.blocks_per_track,
        "parallel_blocks": mechanics.parallel_blocks(),
        "mean_seek_ms": mean.as_ms(),
        "longest_seek_ms": longest.as_ms(),
        "bandwidth_mb_s": bandwidth_mb_s(mechanics),
    });
    if let Some(sled) = sled_facts(file)? {
        facts["sled"] = sled;
    }
    Answer::from_json(&facts)
}

/// The complete file of a device, as TOML.
pub(crate) fn to_toml(file: &DeviceFile) -> Result<String> {
    toml::to_string(&file.to_table())
        .map_err(|error| Error::internal(format!("cannot write the device: {error}")))
}

/// The figures of a MEMS device's sled; none for other devices.
pub(crate) fn sled_facts(file: &DeviceFile) -> Result<Option<Value>> {
    if file.params.kind() != "mems" {
        return Ok(None);
    }
    let params = MemsParams::from_table("device", &file.params.to_table())?;
    let geometry = Geometry::new(&params)?;
    let half_bits = |travel_um: f64| (travel_um * 1e3 / params.bit_nm / 2.0).round();
    let (x, y) = (half_bits(params.travel_x_um), half_bits(params.travel_y_um));
    Ok(Some(json!({
        "tips": params.usable_tips,
        "active_tips": params.active_tips,
        "bit_nm": params.bit_nm,
        "x_bits": [-x, x],
        "y_bits": [-y, y],
        "velocity_mm_s": geometry.velocity_m_s * 1e3,
        "settle_ms": geometry.settle_s * 1e3,
    })))
}

/// Mean and longest seek of reads of single blocks at random places, one after another; without rotation.
fn mean_and_longest_seek(mechanics: &dyn Mechanics) -> (Span, Span) {
    let capacity = mechanics.capacity_blocks();
    let (mut sum, mut longest) = (Span::ZERO, Span::ZERO);
    let mut state = mechanics.state();
    let edges = [0, capacity - 1, 0];
    // The additive sequence of the golden section fills an interval evenly, and successive places are far apart.
    let random = (1..=SEEK_COUNT).map(|n| {
        let share = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((u128::from(share.wrapping_mul(share | 1)) * u128::from(capacity)) >> 64) as u64
    });
    for (n, lbn) in random.chain(edges).enumerate() {
        let read = QueuedRequest { lbn, blocks: 1, op: Op::Read, ..QueuedRequest::default() };
        let (timing, after) = mechanics.serve_from(state, &read);
        let seek = (timing.seek_x + timing.settle).max(timing.seek_y + timing.turnaround);
        longest = longest.max(seek);
        if n < SEEK_COUNT as usize {
            sum += seek;
        }
        state = after;
    }
    (Span::from_ns(sum.as_ns() / SEEK_COUNT), longest)
}

/// The bandwidth of a long read from the first block on, in 10^6 bytes per second.
fn bandwidth_mb_s(mechanics: &dyn Mechanics) -> f64 {
    let blocks = STREAM_BLOCKS.min(mechanics.capacity_blocks()) as u32;
    let stream =
        QueuedRequest { lbn: 0, blocks, op: Op::Read, arrival: Time::ZERO, ..QueuedRequest::default() };
    let (timing, _) = mechanics.serve_from(mechanics.state(), &stream);
    f64::from(blocks) * 512.0 / timing.transfer.as_seconds().max(1e-12) / 1e6
}
