//! Experiments for tests, from a device and settings.

use sledlab_sim::Experiment;

/// An experiment with a device and further settings.
pub fn experiment(device: &str, settings: &[(&str, &str)]) -> Experiment {
    let mut experiment = Experiment::new();
    experiment.set_device(device).unwrap();
    for (key, value) in settings {
        experiment.set(key, value).unwrap();
    }
    experiment
}
