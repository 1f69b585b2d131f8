//! Generates records with planted clusters, the input of MAFIA.
//!
//! As in the synthetic data of H. Nagesh, S. Goil, A. Choudhary: Parallel algorithms for clustering high-dimensional
//! large-scale datasets, 2001. A cluster is a box in some of the dimensions, evenly filled, and fills the range in all
//! other dimensions; noise fills the range in every dimension. Every record draws its cluster, or noise, so clusters
//! are shuffled.
//!
//! Boxes are drawn from the stream `boxes` of the seed, block b of records from its own stream `records b`: each block
//! can be made alone, and its records do not depend on the size of the data set.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::{SliceRandom, index};
use sledlab_core::seed::{self, Stream};
use sledlab_core::{Error, Result};

use crate::{MAX_TABLE_ENTRIES, check_count};

/// The range of every dimension: values are at least 0 and below this.
pub const RANGE: f64 = 100.0;

/// Boxes that share a dimension stay apart in it by this share of the range. If they overlapped or touched, the
/// adaptive windows of one box would be split at the ends of the other, and one cluster be found as several.
const MIN_GAP: f64 = 0.02;
/// Maximum number of attempts of [`Boxes::new`] to choose the subspaces.
const MAX_ATTEMPTS: usize = 100;
/// Maximum dimensions: a block stays below 64 MB.
const MAX_DIMS: usize = 4096;
/// The smallest box: values of 32 bits must be able to fill it.
const MIN_SHARE: f64 = 0.001;

/// Parameters of a data set of records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxesParams {
    /// Dimensions: values of a record; from 1 to 4096.
    pub dims: usize,
    /// Clusters, at least 1.
    pub clusters: usize,
    /// Dimensions in which a cluster is a box; from 1 to `dims`. No two clusters have the same subspace.
    pub cluster_dims: usize,
    /// The share of the range that a box covers in each of its dimensions; from 0.001 and below 1.
    pub box_share: f64,
    /// The share of records that belong to no cluster; from 0 to 1.
    pub noise: f64,
}

impl Default for BoxesParams {
    fn default() -> Self {
        BoxesParams { dims: 20, clusters: 5, cluster_dims: 5, box_share: 0.10, noise: 0.10 }
    }
}

/// A planted cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedBox {
    /// The dimensions of its subspace, increasing.
    pub dims: Vec<usize>,
    /// The smallest value in each of these dimensions.
    pub lows: Vec<f64>,
    /// The end of the box in each of these dimensions, above every value.
    pub highs: Vec<f64>,
}

/// A data set of records with planted clusters, without end.
#[derive(Clone, Debug)]
pub struct Boxes {
    params: BoxesParams,
    seed: u64,
    clusters: Vec<PlantedBox>,
    /// The interval of every value: a row of all dimensions for each cluster and, last, one for noise.
    rows: Vec<Interval>,
}

/// Evenly distributed values of 32 bits.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    width: f64,
    /// The smallest and the largest value of 32 bits inside the interval: rounding may lead out of it.
    first: f32,
    last: f32,
}

impl Interval {
    /// The values from `low` on that are below `high`.
    fn new(low: f64, high: f64) -> Self {
        let (mut first, mut last) = (low as f32, high as f32);
        if f64::from(first) < low {
            first = first.next_up();
        }
        if f64::from(last) >= high {
            last = last.next_down();
        }
        Interval { low, width: high - low, first, last: last.max(first) }
    }

    #[inline]
    fn draw(self, rng: &mut Stream) -> f32 {
        let value = self.low + self.width * f64::from(rng.random::<f32>());
        (value as f32).clamp(self.first, self.last)
    }
}

impl Boxes {
    /// The data set of a seed. An error where the boxes do not fit into the range.
    pub fn new(seed: u64, params: BoxesParams) -> Result<Self> {
        check_params(&params)?;
        let mut rng = seed::stream(seed, "boxes");
        let subspaces = draw_subspaces(&params, &mut rng)?;
        let boxes = place_boxes(&params, &subspaces, &mut rng);
        let mut rows = vec![Interval::new(0.0, RANGE); (params.clusters + 1) * params.dims];
        for (row, planted) in rows.chunks_exact_mut(params.dims).zip(&boxes) {
            for ((&dim, &low), &high) in planted.dims.iter().zip(&planted.lows).zip(&planted.highs) {
                row[dim] = Interval::new(low, high);
            }
        }
        Ok(Boxes { params, seed, clusters: boxes, rows })
    }

    /// The parameters.
    pub fn params(&self) -> &BoxesParams {
        &self.params
    }

    /// The planted clusters.
    pub fn clusters(&self) -> &[PlantedBox] {
        &self.clusters
    }

    /// Adds the first `count` records of a block to `records`, `dims` values each.
    ///
    /// Record r of the data set is number `r % BLOCK` of block `r / BLOCK`. An error where `count` is above
    /// [`BLOCK`](crate::BLOCK).
    pub fn block(&self, index: u64, count: usize, records: &mut Vec<f32>) -> Result<()> {
        check_count(count)?;
        let BoxesParams { dims, clusters, noise, .. } = self.params;
        let mut rng = seed::stream(self.seed, &format!("records {index}"));
        records.reserve(count * dims);
        for _ in 0..count {
            let is_noise = rng.random::<f64>() < noise;
            let cluster = rng.random_range(0..clusters as u32) as usize;
            let row = if is_noise { clusters } else { cluster };
            records.extend(self.rows[row * dims..][..dims].iter().map(|interval| interval.draw(&mut rng)));
        }
        Ok(())
    }
}

