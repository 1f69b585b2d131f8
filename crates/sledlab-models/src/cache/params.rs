//! What an experiment says about a cache.

use sledlab_core::{choices, registry};

choices! {
    /// Kinds of caches.
    pub enum CacheKind {
        /// None.
        None = "none",
        /// Writes are complete once they are in the cache.
        WriteBack = "write-back",
    }
}

impl registry::KindWord for CacheKind {
    fn meaning(self) -> &'static str {
        registry::one_line(match self {
            CacheKind::None => "no cache",
            CacheKind::WriteBack => {
                "a write is complete once it is in the cache, and goes to the devices later"
            }
        })
    }

    fn heeds(self, key: &str) -> bool {
        self == CacheKind::WriteBack && key != "kind"
    }
}

choices! {
    /// When a cache writes to the devices.
    pub enum Destage {
        /// When the devices have been idle, too.
        Idle = "idle",
        /// Only to make room.
        Demand = "demand",
    }
}

sledlab_core::params! {
    /// A cache in front of the system (CA-06): memory of a controller or a host, which keeps its contents unless it is
    /// said to be volatile.
    pub struct CacheParams {
        /// `none`, or `write-back`: writes are complete once they are in it, and go to the devices later.
        kind: CacheKind = CacheKind::None;
        /// Capacity; 8192 blocks are 4 MiB.
        capacity_blocks: u64 = 8192_u64, "blocks", 1..1e9;
        /// Blocks that are kept and dropped together.
        line_blocks: u64 = 16_u64, "blocks", 1..64;
        /// Which clean line makes room, and which dirty one is written for it: a replacement policy, such as `lru` or `arc`.
        replacement: String = "lru";
        /// Whether its contents are lost with the power: then a flush waits until all that was written before is on the devices.
        volatile: bool = false;
        /// Time of an access, whatever its size.
        access_us: f64 = 1.0, "us", 0.0..1e6;
        /// Rate at which blocks move between cache and host, in 10^6 bytes per second.
        bus_mb_s: f64 = 133.0, "MB/s", 1e-3..1e9;
        /// Blocks that a read from the devices goes on beyond what was asked for.
        read_ahead_blocks: u64 = 0_u64, "blocks", 0..1e6;
        /// What was written goes to the devices to make room, and with `idle` also when they have nothing else to do; with `demand` much of it stays in the cache for good.
        destage: Destage = Destage::Idle;
        /// Time without requests after which what was written goes to the devices.
        destage_idle_ms: f64 = 20.0, "ms", 0.0..1e12;
        /// Most blocks that one access writes to the devices.
        destage_blocks: u64 = 128_u64, "blocks", 1..1e6;
    }
}
