//! The per-request table, stored by column.

use sledlab_core::Op;
use sledlab_models::system::Completion;

/// Declares the columns once: the struct, and the list of names for writers.
macro_rules! columns {
    ($( $name:ident ),+; $( $energy:ident ),+) => {
        /// Consecutive rows of the per-request table, in order of completion. Times are in nanoseconds, energies in
        /// microjoules; `op` contains the letters `R` and `W`, `metadata` 1 for requests flagged as such. All columns
        /// except `device` have the same length.
        #[derive(Clone, Debug, Default)]
        #[allow(missing_docs)]
        pub struct Rows {
            $( pub $name: Vec<u64>, )+
            $( pub $energy: Vec<f64>, )+
            pub op: Vec<u8>,
            /// For systems of several devices, the number of the device that served the request; [`u64::MAX`] if a
            /// cache completed it. Empty for other systems.
            pub device: Vec<u64>,
        }

        impl Rows {
            /// Returns the numeric columns with their names, in order.
            pub fn columns(&self) -> Vec<(&'static str, &[u64])> {
                vec![$( (stringify!($name), self.$name.as_slice()) ),+]
            }

            /// Returns the columns of energies with their names, in order.
            pub fn energies(&self) -> Vec<(&'static str, &[f64])> {
                vec![$( (stringify!($energy), self.$energy.as_slice()) ),+]
            }

            /// Removes all rows and retains the allocated memory.
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
    /// Number of rows passed to the sink at a time.
    pub const CHUNK: usize = 65_536;
    /// Number of rows passed at a time by a live system, so that no row is delayed long.
    pub(crate) const SMALL_CHUNK: usize = 256;

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Adds the row of a completed request.
    pub fn push(&mut self, completion: &Completion) {
        let (request, timing) = (&completion.request, &completion.timing);
        self.id.push(request.id);
        self.arrival_ns.push(request.arrival.as_ns());
        self.start_ns.push(completion.start.as_ns());
        self.completion_ns.push(completion.completion.as_ns());
        self.lbn.push(request.lbn);
        self.blocks.push(request.blocks.into());
        self.op.push(if request.op == Op::Read { b'R' } else { b'W' });
        self.response_ns.push(completion.completion.since(request.arrival).as_ns());
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
        self.seek_uj.push(completion.energy.seek_uj);
        self.access_uj.push(completion.energy.access_uj);
        self.startup_uj.push(completion.energy.startup_uj);
    }
}
