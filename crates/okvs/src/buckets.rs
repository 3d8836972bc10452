//! Keys in the order of their rows: first by *buckets* of neighbouring starts, whose columns and rows stay in the
//! cache, then, bucket by bucket, by start.
//!
//! Addresses depend on hashes of the party's own keys here; [the crate's page](crate#side-channels) says why that is so.

use core::ops::Range;

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_kernels::band::{Band, STEP};

use crate::Shape;
use crate::rows::Rows;

/// Starts of a bucket, as a power of two, at least: 8192 columns, whose elements and rows fill half a second-level cache.
const LEAST_LOG: u32 = 10;

/// Buckets, as a power of two, at most: more streams are written slower than they are read later.
const MOST_BUCKETS_LOG: u32 = 11;

/// Where the keys of each bucket go.
pub(crate) struct Buckets {
    /// Starts of a bucket, as a power of two.
    log: u32,
    /// Bucket `b` has the places from `ends[b - 1]`, or 0, to `ends[b]`.
    ends: Vec<u32>,
}

impl Buckets {
    /// Puts the keys into buckets: `put(from, to)` moves what belongs to key `from` to place `to`.
    pub(crate) fn new(
        rows: &Rows,
        shape: &Shape,
        keys: &[Block],
        mut put: impl FnMut(usize, usize),
    ) -> Self {
        let starts = shape.starts();
        let log = LEAST_LOG.max(starts.ilog2().saturating_sub(MOST_BUCKETS_LOG - 1));
        let mut next = vec![0_u32; (starts >> log) as usize + 2];
        rows.each_step(keys, |_, step| next[(step >> log) as usize + 1] += 1);
        let mut sum = 0;
        for next in &mut next {
            sum += *next;
            *next = sum;
        }
        rows.each_step(keys, |from, step| {
            let next = &mut next[(step >> log) as usize];
            put(from, *next as usize);
            *next += 1;
        });
        // Each bucket's next place has moved to its end.
        next.pop();
        Buckets { log, ends: next }
    }

    /// The places of each bucket and its first start, with the buckets in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Range<usize>, u32)> + '_ {
        let begins = core::iter::once(&0).chain(&self.ends);
        let ranges = begins.zip(&self.ends).enumerate();
        ranges.map(|(b, (&begin, &end))| (begin as usize..end as usize, (b as u32) << self.log))
    }

    /// Rows of the fullest bucket.
    pub(crate) fn most(&self) -> usize {
        self.all().map(|(range, _)| range.len()).max().unwrap_or(0)
    }

    pub(crate) fn order(&self) -> Order {
        Order {
            counts: Zeroizing::zeros((1 << self.log) + 1),
            places: Zeroizing::zeros(self.most()),
        }
    }
}

/// Sorts the rows of one bucket, by counting.
pub(crate) struct Order {
    counts: Zeroizing<Vec<u32>>,
    places: Zeroizing<Vec<u32>>,
}

impl Order {
    /// The places of `bands`, whose starts are those of one bucket from `first` on, by start.
    pub(crate) fn sort(&mut self, bands: &[Band], first: u32) -> &[u32] {
        self.counts.fill(0);
        let place = |band: &Band| (band.start / STEP as u32 - first) as usize;
        for band in bands {
            self.counts[place(band) + 1] += 1;
        }
        let mut sum = 0;
        for count in self.counts.iter_mut() {
            sum += *count;
            *count = sum;
        }
        for (i, band) in bands.iter().enumerate() {
            let count = &mut self.counts[place(band)];
            self.places[*count as usize] = i as u32;
            *count += 1;
        }
        &self.places[..bands.len()]
    }
}
