//! Queries over a relation that is stored by rows, by columns or for the tabular layout.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Op, Request, Result, Time};

use super::draw::{Arrivals, Gap, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::choices! {
    /// Storage format of a relation: the mapping of attributes and tuples to blocks.
    pub enum RelationStore {
        /// Tuples one after the other.
        Rows = "rows",
        /// One attribute of all tuples after the other, without gaps.
        Columns = "columns",
        /// As columns, each attribute at the start of an equal share of the device.
        Tabular = "tabular",
    }
}

sledlab_core::params! {
    /// Queries that scan some attributes of a range of a relation, or look up single tuples.
    ///
    /// A seed determines the same queries for every storage format. All requests of a query arrive at one instant: one
    /// per attribute, or one for rows. Yu, Agrawal and El Abbadi (2003) proposed the layout; the defaults are ours.
    pub struct RelationParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 100_000_u64;
        /// Mean time between queries.
        mean_interarrival_ms: f64 = 10.0, "ms", 1e-6..1e9;
        /// How the relation is stored: by `rows`, by `columns`, or for the layout `tabular`.
        store: RelationStore = RelationStore::Rows;
        /// Attributes of the relation, all of one size; for `tabular` as many as `device.attributes`.
        attributes: u64 = 5_u64, "", 1..4096;
        /// Size of the relation.
        relation_mb: f64 = 1000.0, "MiB", 0.001..1e9;
        /// Share of scans among the queries; other queries look up a tuple.
        scan_share: f64 = 0.1, "", 0.0..1.0;
        /// Attributes that a scan reads, next to each other.
        projected: u64 = 1_u64, "", 1..4096;
        /// Blocks of each attribute that a scan reads.
        scan_blocks: u64 = 540_u64, "blocks", 1..1e6;
    }
}

/// See [`RelationParams`].
pub struct Relation {
    arrivals: Arrivals,
    store: RelationStore,
    attributes: u64,
    /// Blocks of an attribute.
    length: u64,
    /// Distance from the first block of an attribute to that of the next.
    stride: u64,
    scan_share: f64,
    projected: u64,
    scan_blocks: u64,
    kinds_rng: Stream,
    places: Places,
    choices: Places,
    query: Query,
}

/// The requests of a query that are still to come.
#[derive(Clone, Copy, Debug)]
struct Query {
    arrival: Time,
    /// First block within an attribute.
    first: u64,
    blocks: u64,
    attribute: u64,
    remaining_attributes: u64,
}

impl Generator for Relation {
    type Params = RelationParams;
    const NAME: &'static str = "relation";
    const MEANING: &'static str = "queries over a relation: scans of some attributes, look-ups of tuples";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("relation.{purpose}"));
        let attributes = params.attributes.min(setting.capacity_blocks);
        let attribute_share = setting.capacity_blocks / attributes;
        let attribute_blocks = (params.relation_mb * f64::from(1 << 20)) as u64 / BLOCK_BYTES / attributes;
        let length = attribute_blocks.clamp(1, attribute_share);
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(Relation {
            arrivals: Arrivals::new(gap, stream("arrivals")),
            store: params.store,
            attributes,
            length,
            stride: if params.store == RelationStore::Tabular { attribute_share } else { length },
            scan_share: params.scan_share,
            projected: params.projected.min(attributes),
            // In rows, one request has these blocks of all attributes, and their number must fit 32 bits.
            scan_blocks: params.scan_blocks.min(length).min(u64::from(u32::MAX) / attributes),
            kinds_rng: stream("kinds"),
            places: Places::new(stream("places")),
            choices: Places::new(stream("attributes")),
            query: Query { arrival: Time::ZERO, first: 0, blocks: 0, attribute: 0, remaining_attributes: 0 },
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        if self.query.remaining_attributes == 0 {
            return self.begin_query();
        }
        self.next_attribute()
    }
}

impl Relation {
    /// The first request of another query; of rows, its only one.
    fn begin_query(&mut self) -> Request {
        let arrival = self.arrivals.next();
        // Drawn whatever the store, so that all stores get the same queries.
        let is_scan = self.kinds_rng.random::<f64>() < self.scan_share;
        let attribute_choice = self.choices.below(self.attributes);
        let blocks = if is_scan { self.scan_blocks } else { 1 };
        let first = self.places.below(self.length - blocks + 1);
        if self.store == RelationStore::Rows {
            // The tuples of one block of an attribute fill, in rows, as many blocks as there are attributes.
            let tuple = if is_scan { 0 } else { attribute_choice };
            let blocks = if is_scan { blocks * self.attributes } else { 1 };
            return read_request(arrival, first * self.attributes + tuple, blocks);
        }
        let (attribute, remaining_attributes) =
            if is_scan { (attribute_choice, self.projected) } else { (0, self.attributes) };
        self.query = Query { arrival, first, blocks, attribute, remaining_attributes };
        self.next_attribute()
    }

    /// The next request of the present query.
    fn next_attribute(&mut self) -> Request {
        let Query { arrival, first, blocks, attribute, remaining_attributes } = self.query;
        self.query.attribute = (attribute + 1) % self.attributes;
        self.query.remaining_attributes = remaining_attributes - 1;
        read_request(arrival, attribute * self.stride + first, blocks)
    }
}

fn read_request(arrival: Time, lbn: u64, blocks: u64) -> Request {
    Request { arrival, lbn, blocks: blocks as u32, op: Op::Read, ..Request::default() }
}
