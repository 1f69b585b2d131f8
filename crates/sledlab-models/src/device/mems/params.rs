//! Every number that describes a MEMS sled device, declared once.

use crate::device::Grid;

sledlab_core::choices! {
    /// How seek and turnaround times are computed.
    pub enum KinematicsKind {
        /// The closed-form bang-bang solution with springs.
        Exact = "exact",
        /// Chunks of constant spring force, any number of them.
        Piecewise = "piecewise",
        /// The reference simulator's iterative seek function 0, defects included.
        DisksimPiecewise = "disksim-piecewise",
        /// The reference simulator's closed-form seek function 1, defects included.
        DisksimClosed = "disksim-closed",
    }
}

sledlab_core::choices! {
    /// At which displacement the spring force reaches `spring_factor` of the actuator force.
    pub enum SpringConvention {
        /// At the edge, half the travel from the center.
        Edge = "edge",
        /// At the full travel.
        Travel = "travel",
    }
}

sledlab_core::choices! {
    /// Order in which logical blocks fill the medium.
    pub enum LayoutKind {
        /// Tips of a row, rows of a track, tracks, columns.
        RowFirst = "row-first",
        /// Row-first with every other track reversed.
        Streaming = "streaming",
        /// One group of tips at a time, along y.
        YSequential = "y-sequential",
        /// One zone of the zone-based schedulers after the other.
        ZoneClustered = "zone-clustered",
        /// Small data at the center, large data around it.
        Bipartite = "bipartite",
        /// Each attribute of a relation under separate tips, the blocks of a tuple at one position.
        Tabular = "tabular",
        /// Small data at the center, position by position; large data around it, streaming.
        TwoClass = "two-class",
    }
}

sledlab_core::choices! {
    /// Which parts of the medium the `bipartite` layout fills in which order.
    pub enum MediumParts {
        /// 25 columns, those at the center for small data.
        Columnar = "columnar",
        /// 5 by 5 cells, those at the center for small data.
        Subregioned = "subregioned",
        /// 25 columns from the center outwards.
        OrganPipe = "organ-pipe",
    }
}

sledlab_core::choices! {
    /// Directions in which a row of tip sectors may be accessed.
    pub enum Direction {
        /// The direction in which the access can begin sooner.
        Free = "free",
        /// Even columns upwards, odd columns downwards.
        Parity = "parity",
        /// Upwards only.
        Up = "up",
    }
}

sledlab_core::choices! {
    /// The direction in which a row is accessed when both directions take equally long.
    pub enum DirectionTie {
        /// Towards the next row of the request, else upwards.
        Onward = "onward",
        /// Downwards, as the reference simulator does.
        Down = "down",
    }
}

sledlab_core::choices! {
    /// Positioning times that schedulers see.
    pub enum Selection {
        /// Exact positioning times; ties go to the smaller x distance, then to the earlier arrival.
        Exact = "exact",
        /// As the reference simulator: ties go to the lowest LBN, and both access directions
        /// are weighed even where only one can be used.
        Disksim = "disksim",
        /// A seek curve for each axis, by distance alone.
        Curve = "curve",
        /// One bit in x counts as ten in y.
        Ratio = "ratio",
    }
}

sledlab_core::choices! {
    /// Motion of several sleds: all together, or each independently.
    pub enum SledMotion {
        /// Each independently.
        Independent = "independent",
        /// All together: a position holds blocks of every sled.
        Together = "together",
    }
}

sledlab_core::choices! {
    /// How addresses are distributed over sleds.
    pub enum SledMap {
        /// A contiguous range for each sled.
        Contiguous = "contiguous",
        /// Stripes on each sled in turn.
        RoundRobin = "round-robin",
    }
}

sledlab_core::choices! {
    /// Transfer of commands and data to the sled.
    pub enum Pipeline {
        /// Overhead, then the mechanism; data moves while the tips read or write.
        Serial = "serial",
        /// The reference simulator's interleaved bus: overheads run in parallel with the sled, blocks cross a
        /// first-come bus, and the blocks of a write must arrive before they are written.
        Interleaved = "interleaved",
    }
}

