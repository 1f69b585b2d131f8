//! Integration tests of sledlab-models in one program, which links once. `conformance` has the tests of every registered
//! model.

mod crashes;
mod crashing;
mod devices;
mod disk_import;
mod disk_racing;
mod disk_schedulers;
mod failing;
mod failures;
mod hybrids;
mod import;
mod kinematics;
mod layouts;
mod leaving;
mod merging;
mod networks;
mod optimality;
mod orders;
mod paths;
mod position_index;
mod racing;
mod reference_tables;
mod starvation;
mod waiting;
mod zones;
