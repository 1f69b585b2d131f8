//! The energy spent on all requests of a run.

use std::ops::AddAssign;

use sledlab_core::stats::CompensatedSum;

use super::RequestEnergy;

/// Energy spent on any number of requests, in microjoules, added up without loss of small terms.
#[derive(Clone, Copy, Debug, Default)]
pub struct TotalEnergy {
    seek: CompensatedSum,
    access: CompensatedSum,
    startup: CompensatedSum,
}

impl TotalEnergy {
    /// The sums.
    pub fn sum(&self) -> RequestEnergy {
        RequestEnergy {
            seek_uj: self.seek.value(),
            access_uj: self.access.value(),
            startup_uj: self.startup.value(),
        }
    }
}

impl AddAssign<RequestEnergy> for TotalEnergy {
    #[inline]
    fn add_assign(&mut self, energy: RequestEnergy) {
        self.seek += energy.seek_uj;
        self.access += energy.access_uj;
        // Few requests include a start-up.
        if energy.startup_uj != 0.0 {
            self.startup += energy.startup_uj;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_energies_are_not_lost_in_sums() {
        let mut total = TotalEnergy::default();
        total += RequestEnergy { seek_uj: 1e16, access_uj: 2e16, startup_uj: 4e16 };
        (0..1_000_000)
            .for_each(|_| total += RequestEnergy { seek_uj: 0.25, access_uj: 0.5, startup_uj: 1.0 });
        let sum = RequestEnergy { seek_uj: 1e16 + 25e4, access_uj: 2e16 + 5e5, startup_uj: 4e16 + 1e6 };
        assert_eq!(total.sum(), sum);
    }
}
