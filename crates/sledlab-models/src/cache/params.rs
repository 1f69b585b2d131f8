//! Parameters of a cache in an experiment.

use sledlab_core::{choices, registry};

choices! {
    /// Kinds of caches.
    pub enum CacheKind {
        /// No cache.
        None = "none",
        /// Writes are complete once the cache holds their data.
        WriteBack = "write-back",
    }
}

impl registry::KindWord for CacheKind {
    fn meaning(self) -> &'static str {
        registry::one_line(match self {
            CacheKind::None => "no cache",
            CacheKind::WriteBack => "a write is complete once it is in the cache, and is destaged later",
        })
    }

    fn uses_parameter(self, key: &str) -> bool {
        self == CacheKind::WriteBack && key != "kind"
    }
}

choices! {
    /// When a cache destages dirty blocks to the devices.
    pub enum Destage {
        /// In idle times of the devices, and to make room.
        Idle = "idle",
        /// Only to make room.
        Demand = "demand",
    }
}

choices! {
    /// The destage that a read causes whose lines find no clean line to evict.
    pub enum ReadDestage {
        /// None: the read goes to the devices at once, and its blocks are not cached.
        None = "none",
        /// Dirty lines are destaged first, and the read waits until it has all its lines.
        First = "first",
        /// The read goes to the devices first, and dirty lines are destaged after it.
        After = "after",
    }
}

sledlab_core::params! {
    /// A cache in front of the system: memory of a controller or a host. It keeps its contents without power
    /// unless `volatile` is set.
    pub struct CacheParams {
        /// Kind of cache: `none`, or `write-back`, which completes a write once the cache holds the data.
        kind: CacheKind = CacheKind::None;
        /// Capacity of the cache; 8192 blocks are 4 MiB.
        capacity_blocks: u64 = 8192_u64, "blocks", 1..1e9;
        /// Blocks of a line, which are evicted together.
        line_blocks: u64 = 16_u64, "blocks", 1..64;
        /// Replacement policy, such as `lru` or `arc`: which clean line is evicted, which dirty one destaged.
        replacement: String = "lru";
        /// Whether a power failure loses dirty blocks; a flush then waits until all of them are destaged.
        volatile: bool = false;
        /// Time of an access, whatever its size.
        access_us: f64 = 1.0, "us", 0.0..1e6;
        /// Rate at which blocks move between cache and host, in 10^6 bytes per second.
        bus_mb_s: f64 = 133.0, "MB/s", 1e-3..1e9;
        /// Blocks that a read miss reads ahead, beyond the end of the request.
        read_ahead_blocks: u64 = 0_u64, "blocks", 0..1e6;
        /// When dirty blocks are destaged: only to make room (`demand`), or also in idle times (`idle`).
        destage: Destage = Destage::Idle;
        /// Destage for a read that finds no clean line: `none`, before the read (`first`), or `after` it.
        read_destage: ReadDestage = ReadDestage::None;
        /// Time without requests after which dirty blocks are destaged.
        destage_idle_ms: f64 = 20.0, "ms", 0.0..1e12;
        /// Maximum number of blocks that one write to the devices destages.
        destage_blocks: u64 = 128_u64, "blocks", 1..1e6;
    }
}
