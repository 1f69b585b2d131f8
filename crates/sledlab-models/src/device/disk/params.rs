//! Every number that describes a disk, declared once.
//!
//! Zones and the seek table are lists: [`DiskParams`] has them in addition to the numbers.

use sledlab_core::params::{ParamSpec, Params};
use sledlab_core::{Error, Result};
use toml::{Table, Value};

use super::zones::{Zone, ZoneShape};

sledlab_core::choices! {
    /// The state of a parked disk.
    pub enum IdleState {
        /// Powered, the platters do not spin (SLEEP).
        Sleep = "sleep",
        /// Switched off (OFF).
        Off = "off",
    }
}

sledlab_core::choices! {
    /// In which order blocks fill the surfaces of a cylinder.
    pub enum LbnOrder {
        /// From the first surface to the last on every cylinder.
        Normal = "normal",
        /// As `normal` on even cylinders of a zone, from the last surface to the first on odd ones, so that the next
        /// cylinder begins on the surface where the one before ended.
        Serpentine = "serpentine",
    }
}

sledlab_core::choices! {
    /// Location of spare sectors; slipped sectors shift blocks up to the next spares.
    pub enum Sparing {
        /// No spare sectors.
        None = "none",
        /// Tracks at the end of a zone.
        ZoneTracks = "zone-tracks",
        /// Sectors at the end of every cylinder.
        Cylinder = "cylinder",
        /// Sectors at the end of every track.
        Track = "track",
        /// Sectors at the end of the disk: every slipped sector shortens its zone.
        Drive = "drive",
        /// Sectors at the end of a number of cylinders.
        CylinderRange = "cylinder-range",
        /// Sectors at the end of every zone.
        Zone = "zone",
    }
}

sledlab_core::choices! {
    /// How seek times follow from distances.
    pub enum SeekCurveKind {
        /// A curve through three seek times.
        ThreePoints = "three-points",
        /// Straight lines between the points of `seek_table`.
        Table = "table",
        /// `seek_table` up to its last distance, then a square root, then a straight line.
        RootAndLine = "root-and-line",
    }
}

sledlab_core::choices! {
    /// How far a disk reads on after a read.
    pub enum ReadAhead {
        /// No read-ahead.
        None = "none",
        /// To the end of the track.
        Track = "track",
        /// To the end of the cylinder.
        Cylinder = "cylinder",
        /// Until the segment is full.
        Segment = "segment",
        /// To the end of the track of the block after the read, one track further in a sequential stream; for any
        /// `read_ahead_sectors`.
        SequentialTrack = "sequential-track",
    }
}

sledlab_core::choices! {
    /// Handling of a write that continues the blocks of the buffered write in transfer to the medium.
    pub enum AppendedWrites {
        /// The write waits until the write in transfer is on the medium.
        None = "none",
        /// The write becomes part of the write in transfer while the segment has space.
        Joined = "joined",
        /// One such write at a time is accepted, and written to the medium a revolution later, as in DiskSim 4.0.
        Separate = "separate",
    }
}