/// Distinct subspaces, with no more boxes in a dimension than fit into it.
fn draw_subspaces(params: &BoxesParams, rng: &mut Stream) -> Result<Vec<Vec<usize>>> {
    let &BoxesParams { dims, clusters, cluster_dims, box_share, .. } = params;
    let capacity = boxes_per_dimension(box_share);
    let capacity_error = || {
        let share = box_share * 100.0;
        Error::user(format!(
            "no room for {clusters} clusters in {cluster_dims} of {dims} dimensions each: a dimension has room for \
             {capacity} boxes of {share} % of the range"
        ))
        .with_remedy("choose fewer clusters, smaller boxes, or more dimensions")
    };
    // Checks by number alone whether the boxes fit, before subspaces are drawn; a dimension has a cluster at most once.
    if clusters.saturating_mul(cluster_dims) > dims.saturating_mul(capacity.min(clusters)) {
        return Err(capacity_error());
    }
    for _ in 0..MAX_ATTEMPTS {
        let mut room_by_dim = vec![capacity; dims];
        let mut chosen = BTreeSet::new();
        let mut subspaces = Vec::with_capacity(clusters);
        for _ in 0..clusters {
            let free_dims: Vec<usize> = (0..dims).filter(|&dim| room_by_dim[dim] > 0).collect();
            if free_dims.len() < cluster_dims {
                break;
            }
            let mut subspace: Vec<usize> = index::sample(rng, free_dims.len(), cluster_dims)
                .into_iter()
                .map(|place| free_dims[place])
                .collect();
            subspace.sort_unstable();
            if !chosen.insert(subspace.clone()) {
                break;
            }
            for &dim in &subspace {
                room_by_dim[dim] -= 1;
            }
            subspaces.push(subspace);
        }
        if subspaces.len() == clusters {
            return Ok(subspaces);
        }
    }
    Err(Error::user(format!(
        "no {clusters} different subspaces of {cluster_dims} of {dims} dimensions were found that leave room for \
         each other's boxes"
    ))
    .with_remedy("choose fewer clusters, smaller boxes, or more dimensions"))
}

/// Returns the number of disjoint boxes that fit into a dimension.
fn boxes_per_dimension(box_share: f64) -> usize {
    ((1.0 + MIN_GAP) / (box_share + MIN_GAP)).floor() as usize
}

/// Puts the boxes of each dimension in random order, with random parts of the free range between them.
fn place_boxes(params: &BoxesParams, subspaces: &[Vec<usize>], rng: &mut Stream) -> Vec<PlantedBox> {
    let width = params.box_share * RANGE;
    let mut planted: Vec<PlantedBox> = subspaces
        .iter()
        .map(|dims| PlantedBox { dims: dims.clone(), lows: Vec::new(), highs: Vec::new() })
        .collect();
    for dim in 0..params.dims {
        let mut cluster_numbers: Vec<usize> =
            (0..planted.len()).filter(|&box_| planted[box_].dims.contains(&dim)).collect();
        cluster_numbers.shuffle(rng);
        let taken_width = cluster_numbers.len() as f64 * (width + MIN_GAP * RANGE) - MIN_GAP * RANGE;
        let slack = (RANGE - taken_width).max(0.0);
        let mut offsets: Vec<f64> = cluster_numbers.iter().map(|_| slack * rng.random::<f64>()).collect();
        offsets.sort_unstable_by(f64::total_cmp);
        for (order, (&cluster, offset)) in cluster_numbers.iter().zip(offsets).enumerate() {
            let low = (offset + order as f64 * (width + MIN_GAP * RANGE)).min(RANGE - width);
            // Dimensions are visited in increasing order, so those of a box increase.
            planted[cluster].lows.push(low);
            planted[cluster].highs.push(low + width);
        }
    }
    planted
}

fn check_params(params: &BoxesParams) -> Result<()> {
    let &BoxesParams { dims, clusters, cluster_dims, box_share, noise } = params;
    if dims == 0 || dims > MAX_DIMS || clusters == 0 || dims.saturating_mul(clusters) > MAX_TABLE_ENTRIES {
        return Err(Error::user(format!("{clusters} clusters in {dims} dimensions are out of range"))
            .with_remedy(format!(
            "choose at least 1 of each, at most {MAX_DIMS} dimensions, and a product of at most {MAX_TABLE_ENTRIES}"
        )));
    }
    if cluster_dims == 0 || cluster_dims > dims {
        return Err(Error::user(format!("cluster_dims = {cluster_dims} is out of range (1 to {dims})")));
    }
    if !(MIN_SHARE..1.0).contains(&box_share) {
        return Err(Error::user(format!("box_share = {box_share} is out of range"))
            .with_remedy(format!("choose a share from {MIN_SHARE} and below 1")));
    }
    if !(0.0..=1.0).contains(&noise) {
        return Err(Error::user(format!("noise of {noise} is not between 0 and 1")));
    }
    Ok(())
}
