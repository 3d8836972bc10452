//! What is measured: each function is one party's part, and gives the time that it took, in seconds,
//! without the making of its operands.

use std::time::Instant;

use madrigal_core::Ring;
use madrigal_net::{Context, Result};
use madrigal_protocols::replicated::{MatrixShape, ReplicatedRings, RingShares};

/// Begins together: a product that none has before all are there.
async fn ready(rings: &mut ReplicatedRings) -> Result<()> {
    let one = RingShares::<u8>::zeros(1);
    for _ in 0..3 {
        rings.mul(&one, &one).await?;
    }
    Ok(())
}

/// `batches` times `count` products.
pub(crate) async fn products<T: Ring>(
    context: Context,
    count: usize,
    batches: usize,
) -> Result<f64> {
    let mut rings = ReplicatedRings::new(context)?;
    let (x, y) = (rings.random::<T>(count), rings.random::<T>(count));
    let mut z = RingShares::zeros(count);
    rings.mul_into(&x, &y, &mut z).await?;
    ready(&mut rings).await?;
    let start = Instant::now();
    for _ in 0..batches {
        rings.mul_into(&x, &y, &mut z).await?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// `batches` times `count` comparisons of elements whose difference does not overflow.
pub(crate) async fn comparisons<T: Ring>(
    context: Context,
    count: usize,
    batches: usize,
) -> Result<f64> {
    let mut rings = ReplicatedRings::new(context)?;
    let (x, y) = (rings.random::<T>(count), rings.random::<T>(count));
    rings.less_than_near(&x, &y).await?;
    ready(&mut rings).await?;
    let start = Instant::now();
    for _ in 0..batches {
        rings.less_than_near(&x, &y).await?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// `batches` times `count` exact truncations by 16 bits.
pub(crate) async fn truncations<T: Ring>(
    context: Context,
    count: usize,
    batches: usize,
) -> Result<f64> {
    let mut rings = ReplicatedRings::new(context)?;
    let x = rings.random::<T>(count);
    ready(&mut rings).await?;
    let start = Instant::now();
    for _ in 0..batches {
        rings.truncate(&x, 16).await?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// `batches` times `count` bits made ring elements.
pub(crate) async fn injections<T: Ring>(
    context: Context,
    count: usize,
    batches: usize,
) -> Result<f64> {
    let mut rings = ReplicatedRings::new(context)?;
    let bits = rings.random_bit_rows(1, count);
    ready(&mut rings).await?;
    let start = Instant::now();
    for _ in 0..batches {
        rings.inject::<T>(&bits).await?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// `batches` products of square matrices.
pub(crate) async fn matrices<T: Ring>(
    context: Context,
    size: usize,
    batches: usize,
) -> Result<f64> {
    let mut rings = ReplicatedRings::new(context)?;
    let shape = MatrixShape {
        rows: size,
        inner: size,
        columns: size,
    };
    let (x, y) = (
        rings.random::<T>(size * size),
        rings.random::<T>(size * size),
    );
    ready(&mut rings).await?;
    let start = Instant::now();
    for _ in 0..batches {
        rings.matrix_product(&x, &y, shape).await?;
    }
    Ok(start.elapsed().as_secs_f64())
}
