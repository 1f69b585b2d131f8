//! The die of each page of the host, where pages lie by address.
//!
//! Static allocation (Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD
//! Devices", FAST 2018): consecutive pages go to different channels, ways (chips of a channel), dies and planes, in
//! an order such as CWDP, in which channels change first. A page here lies on all planes of its die, so that P has no
//! effect.

use sledlab_core::{Error, Result};

use super::params::SsdParams;

/// The value of the parameter for pages that go to the next die in turn.
const IN_TURN: &str = "turn";

/// The dies of consecutive pages, after which the order starts again; pages that go to dies in turn begin so.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    /// Whether a page stays on its die.
    pub is_static: bool,
    /// For each page number modulo the number of dies: its die.
    dies: Vec<u32>,
    /// For each die: the page number modulo the number of dies.
    ranks: Vec<u32>,
}

impl Allocation {
    /// # Errors
    /// Unknown letters, or chips that do not divide the dies of a channel.
    pub fn new(params: &SsdParams) -> Result<Self> {
        let SsdParams { channels, dies_per_channel, dies_per_chip, ref allocation, .. } = *params;
        if !dies_per_channel.is_multiple_of(dies_per_chip) {
            return Err(Error::user(format!(
                "device.dies_per_chip = {dies_per_chip} does not divide device.dies_per_channel = {dies_per_channel}"
            ))
            .with_remedy("choose a divisor"));
        }
        let ways = dies_per_channel / dies_per_chip;
        let is_static = allocation != IN_TURN;
        let mut letters: Vec<char> = allocation.chars().collect();
        letters.sort_unstable();
        if is_static && letters != ['C', 'D', 'P', 'W'] {
            return Err(Error::user(format!("device.allocation = \"{allocation}\" is not an order of dies"))
                .with_remedy(
                    "set it to \"turn\", or to the letters C, W, D and P (channel, way, die, plane) in any order",
                ));
        }
        let order = if is_static { allocation.as_str() } else { "CWDP" };
        let die = |page: u64| {
            let mut rest = page;
            let mut digit = |base| {
                let digit = rest % base;
                rest /= base;
                digit
            };
            order.chars().fold(0, |die, letter| {
                die + match letter {
                    'C' => digit(channels),
                    'W' => digit(ways) * dies_per_chip * channels,
                    'D' => digit(dies_per_chip) * channels,
                    _ => 0,
                }
            })
        };
        let dies: Vec<u32> = (0..channels * dies_per_channel).map(|page| die(page) as u32).collect();
        let mut ranks = vec![0; dies.len()];
        for (rank, die) in (0_u32..).zip(&dies) {
            ranks[*die as usize] = rank;
        }
        Ok(Allocation { is_static, dies, ranks })
    }

    /// The die of a page that lies by address.
    pub fn die(&self, page: u32) -> u32 {
        self.dies[(page % self.dies.len() as u32) as usize]
    }

    /// The number of a page among those of its die.
    pub fn number_on_die(&self, page: u32) -> u32 {
        page / self.dies.len() as u32
    }

    /// The page with a number among those of a die.
    pub fn page(&self, die: u32, number_on_die: u32) -> u32 {
        number_on_die * self.dies.len() as u32 + self.ranks[die as usize]
    }

    /// How many of the first `pages` pages lie on a die.
    pub fn count_on_die(&self, die: u32, pages: u32) -> u32 {
        let dies = self.dies.len() as u32;
        pages / dies + u32::from(self.ranks[die as usize] < pages % dies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_dies(allocation: &str) -> Vec<u32> {
        let params = SsdParams {
            channels: 2,
            dies_per_channel: 4,
            dies_per_chip: 2,
            allocation: allocation.to_owned(),
            ..SsdParams::default()
        };
        let allocation = Allocation::new(&params).unwrap();
        for page in 0..24 {
            assert_eq!(allocation.page(allocation.die(page), allocation.number_on_die(page)), page);
        }
        (0..8).map(|page| allocation.die(page)).collect()
    }

    #[test]
    fn dies_change_in_the_given_order() {
        // Dies 0, 2, 4 and 6 are on channel 0; 0 and 2 are its first chip.
        assert_eq!(first_dies("CWDP"), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(first_dies("DWPC"), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(first_dies("WCDP"), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(first_dies("turn"), first_dies("CWDP"));
    }
}
