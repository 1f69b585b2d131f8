//! How each parameter of a DiskSim disk is imported.

/// How one parameter is imported.
#[derive(Clone, Copy, Debug)]
pub(super) enum ImportRule {
    /// A number, times ten to the power given, for a parameter of the device.
    Number(&'static str, i32),
    /// A whole number for a parameter of the device.
    Count(&'static str),
    /// A switch of the device: off at 0, on at any other number.
    Switch(&'static str),
    /// A switch of the device that is on at this code.
    SwitchAt(i64, &'static str),
    /// A code for a choice of the device, and what other codes would change.
    Choice(&'static str, &'static [(i64, &'static str)], &'static str),
    /// Must have this value if the file gives it: other values are not modeled. The text says which times differ from
    /// those of DiskSim if the file is changed to this value.
    Must(i64, &'static str),
    /// Ignored; may be missing.
    Ignored,
    /// Ignored, with a remark that gives the reason unless it has this value.
    Remark(i64, &'static str),
    /// Read by separate code; an error if it is missing.
    Needed,
    /// Read by separate code; may be missing.
    Optional,
}

use ImportRule::{Choice, Count, Ignored, Must, Needed, Number, Optional, Remark, Switch, SwitchAt};

/// The reason against a code that DiskSim does not have either.
const NO_SUCH_CODE: &str = "DiskSim has no such value";

/// Access time types of DiskSim that are not modeled, and what another type would change.
pub(super) const ACCESS_TIME_TYPES: &[(&str, &str)] = &[
    (
        "constant",
        "DiskSim takes the same time for every request, so all service times differ here, shorter or \
             longer",
    ),
    (
        "averageRotation",
        "DiskSim takes half a revolution for every rotational latency, so requests in order are faster here, and \
         random ones equal on average",
    ),
];

/// What another seek type changes.
const OTHER_SEEK_CURVE: &str = "seeks follow another curve, so their times differ here, shorter or longer; write \
    the times of this curve to a seek file to use `extracted`";

/// Seek types of DiskSim that are not modeled, and what another type would change.
pub(super) const SEEK_TYPES: &[(&str, &str)] = &[
    ("constant", OTHER_SEEK_CURVE),
    ("linear", OTHER_SEEK_CURVE),
    ("curve", OTHER_SEEK_CURVE),
    ("hpl", OTHER_SEEK_CURVE),
];

/// Returns what is lost if a block of another kind takes the place of one that is modeled, to follow in the message.
pub(super) fn effect_of_other_kind(kind: &str) -> &'static str {
    match kind {
        "dm_layout_g2" | "dm_layout_g3" | "dm_layout_g4" => {
            ", which is not modeled: it places blocks on tracks by other rules, and with zones in its place seeks and \
             rotational latencies differ here, shorter or longer"
        }
        _ => "",
    }
}

/// Keys of a block and how each is imported.
pub(super) type Keys = &'static [(&'static str, ImportRule)];

/// `disksim_disk`: controller and buffer.
pub(super) const DISK: Keys = &[
    ("Model", Needed),
    (
        "Per-request overhead time",
        Must(0, "DiskSim delays every request by this time, so every response time is shorter here"),
    ),
    ("Time scale for overheads", Optional),
    ("Bulk sector transfer time", Needed),
    ("Hold bus entire read xfer", Ignored),
    ("Hold bus entire write xfer", Ignored),
    ("Allow almost read hits", Optional),
    (
        "Allow sneaky full read hits",
        Must(
            0,
            "DiskSim sends a read that is wholly in the buffer while the drive works on another command, so \
             such reads take longer here; streams that leave the drive idle between requests do not change",
        ),
    ),
    (
        "Allow sneaky partial read hits",
        Must(
            0,
            "DiskSim sends the part of a read that is in the buffer while the drive works on another command, \
             so such reads take longer here; streams that leave the drive idle between requests do not change",
        ),
    ),
    (
        "Allow sneaky intermediate read hits",
        Must(
            0,
            "DiskSim sends queued reads that are in the buffer while the bus is free, so such reads take \
             longer here; with one command at a time in the drive nothing changes",
        ),
    ),
    ("Allow read hits on write data", Switch("reads_hit_writes")),
    (
        "Allow write prebuffering",
        Must(
            0,
            "DiskSim moves the data of queued writes to the buffer while the bus is free, so such writes take \
             longer here; with one command at a time in the drive nothing changes",
        ),
    ),
    (
        "Preseeking level",
        Must(
            0,
            "DiskSim moves the arm to the next queued request before the current one completes, so queued \
             requests take longer here; with one command at a time in the drive nothing changes",
        ),
    ),
    ("Never disconnect", Ignored),
    ("Print stats", Ignored),
    ("Avg sectors per cylinder", Ignored),
    ("Max queue length", Count("queue_depth")),
    ("Scheduler", Ignored),
    ("Number of buffer segments", Count("cache_segments")),
    ("Maximum number of write segments", Ignored),
    ("Segment size (in blks)", Count("segment_sectors")),
    ("Use separate write segment", Switch("dedicated_write_segment")),
    ("Low (write) water mark", Ignored),
    ("High (read) water mark", Number("read_watermark", 0)),
    (
        "Set watermark by reqsize",
        Must(
            1,
            "DiskSim takes the watermark as a share of the segment, so a read that is shorter than the \
             segment is sent sooner here and completes earlier; with a `High (read) water mark` of 0 nothing \
             changes",
        ),
    ),
    ("Calc sector by sector", Ignored),
    ("Enable caching in buffer", Remark(1, "reads and writes are both buffered")),
    (
        "Buffer continuous read",
        Choice(
            "read_ahead",
            &[(0, "none"), (1, "track"), (2, "cylinder"), (3, "segment"), (4, "sequential-track")],
            NO_SUCH_CODE,
        ),
    ),
    (
        "Minimum read-ahead (blks)",
        Must(
            0,
            "DiskSim delays the request after a read until this number of sectors is read ahead, so requests \
             that interrupt a read-ahead start sooner here, and fewer reads hit the buffer",
        ),
    ),
    ("Maximum read-ahead (blks)", Count("read_ahead_sectors")),
    ("Read-ahead over requested", SwitchAt(-1, "drops_requested")),
    ("Read-ahead on idle hit", Switch("read_ahead_after_hit")),
    ("Read any free blocks", Switch("zero_latency_reads")),
    // Levels 1 and 2 differ only if several commands are in the drive.
    ("Fast write level", Switch("buffers_writes")),
    ("Immediate buffer read", Remark(0, "drives read on arrival that read any free blocks")),
    ("Immediate buffer write", Remark(0, "DiskSim itself does not do it")),
    ("Combine seq writes", Choice("appended_writes", &[(0, "none"), (1, "joined")], NO_SUCH_CODE)),
    ("Stop prefetch in sector", Switch("stops_within_sector")),
    (
        "Disconnect write if seek",
        Must(
            0,
            "DiskSim frees the bus during the seek of a write and reconnects afterwards, so writes are \
             shorter here by the overheads of disconnecting and reconnecting",
        ),
    ),
    (
        "Write hit stop prefetch",
        Must(
            1,
            "DiskSim continues the read-ahead after a write that hits the buffer, so fewer later reads hit \
             the buffer here, and such writes reach the medium sooner",
        ),
    ),
    (
        "Read directly to buffer",
        Must(
            1,
            "DiskSim reads a sector before there is space for it in the buffer, so reads that fill their \
             segment take longer here",
        ),
    ),
    (
        "Immed transfer partial hit",
        Must(
            1,
            "DiskSim waits until the watermark is buffered before it sends the buffered part of a read, so \
             such reads are sent sooner here and complete earlier",
        ),
    ),
    ("Read hit over. after read", Number("read_hit_after_read_us", 3)),
    ("Read hit over. after write", Number("read_hit_after_write_us", 3)),
    ("Read miss over. after read", Number("read_miss_after_read_us", 3)),
    ("Read miss over. after write", Number("read_miss_after_write_us", 3)),
    ("Write hit over. after read", Number("write_buffered_after_read_us", 3)),
    ("Write hit over. after write", Number("write_buffered_after_write_us", 3)),
    ("Write miss over. after read", Number("write_through_after_read_us", 3)),
    ("Write miss over. after write", Number("write_through_after_write_us", 3)),
    ("Read completion overhead", Number("read_completion_us", 3)),
    ("Write completion overhead", Number("write_completion_us", 3)),
    ("Data preparation overhead", Number("data_preparation_us", 3)),
    ("First reselect overhead", Number("reselect_first_us", 3)),
    ("Other reselect overhead", Number("reselect_other_us", 3)),
    ("Read disconnect afterread", Ignored),
    ("Read disconnect afterwrite", Ignored),
    ("Write disconnect overhead", Remark(0, "no request waits for it")),
    ("Extra write disconnect", Switch("extra_write_disconnect")),
    ("Extradisc command overhead", Number("extra_disconnect_command_us", 3)),
    ("Extradisc disconnect overhead", Number("extra_disconnect_first_us", 3)),
    ("Extradisc inter-disconnect delay", Number("extra_disconnect_gap_us", 3)),
    ("Extradisc 2nd disconnect overhead", Remark(0, "no request waits for it")),
    ("Extradisc seek delta", Number("extra_disconnect_seek_delta_us", 3)),
    ("Minimum seek delay", Number("minimum_write_seek_us", 3)),
];

/// `dm_disk`: the mechanism.
pub(super) const MODEL: Keys = &[
    ("Number of data surfaces", Count("heads")),
    ("Number of cylinders", Ignored),
    ("Block count", Optional),
    ("Mechanical Model", Needed),
    ("Layout Model", Needed),
];

/// `dm_mech_g1`: arm and platters.
pub(super) const MECHANICS: Keys = &[
    ("Access time type", Needed),
    // Of access time and seek types that are refused.
    ("Constant access time", Ignored),
    ("Constant seek time", Ignored),
    ("Seek type", Needed),
    ("Single cylinder seek time", Ignored),
    ("Average seek time", Ignored),
    ("Full strobe seek time", Ignored),
    ("Full seek curve", Optional),
    ("Add. write settling delay", Number("write_settle_ms", 0)),
    ("HPL seek equation values", Optional),
    ("First ten seek times", Optional),
    ("Head switch time", Number("head_switch_ms", 0)),
    ("Rotation speed (in rpms)", Count("rpm")),
    (
        "Percent error in rpms",
        Must(
            0,
            "DiskSim draws the speed of each disk within this deviation, so rotational latencies and \
             transfers differ here by up to this share, shorter or longer",
        ),
    ),
];

/// `dm_layout_g1`: blocks on the surfaces.
pub(super) const LAYOUT: Keys = &[
    (
        "LBN-to-PBN mapping scheme",
        Choice(
            "lbn_order",
            &[(0, "normal"), (1, "serpentine")],
            "blocks lie here on other heads and cylinders, so seeks and rotational latencies differ here, \
             shorter or longer",
        ),
    ),
    (
        "Sparing scheme used",
        Choice(
            "sparing",
            &[
                (0, "none"),
                (1, "zone-tracks"),
                (2, "cylinder"),
                (3, "track"),
                (7, "drive"),
                (8, "cylinder-range"),
                (9, "zone"),
            ],
            "spare sectors lie elsewhere here and with them all later blocks, so rotational latencies differ \
             here, shorter or longer, and the capacity too",
        ),
    ),
    ("Rangesize for sparing", Count("sparing_range_cylinders")),
    ("Skew units", Optional),
    ("Zones", Needed),
];

/// `dm_layout_g1_zone`.
pub(super) const ZONE: Keys = &[
    ("First cylinder number", Count("first_cylinder")),
    ("Last cylinder number", Needed),
    ("Blocks per track", Count("sectors_per_track")),
    ("Offset of first block", Count("first_sector_offset")),
    ("Empty space at zone front", Count("reserved_sectors")),
    ("Skew for track switch", Count("track_skew_sectors")),
    ("Skew for cylinder switch", Count("cylinder_skew_sectors")),
    ("Number of spares", Count("spares")),
    ("Skew units", Optional),
    ("slips", Optional),
    ("defects", Optional),
];

/// `disksim_bus`: only the transfer times of a sector are read; other keys are ignored.
pub(super) const BUS: [(&str, &str); 2] =
    [("Read block transfer time", "bus_sector_us"), ("Write block transfer time", "bus_write_sector_us")];