sledlab_core::params! {
    /// Parameters of a disk. Defaults are those of the preset `mobile-disk`, an assumption.
    pub struct DiskNumbers {
        /// Heads: surfaces that hold data.
        heads: u64 = 6_u64, "", 1..256;
        /// Revolutions per minute.
        rpm: u64 = 4200_u64, "rpm", 1..1e6;
        /// How many times faster a sector is transferred than it passes under the head; 1 in a real disk.
        media_speedup: f64 = 1.0, "", 1.0..1e3;
        /// Order of blocks on the surfaces of a cylinder: `normal` or `serpentine`, reversed on odd cylinders.
        lbn_order: LbnOrder = LbnOrder::Normal;
        /// Location of spare sectors: at the end of each track, cylinder, zone or of the disk.
        sparing: Sparing = Sparing::None;
        /// Cylinders that share spare sectors under sparing `cylinder-range`.
        sparing_range_cylinders: u64 = 1_u64, "", 1..1e6;

        /// How seek times follow from distances.
        seek_curve: SeekCurveKind = SeekCurveKind::ThreePoints;
        /// Seek to the next cylinder (`three-points`).
        single_cylinder_seek_ms: f64 = 3.0, "ms", 0.0..1e4;
        /// Seek over a third of the cylinders, the mean distance between random places (`three-points`).
        average_seek_ms: f64 = 17.0, "ms", 0.0..1e4;
        /// Seek over all cylinders (`three-points`).
        full_stroke_seek_ms: f64 = 30.0, "ms", 0.0..1e4;
        /// Constant of the square-root part of the seek curve (`root-and-line`).
        root_constant_ms: f64 = 0.0, "ms", -1e4..1e4;
        /// Factor of the square root of the seek distance in cylinders (`root-and-line`).
        root_factor_ms: f64 = 0.0, "ms", 0.0..1e4;
        /// Seek distance at which the linear part of the seek curve begins (`root-and-line`).
        line_from_cylinders: u64 = 1_u64, "", 1..1e6;
        /// Constant of the linear part of the seek curve (`root-and-line`).
        line_constant_ms: f64 = 0.0, "ms", -1e4..1e4;
        /// Slope of the linear part of the seek curve (`root-and-line`).
        line_slope_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time to another head of the same cylinder; runs in parallel with a seek.
        head_switch_ms: f64 = 2.0, "ms", 0.0..1e4;
        /// Settling before a write after any movement; negative where writes settle faster than in the curve.
        write_settle_ms: f64 = 0.5, "ms", -1e4..1e4;
        /// Command overhead of each request.
        command_overhead_ms: f64 = 0.5, "ms", 0.0..1e4;

        /// Commands queued in the disk, of which the scheduler chooses one; further commands wait outside.
        queue_depth: u64 = 1_u64, "", 1..1e4;
        /// Whether schedulers use the angle of the last sector accessed as the current angle (DiskSim 4.0).
        stale_angle: bool = false;
        /// Time on the bus of a sector that is read.
        bus_sector_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time on the bus of a sector that is written.
        bus_write_sector_us: f64 = 0.0, "us", 0.0..1e6;

        /// Overhead of a read from the buffer after a read.
        read_hit_after_read_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a read from the buffer after a write.
        read_hit_after_write_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a read from the medium after a read.
        read_miss_after_read_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a read from the medium after a write.
        read_miss_after_write_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a buffered write after a read.
        write_buffered_after_read_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a buffered write after a write.
        write_buffered_after_write_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a write to the medium after a read.
        write_through_after_read_us: f64 = 0.0, "us", 0.0..1e6;
        /// Overhead of a write to the medium after a write.
        write_through_after_write_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time from the last sector of a read to the completion of the read.
        read_completion_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time from the last sector of a write to the completion of the write.
        write_completion_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time from the command, or a reselection, to the first sector on the bus.
        data_preparation_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time of the first reselection after a disconnection.
        reselect_first_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time of each further reselection.
        reselect_other_us: f64 = 0.0, "us", 0.0..1e6;
        /// Whether a write that follows a write disconnects from the bus once more.
        extra_write_disconnect: bool = false;
        /// Overhead of the command of a write with the extra disconnection.
        extra_disconnect_command_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time that the extra disconnection takes.
        extra_disconnect_first_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time from the extra disconnection to the reselection.
        extra_disconnect_gap_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time from the command of a write with the extra disconnection to the start of the seek.
        extra_disconnect_seek_delta_us: f64 = 0.0, "us", 0.0..1e6;
        /// Shortest seek of a write with the extra disconnection.
        minimum_write_seek_us: f64 = 0.0, "us", 0.0..1e6;

        /// Segments of the buffer; 0 for a disk without one.
        cache_segments: u64 = 0_u64, "", 0..1e4;
        /// Sectors of a segment.
        segment_sectors: u64 = 0_u64, "sectors", 0..1e7;
        /// Whether one segment is only for writes.
        dedicated_write_segment: bool = false;
        /// Share of a read, at most of a segment, that is buffered before the disk reconnects.
        read_watermark: f64 = 0.0, "", 0.0..1.0;
        /// How far the disk reads ahead after a read.
        read_ahead: ReadAhead = ReadAhead::None;
        /// Maximum number of sectors that are read ahead; not used by `read_ahead = "sequential-track"`.
        read_ahead_sectors: u64 = 0_u64, "sectors", 0..1e7;
        /// Whether requested sectors are evicted from the buffer once they are sent.
        drops_requested: bool = false;
        /// Whether a read hit in the buffer starts read-ahead again.
        read_ahead_after_hit: bool = false;
        /// Whether read-ahead stops within a sector when another command arrives.
        stops_within_sector: bool = false;
        /// Whether the sector that read-ahead reads when a command arrives enters the buffer, so a read continues it.
        keeps_sector_under_head: bool = false;
        /// Whether a write is complete once it is buffered.
        buffers_writes: bool = false;
        /// Whether a write that continues the one being destaged waits, joins it, or follows a revolution later.
        appended_writes: AppendedWrites = AppendedWrites::None;
        /// Whether reads hit written data in the buffer, except in a segment that is only for writes.
        reads_hit_writes: bool = false;
        /// Whether a write empties segments that hold blocks it overwrites, instead of only removing these blocks.
        writes_empty_segments: bool = false;
        /// Whether a read starts at the first of its sectors to come, and buffers sectors that pass before.
        zero_latency_reads: bool = false;

        /// Idle time after which the disk is parked; 0 parks at once.
        idle_timeout_ms: f64 = 7000.0, "ms", 0.0..1e12;
        /// State of a parked disk: `sleep` (powered, platters do not spin) or `off`.
        idle_state: IdleState = IdleState::Sleep;
        /// Time of a start-up from sleep.
        startup_ms: f64 = 2500.0, "ms", 0.0..1e5;
        /// Time of a start-up from off.
        off_startup_ms: f64 = 4000.0, "ms", 0.0..1e5;
        /// Power while seeking, waiting for a sector or accessing a sector.
        active_mw: f64 = 2300.0, "mW", 0.0..1e6;
        /// Power while spinning without requests.
        idle_mw: f64 = 1000.0, "mW", 0.0..1e6;
        /// Power in the state `sleep`; a disk that is off draws none.
        sleep_mw: f64 = 100.0, "mW", 0.0..1e6;
        /// Power during a start-up.
        startup_mw: f64 = 2500.0, "mW", 0.0..1e6;
    }
}

