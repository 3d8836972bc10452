//! Between what a source makes and the columns that are kept.

use madrigal_core::{Ring, Zeroizing};
use madrigal_net::{Error, Result};

use super::chunks::Columns;
use crate::bit_triples::Scratch;
use crate::kind::{Kind, Width, with_ring};
use crate::matrices::{ProductTriple, Tripled};
use crate::source::Source;

/// Has `source` make `count` items of a kind.
pub(super) async fn make(
    source: &mut impl Source,
    kind: Kind,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<Columns> {
    Ok(match kind {
        Kind::BitTriples => {
            let mut triples = source.bit_triples(count, made).await?;
            let mut scratch = Scratch::default();
            let shares = triples.take(count, &mut scratch)?;
            copies([shares.a, shares.b, shares.c])
        }
        Kind::VectorTriples { length } => {
            let mut triples = source.vector_triples(length, count, made).await?;
            let shares = triples.take(count);
            copies([shares.a, shares.b, shares.c])
        }
        Kind::RingTriples(width) => with_ring!(width, T => {
            let mut triples = source.ring_triples::<T>(count, made).await?;
            let shares = triples.take(count);
            written([shares.a, shares.b, shares.c])
        }),
        Kind::SquarePairs(width) => with_ring!(width, T => {
            let mut pairs = source.square_pairs::<T>(count, made).await?;
            let shares = pairs.take(count);
            written([shares.a, shares.c])
        }),
        Kind::SharedBits(width) => with_ring!(width, T => {
            let mut bits = source.shared_bits::<T>(count, made).await?;
            written([bits.take(count).b])
        }),
        Kind::MatrixTriples(..)
        | Kind::ConvolutionTriples(..)
        | Kind::SplitMatrixTriples(..)
        | Kind::SplitConvolutionTriples(..) => {
            let Some((width, one)) = kind.product() else {
                unreachable!("they are triples of products")
            };
            products(source, width, one, count, made).await?
        }
        Kind::CorrelatedOts { .. } => {
            return Err(Error::Ended {
                reason: format!(
                    "{kind} belong to one job, and stores keep none; ask for other kinds"
                ),
            });
        }
    })
}

async fn products(
    source: &mut impl Source,
    width: Width,
    one: Tripled,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<Columns> {
    with_ring!(width, T => {
        let made = source.product_triples::<T>(one, count, made).await?;
        let triples: Vec<_> = made.into_iter().map(ProductTriple::take).collect();
        let column = |index: usize| {
            let bytes = triples.iter().map(|triple| triple[index].len() * T::BYTES);
            let mut all = Zeroizing::new(Vec::with_capacity(bytes.sum()));
            triples.iter().for_each(|triple| push(&mut all, &triple[index]));
            all
        };
        Ok((0..3).map(column).collect())
    })
}

fn copies<const K: usize>(columns: [&[u8]; K]) -> Columns {
    columns.map(|column| Zeroizing::new(column.to_vec())).into()
}

fn written<T: Ring, const K: usize>(columns: [&[T]; K]) -> Columns {
    let write = |column: &[T]| {
        let mut bytes = Zeroizing::new(Vec::with_capacity(column.len() * T::BYTES));
        push(&mut bytes, column);
        bytes
    };
    columns.map(write).into()
}

/// Appends elements; there is room for them.
fn push<T: Ring>(bytes: &mut Vec<u8>, elements: &[T]) {
    let mut start = bytes.len();
    bytes.resize(start + elements.len() * T::BYTES, 0);
    for element in elements {
        element.write(&mut bytes[start..]);
        start += T::BYTES;
    }
}
