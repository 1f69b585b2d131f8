//! Every number that describes a disk, declared once.

sledlab_core::choices! {
    /// Where a disk goes when it is parked.
    pub enum RestState {
        /// Powered, the platters at rest (SLEEP).
        Sleep = "sleep",
        /// Switched off (OFF).
        Off = "off",
    }
}

sledlab_core::params! {
    /// A disk of one zone, without a cache. Defaults are those of the preset `mobile-disk`, an assumption (DM-14).
    pub struct DiskParams {
        /// Cylinders.
        cylinders: u64 = 6624_u64, "", 10..1e6;
        /// Heads: surfaces that hold data.
        heads: u64 = 6_u64, "", 1..256;
        /// Sectors of 512 bytes on every track.
        sectors_per_track: u64 = 170_u64, "sectors", 1..1e5;
        /// How far the first sector of a track lies behind that of the track before, on the same cylinder.
        track_skew_sectors: u64 = 30_u64, "sectors", 0..1e5;
        /// How far the first sector of a cylinder lies behind that of the last track of the cylinder before.
        cylinder_skew_sectors: u64 = 42_u64, "sectors", 0..1e5;

        /// Revolutions per minute.
        rpm: u64 = 4200_u64, "rpm", 1..1e5;
        /// Seek to the next cylinder.
        single_cylinder_seek_ms: f64 = 3.0, "ms", 0.0..1e4;
        /// Seek over a third of the cylinders, which is the mean distance between random places.
        average_seek_ms: f64 = 17.0, "ms", 0.0..1e4;
        /// Seek over all cylinders.
        full_stroke_seek_ms: f64 = 30.0, "ms", 0.0..1e4;
        /// Time to another head of the same cylinder; runs in parallel with a seek.
        head_switch_ms: f64 = 2.0, "ms", 0.0..1e4;
        /// Settling before a write, after a seek or a head switch.
        write_settle_ms: f64 = 0.5, "ms", 0.0..1e4;
        /// Command overhead of each request.
        command_overhead_ms: f64 = 0.5, "ms", 0.0..1e4;

        /// Idle time after which the disk is parked; 0 parks at once.
        idle_timeout_ms: f64 = 7000.0, "ms", 0.0..1e12;
        /// Where a parked disk is: `sleep` (powered, platters at rest) or `off`.
        rest_state: RestState = RestState::Sleep;
        /// Time to spin up from sleep.
        startup_ms: f64 = 2500.0, "ms", 0.0..1e5;
        /// Time to get going from being off.
        off_startup_ms: f64 = 4000.0, "ms", 0.0..1e5;
        /// Power while seeking, waiting for a sector or accessing it.
        active_mw: f64 = 2300.0, "mW", 0.0..1e6;
        /// Power while spinning without requests.
        idle_mw: f64 = 1000.0, "mW", 0.0..1e6;
        /// Power asleep; a disk that is off draws none.
        sleep_mw: f64 = 100.0, "mW", 0.0..1e6;
        /// Power while getting going.
        startup_mw: f64 = 2500.0, "mW", 0.0..1e6;
    }
}
