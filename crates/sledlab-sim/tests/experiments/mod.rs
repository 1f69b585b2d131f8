//! Experiments as tests say them.

use sledlab_sim::Experiment;

/// An experiment with a device, and what is said of it besides.
pub fn experiment(device: &str, settings: &[(&str, &str)]) -> Experiment {
    let mut experiment = Experiment::new();
    experiment.set_device(device).unwrap();
    for (key, value) in settings {
        experiment.set(key, value).unwrap();
    }
    experiment
}
