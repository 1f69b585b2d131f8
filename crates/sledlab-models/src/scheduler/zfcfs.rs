//! Zone-based first come, first served (Hong 2006, section 4.2.1).

use sledlab_core::Result;

use super::fcfs::Fcfs;
use super::queue::grid::{ZoneParams, Zones};
use super::queue::zoned_queue::{self, Circular};
use super::{Model, Scheduler, SchedulerContext, Starvation};

/// Order of arrival inside a zone of the medium; the zones in circular order.
pub(super) struct Zfcfs;

impl Model for Zfcfs {
    type Params = ZoneParams;
    const NAME: &'static str = "zfcfs";
    const MEANING: &'static str =
        "zone-based FCFS: zones of the medium in circular order, FCFS inside until a zone is empty";
    // As for `zsptf`: a stream of requests into one zone keeps the requests of all others waiting.
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &ZoneParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::circular(params, context.mechanics);
        Ok(zoned_queue::build(zones, Circular::default(), Box::new(Fcfs::default())).into_boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::Trial;

    #[test]
    fn zone_requests_are_served_in_arrival_order() {
        let mut trial = Trial::new("zfcfs");
        trial.push(&[(200, 1), (60, 9), (0, 0), (60, 3)]);
        let first = trial.pop();
        trial.push(&[(60, 8), (1, 4)]);
        assert_eq!(first, Some((60, 9)));
        assert_eq!(trial.drain(), [(0, 0), (60, 3), (60, 8), (1, 4), (200, 1)]);
    }
}