sledlab_core::choices! {
    /// Position of the sled at the end of a start-up.
    pub enum Parking {
        /// The position before the sled was parked.
        Stay = "stay",
        /// At the start of the middle row of the middle column, moving up.
        Center = "center",
        /// At the start of the row of the center block, moving up: the rule of the reference simulator.
        CenterBlock = "center-block",
    }
}

sledlab_core::choices! {
    /// Motion of an idle sled.
    pub enum IdleMotion {
        /// The sled re-reads the servo of its last position and so keeps its state.
        Hold = "hold",
        /// The sled drifts by the reference simulator's rule (pseudo-random, not a physical motion).
        DisksimDrift = "disksim-drift",
    }
}

sledlab_core::choices! {
    /// The parts of an idle sled that draw power.
    pub enum IdlePower {
        /// The sled, and the tips of the last request during servo bits of the re-seek loop.
        ServoLoop = "servo-loop",
        /// The sled alone.
        SledOnly = "sled-only",
        /// The sled and all tips of the last request all the time.
        Full = "full",
    }
}

sledlab_core::params! {
    /// A MEMS sled device. Defaults are those of generation G2 (Chiu 2004, Table 1; Hong 2006, Table I).
    pub struct MemsParams {
        /// Width and height of a bit cell.
        bit_nm: f64 = 40.0, "nm", 1.0..1000.0;
        /// Reach of the sled in x.
        travel_x_um: f64 = 100.0, "um", 0.001..1e4;
        /// Reach of the sled in y.
        travel_y_um: f64 = 100.0, "um", 0.001..1e4;
        /// Bits of a tip sector without servo.
        tip_sector_bits: u64 = 80_u64, "bits", 1..1e4;
        /// Servo bits before (and after) every tip sector.
        servo_bits: u64 = 10_u64, "bits", 0..1e4;
        /// Tips that hold one block together.
        tips_per_block: u64 = 64_u64, "tips", 1..65536;
        /// Extra tips of every block for error correction; as many tips of a block may fail.
        redundant_tips: u64 = 0_u64, "tips", 0..65536;
        /// Tips of a sled.
        usable_tips: u64 = 6400_u64, "tips", 1..1e7;
        /// Tips of a sled that can be active at once.
        active_tips: u64 = 1280_u64, "tips", 1..1e7;
        /// Tips of a sled besides `usable_tips` that replace bad tips.
        spare_tips: u64 = 0_u64, "tips", 0..1e7;
        /// Usable tips of a sled that are bad from the start, at random places.
        bad_tips: u64 = 0_u64, "tips", 0..1e7;
        /// Usable tips of a sled that fail at `tips_fail_at_s`, at random places.
        failing_tips: u64 = 0_u64, "tips", 0..1e7;
        /// Simulated time at which `failing_tips` fail.
        tips_fail_at_s: f64 = 0.0, "s", 0.0..1e9;
        /// Seed of the random places of bad and failing tips.
        bad_tips_seed: u64 = 1_u64;
        /// Order in which logical blocks fill the medium.
        layout: LayoutKind = LayoutKind::RowFirst;
        /// Cells along x and y of the `zone-clustered` layout; each is two zones, even and odd columns.
        layout_grid: Grid = Grid::new(20, 2);
        /// Parts of the `bipartite` layout, and the order in which they are filled.
        layout_parts: MediumParts = MediumParts::Columnar;
        /// Share of the blocks, from the first, that hold small data; of `bipartite` in steps of 0.04.
        small_share: f64 = 0.2, "", 0.001..0.999;
        /// Attributes of the `tabular` layout, each with an equal share of the blocks.
        attributes: u64 = 5_u64, "", 1..4096;

        /// How seek and turnaround times are computed.
        kinematics: KinematicsKind = KinematicsKind::Exact;
        /// Chunks per phase of the `piecewise` kinematics.
        piecewise_chunks: u64 = 50_u64, "", 1..1e5;
        /// Acceleration of the actuators in x.
        acceleration_x_m_s2: f64 = 803.6, "m/s2", 0.001..1e6;
        /// Acceleration of the actuators in y.
        acceleration_y_m_s2: f64 = 803.6, "m/s2", 0.001..1e6;
        /// Spring force over actuator force at the displacement of `spring_convention`.
        spring_factor: f64 = 0.75, "", 0.0..0.999;
        /// Displacement at which the spring force is `spring_factor` of the actuator force.
        spring_convention: SpringConvention = SpringConvention::Edge;
        /// Data rate of one tip; times the bit cell this is the access velocity.
        tip_rate_kbit_s: f64 = 700.0, "kbit/s", 0.001..1e6;
        /// Resonant frequency of the sled in x.
        resonant_hz: f64 = 739.0, "Hz", 0.001..1e9;
        /// Time constants, 1/(2 pi f), that settling takes after a move in x; 0 for none.
        settle_constants: f64 = 1.0, "", 0.0..1000.0;
        /// Whether tips stay inactive where the host requests only a part of a block.
        subsector_access: bool = false;
        /// Active tips over tips with requested words, in subsector access; at most all tips of a block are active.
        subsector_tip_factor: f64 = 1.0, "", 1.0..64.0;
        /// Directions in which a row of tip sectors may be accessed.
        direction: Direction = Direction::Free;
        /// Direction of access where both directions take equally long.
        direction_tie: DirectionTie = DirectionTie::Onward;
        /// Positioning times that schedulers see: exact ones, or an approximation.
        selection: Selection = Selection::Exact;

        /// Number of sleds.
        sleds: u64 = 1_u64, "", 1..1024;
        /// Motion of several sleds: all together, or each independently.
        sled_motion: SledMotion = SledMotion::Independent;
        /// How addresses are distributed over sleds.
        sled_map: SledMap = SledMap::Contiguous;
        /// Blocks in a stripe of the `round-robin` sled map.
        stripe_blocks: u64 = 1_u64, "blocks", 1..1e6;

        /// Transfer of commands and data to the sled.
        pipeline: Pipeline = Pipeline::Serial;
        /// Command overhead of each request.
        command_overhead_ms: f64 = 0.0, "ms", 0.0..1e4;
        /// Time of one block on the bus of the `interleaved` pipeline.
        block_transfer_us: f64 = 0.0, "us", 0.0..1e6;

        /// Idle time after which the sled is parked (inactive); 0 parks at once.
        idle_timeout_ms: f64 = 1000.0, "ms", 0.0..1e12;
        /// Time of a start-up, from inactive to ready.
        startup_ms: f64 = 0.5, "ms", 0.0..1e5;
        /// Position of the sled at the end of a start-up.
        parking: Parking = Parking::Stay;
        /// Motion of an idle sled.
        idle_motion: IdleMotion = IdleMotion::Hold;
        /// Parts of an idle sled that draw power.
        idle_power: IdlePower = IdlePower::ServoLoop;
        /// Power of each moving sled, without tips.
        sled_mw: f64 = 100.0, "mW", 0.0..1e6;
        /// Power of one active tip that reads.
        tip_mw: f64 = 1.0, "mW", 0.0..1e6;
        /// Power of a tip that writes, over the power of a tip that reads.
        tip_write_factor: f64 = 1.0, "", 0.0..1e4;
        /// Power of each sled during a start-up.
        startup_mw: f64 = 100.0, "mW", 0.0..1e6;
        /// Power of each parked sled.
        inactive_mw: f64 = 50.0, "mW", 0.0..1e6;
    }
}

impl MemsParams {
    /// Tips that are switched on for a block: those of its data, and those for error correction.
    pub fn tips_of_block(&self) -> u64 {
        self.tips_per_block + self.redundant_tips
    }
}
