//! The per-request table, column by column.

use sledlab_core::Op;
use sledlab_models::system::Completion;

/// Declares the columns once: the struct, and the list of names that writers use.
macro_rules! columns {
    ($( $name:ident ),+; $( $energy:ident ),+) => {
        /// Consecutive rows of the per-request table, in order of completion. Times in nanoseconds, energies in
        /// microjoules; `op` holds the letters `R` and `W`, `metadata` 1 for requests flagged as such. All columns
        /// have the same length, but for `device`.
        #[derive(Clone, Debug, Default)]
        #[allow(missing_docs)]
        pub struct Rows {
            $( pub $name: Vec<u64>, )+
            $( pub $energy: Vec<f64>, )+
            pub op: Vec<u8>,
            /// For systems of several devices, the number of the device whose times these are; [`u64::MAX`] where a
            /// cache answered. Empty for other systems.
            pub device: Vec<u64>,
        }

        impl Rows {
            /// The numeric columns with their names, in order.
            pub fn columns(&self) -> Vec<(&'static str, &[u64])> {
                vec![$( (stringify!($name), self.$name.as_slice()) ),+]
            }

            /// The columns of energies with their names, in order.
            pub fn energies(&self) -> Vec<(&'static str, &[f64])> {
                vec![$( (stringify!($energy), self.$energy.as_slice()) ),+]
            }

            /// Forgets all rows but keeps the memory.
            pub fn clear(&mut self) {
                $( self.$name.clear(); )+
                $( self.$energy.clear(); )+
                self.op.clear();
                self.device.clear();
            }
        }
    };
}

columns!(
    id,
    arrival_ns,
    start_ns,
    completion_ns,
    lbn,
    blocks,
    response_ns,
    overhead_ns,
    seek_x_ns,
    settle_ns,
    seek_y_ns,
    turnaround_ns,
    rotation_ns,
    positioning_ns,
    transfer_ns,
    reposition_ns,
    startup_ns,
    metadata;
    seek_uj,
    access_uj,
    startup_uj
);

impl Rows {
    /// Rows handed over at a time.
    pub const CHUNK: usize = 65_536;
    /// Rows handed over at a time by a live system, so that no row is long delayed.
    pub(crate) const SMALL_CHUNK: usize = 256;

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Adds the row of a completed request.
    pub fn push(&mut self, done: &Completion) {
        let (request, timing) = (&done.request, &done.timing);
        self.id.push(request.id);
        self.arrival_ns.push(request.arrival.as_ns());
        self.start_ns.push(done.start.as_ns());
        self.completion_ns.push(done.completion.as_ns());
        self.lbn.push(request.lbn);
        self.blocks.push(request.blocks.into());
        self.op.push(if request.op == Op::Read { b'R' } else { b'W' });
        self.response_ns.push(done.completion.since(request.arrival).as_ns());
        self.overhead_ns.push(timing.overhead.as_ns());
        self.seek_x_ns.push(timing.seek_x.as_ns());
        self.settle_ns.push(timing.settle.as_ns());
        self.seek_y_ns.push(timing.seek_y.as_ns());
        self.turnaround_ns.push(timing.turnaround.as_ns());
        self.rotation_ns.push(timing.rotation.as_ns());
        self.positioning_ns.push(timing.positioning().as_ns());
        self.transfer_ns.push(timing.transfer.as_ns());
        self.reposition_ns.push(timing.reposition.as_ns());
        self.startup_ns.push(timing.startup.as_ns());
        self.metadata.push(request.metadata.into());
        self.seek_uj.push(done.energy.seek_uj);
        self.access_uj.push(done.energy.access_uj);
        self.startup_uj.push(done.energy.startup_uj);
    }
}
