//! Python bindings of sledlab: they convert arguments and results, without further logic.
//!
//! Structured results are passed as JSON text, columns as bytes of little-endian integers: neither needs a library on
//! either side. The interpreter lock is released while Rust works.

#![allow(
    clippy::needless_pass_by_value,
    reason = "Python's arguments come by value, and `map_err` takes functions of values"
)]

mod class;
mod cluster;
mod columns;
mod conformance;
mod device;
mod device_class;
#[cfg(target_os = "linux")]
mod emulation;
mod error;
mod experiment;
mod interrupt;
mod mining;
mod power;
mod replacement;
mod scheduler;
mod source;
mod statistics;
mod toml_text;
mod trace;
mod transform;
mod workload;

use pyo3::prelude::*;

/// Native part of the package `sledlab`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::class::is_plugin;
    #[pymodule_export]
    use crate::cluster::{ClusterExperiment, Work, shares};
    #[pymodule_export]
    use crate::conformance::{Conformance, kinds_of_plugin};
    #[pymodule_export]
    use crate::device::{
        catalog, device_text, host_names, import_device, replay_measured_requests, seek_map,
    };
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::emulation::{RowsDigest, Server};
    #[pymodule_export]
    use crate::experiment::{Experiment, resolve_file_name};
    #[pymodule_export]
    use crate::mining::{Boxes, HashTree, Quest, UnitCounter, window_histogram};
    #[pymodule_export]
    use crate::power::PowerCosts;
    #[pymodule_export]
    use crate::replacement::{SegmentUses, check_replacement};
    #[pymodule_export]
    use crate::scheduler::{DeviceView, QueuedRequest};
    #[pymodule_export]
    use crate::source::{Continuation, Source, set_sample_directory};
    #[pymodule_export]
    use crate::statistics::{correlated_requests, half_width_95};
    #[pymodule_export]
    use crate::toml_text::{check_toml, toml_tables};
    #[pymodule_export]
    use crate::trace::{characterize, compression_extensions, op_letter, write_trace, writer_formats};

    #[pymodule_export]
    use crate::transform::{
        Sorter, block_range, fit, limit, merge, number_by_name, overlay, place, scale_addresses,
        select_devices, select_ops, sequence, shift, single_device, speedup, take_survey, time_window,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        sledlab_trace::interrupt::set_check(crate::interrupt::check_signals);
        module.add("__version__", sledlab_sim::VERSION)?;
        module.add("__sources__", env!("SLEDLAB_SOURCES"))?;
        module.add("BUILD_PROFILE", env!("SLEDLAB_PROFILE"))
    }
}