/// Keys of the two lists.
pub(crate) const ZONES: &str = "zones";
pub(crate) const SEEK_TABLE: &str = "seek_table";

/// All parameters of a disk: numbers, zones and seek table.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskParams {
    /// Parameters that are a number, a switch or a choice.
    pub flat: DiskNumbers,
    /// Zones, from the first cylinder on.
    pub zones: Vec<Zone>,
    /// Measured seek times: distances in cylinders, ascending, and times in ms.
    pub seek_table: Vec<(u64, f64)>,
}

impl Default for DiskParams {
    fn default() -> Self {
        DiskParams { flat: DiskNumbers::default(), zones: vec![Zone::default()], seek_table: Vec::new() }
    }
}

impl DiskParams {
    /// Number of cylinders: one more than the last cylinder of the last zone.
    pub fn cylinders(&self) -> u64 {
        self.zones.iter().map(|zone| zone.shape.first_cylinder + zone.shape.cylinders).max().unwrap_or(0)
    }

    /// A disk of one zone, which fills `cylinders` cylinders.
    #[cfg(test)]
    pub(super) fn with_one_zone(
        cylinders: u64,
        sectors_per_track: u64,
        (track_skew_sectors, cylinder_skew_sectors): (u64, u64),
        flat: DiskNumbers,
    ) -> Self {
        let shape = ZoneShape {
            cylinders,
            sectors_per_track,
            track_skew_sectors,
            cylinder_skew_sectors,
            ..ZoneShape::default()
        };
        let zones = vec![Zone { shape, slipped: Vec::new(), remapped: Vec::new() }];
        DiskParams { flat, zones, seek_table: Vec::new() }
    }
}

/// `specs` lists only the numbers; `set` and `to_table` also read and write the two lists.
impl Params for DiskParams {
    fn specs() -> Vec<ParamSpec> {
        DiskNumbers::specs()
    }

    fn set(&mut self, path: &str, key: &str, value: &Value) -> Result<()> {
        match key {
            ZONES => self.zones = Zone::read_list(&format!("{path}.{ZONES}"), value)?,
            SEEK_TABLE => self.seek_table = read_seek_table(&format!("{path}.{SEEK_TABLE}"), value)?,
            key if DiskNumbers::specs().iter().any(|spec| spec.name == key) => {
                self.flat.set(path, key, value)?;
            }
            key if ZoneShape::specs().iter().any(|spec| spec.name == key) => {
                return Err(Error::user(format!("unknown key `{path}.{key}`"))
                    .with_remedy(format!("every zone in {path}.{ZONES} has its own")));
            }
            _ => {
                let known: Vec<String> = DiskNumbers::specs()
                    .iter()
                    .map(|spec| spec.name)
                    .chain([ZONES, SEEK_TABLE])
                    .map(|known| format!("{path}.{known}"))
                    .collect();
                return Err(Error::unknown_name(
                    "key",
                    &format!("{path}.{key}"),
                    known.iter().map(String::as_str),
                ));
            }
        }
        Ok(())
    }

    fn to_table(&self) -> Table {
        let mut table = self.flat.to_table();
        let points = self.seek_table.iter().map(|(cylinders, ms)| {
            Value::Array(vec![
                Value::Integer(i64::try_from(*cylinders).unwrap_or(i64::MAX)),
                Value::Float(*ms),
            ])
        });
        table.insert(SEEK_TABLE.to_owned(), Value::Array(points.collect()));
        let zones = self.zones.iter().map(|zone| Value::Table(zone.to_table()));
        table.insert(ZONES.to_owned(), Value::Array(zones.collect()));
        table
    }
}

/// Reads `[[cylinders, ms], ...]`.
fn read_seek_table(path: &str, value: &Value) -> Result<Vec<(u64, f64)>> {
    let remedy = "write pairs of a distance in cylinders and a time in ms: [[1, 0.8], [2, 0.95], [100, 3.0]]";
    let error = |message: String| Error::user(message).with_remedy(remedy);
    let points =
        value.as_array().ok_or_else(|| error(format!("{path}: expected a list, found `{value}`")))?;
    points
        .iter()
        .map(|point| {
            let pair = point.as_array().map(Vec::as_slice);
            let Some([Value::Integer(cylinders), ms @ (Value::Integer(_) | Value::Float(_))]) = pair else {
                return Err(error(format!("{path}: expected a pair of numbers, found `{point}`")));
            };
            let ms = ms.as_float().unwrap_or_else(|| ms.as_integer().unwrap_or_default() as f64);
            match u64::try_from(*cylinders) {
                Ok(cylinders) if (1..=1_000_000).contains(&cylinders) && (0.0..=1e4).contains(&ms) => {
                    Ok((cylinders, ms))
                }
                _ => Err(error(format!(
                    "{path}: {point} is out of range (1 to 1000000 cylinders, 0 to 10000 ms)"
                ))),
            }
        })
        .collect()
}
