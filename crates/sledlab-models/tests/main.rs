//! Integration tests of sledlab-models in one program, which links once. `conformance` has the tests of every
//! registered model.

mod blocks;
mod crash_bench;
mod crashes;
mod devices;
mod disk_import;
mod disk_index_comparison;
mod disk_schedulers;
mod failing_array;
mod failures;
mod hybrids;
mod import;
mod index_comparison;
mod kinematics;
mod layouts;
mod merging;
mod networks;
mod optimality;
mod orders;
mod paths;
mod position_index;
mod reference_tables;
mod results;
mod starvation;
mod waiting_times;
mod zones;
