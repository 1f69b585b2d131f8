//! Integration tests of sledlab-sim in one program, which links once.

mod answers;
mod cluster_closed_forms;
mod cluster_conservation;
mod cluster_failure;
mod cluster_passes;
mod cluster_settings;
mod cluster_software;
mod cluster_stores;
mod clusters;
mod conservation;
mod event_log;
mod experiments;
mod hybrids;
mod live;
mod power;
mod reference_sptf;
mod systems;
