//! Products of matrices, in A, R and alpha.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_correlations::{MatrixShape, Width};
use madrigal_kernels::rings;
use madrigal_net::Result;
use zeroize::Zeroizing;

use super::ring::width;
use super::{
    Kept, Rings, Step, finish_step, in_sharing, masks_flow, prepare_step, prepared_locally,
};
use crate::bill::Bill;
use crate::operation::{Mismatch, Operation, Prepared, Turn};
use crate::shares::{Held, Shares};
use crate::sort::{Element, Sharing, Sort};

/// Products of pairs of matrices, row by row, one pair after the other. Where all know one of the two, nothing
/// is sent.
pub struct MatrixProduct<P> {
    batch: usize,
    shape: MatrixShape,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> MatrixProduct<P> {
    /// So many pairs of this shape.
    pub const fn new(batch: usize, shape: MatrixShape) -> Self {
        Self {
            batch,
            shape,
            protocol: PhantomData,
        }
    }

    /// Elements of both matrices and of the product.
    fn lengths(&self) -> Option<[usize; 3]> {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = self.shape;
        let of = |m: usize, n: usize| m.checked_mul(n)?.checked_mul(self.batch);
        // What the product costs is counted too: a bound on its cube, that no sum overflows.
        of(rows, inner)?
            .checked_mul(columns)?
            .checked_mul(1 << 10)?;
        Some([of(rows, inner)?, of(inner, columns)?, of(rows, columns)?])
    }

    /// The product of one component with clear matrices, either of them.
    fn product<T: Held>(&self, x: &[T], y: &[T]) -> Zeroizing<Vec<T>> {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = self.shape;
        let mut z = Zeroizing::new(vec![T::ZERO; self.batch * rows * columns]);
        for pair in 0..self.batch {
            let x = &x[pair * rows * inner..][..rows * inner];
            let y = &y[pair * inner * columns..][..inner * columns];
            let z = &mut z[pair * rows * columns..][..rows * columns];
            rings::multiply_add(x, y, z, inner, columns);
        }
        z
    }

    fn with_public<T: Held>(&self, x: &Shares, y: &Shares) -> Shares {
        let of = |component: usize| match x.sort().sharing.is_clear() {
            true => self.product::<T>(x.component(0), y.component(component)),
            false => self.product::<T>(x.component(component), y.component(0)),
        };
        let components = 0..P::SHARING.components();
        Shares::ring(P::SHARING, components.map(of).collect())
    }

    /// The pairs of matrices.
    fn pairs(&self, x: &Shares, y: &Shares) -> Vec<[Shares; 2]> {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = self.shape;
        let (left, right) = (rows * inner, inner * columns);
        let of = |pair: usize| {
            [
                x.slice(pair * left..(pair + 1) * left),
                y.slice(pair * right..(pair + 1) * right),
            ]
        };
        (0..self.batch).map(of).collect()
    }

    async fn shared<T: Held>(&self, turn: &mut Turn<'_>, x: &Shares, y: &Shares) -> Result<Shares> {
        let (tool, stock) = turn.tool::<P>()?;
        if self.batch == 1 {
            return tool.matrix_product::<T>(stock, x, y, self.shape).await;
        }
        let mut products = Vec::with_capacity(self.batch);
        for [x, y] in self.pairs(x, y) {
            products.push(tool.matrix_product::<T>(stock, &x, &y, self.shape).await?);
        }
        Ok(Shares::concat(&products.iter().collect::<Vec<_>>()))
    }
}

/// The ring of the two.
fn ring_of(x: &Sort, y: &Sort) -> Result<Width, Mismatch> {
    match (x.element, y.element) {
        (Element::Ring(width), Element::Ring(other)) if width == other => Ok(width),
        _ => Err(Mismatch::new(format!("{x} and {y} are not of one ring"))),
    }
}

impl<P: Rings> Operation for MatrixProduct<P> {
    fn name(&self) -> String {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = self.shape;
        let batch = self.batch;
        format!(
            "matrix-product/1 in {}, {batch} of {rows}x{inner}x{columns}",
            P::SHARING
        )
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [x, y] = inputs else {
            return Err(Mismatch::new("two matrices wanted"));
        };
        ring_of(x, y)?;
        let public = |sort: &Sort| sort.sharing.is_public(parties);
        if public(x) && public(y) {
            return Err(Mismatch::new("one of two matrices is shared"));
        }
        for sort in inputs.iter().filter(|sort| !public(sort)) {
            in_sharing(P::SHARING, sort)?;
            P::holds(sort.element, parties)?;
        }
        match self.lengths() {
            Some([left, right, len]) if [left, right] == [x.len, y.len] && left > 0 => {
                Ok(vec![x.shared(P::SHARING).of_len(len)])
            }
            _ => Err(Mismatch::new(format!(
                "{x} and {y} are no matrices for {}",
                self.name()
            ))),
        }
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        if inputs.iter().any(|sort| sort.sharing.is_clear()) {
            let MatrixShape {
                rows,
                inner,
                columns,
            } = self.shape;
            let products = self.batch * rows * inner * columns;
            return bill.touch((products * inputs[0].element.bits() / 64) as u64);
        }
        crate::with_ring!(width(&inputs[0]), T => {
            for _ in 0..self.batch {
                P::matrix_product_bill::<T>(self.shape, bill);
            }
        });
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        masks_flow(inputs)
    }

    fn needs_clear(&self) -> bool {
        true
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let width = width(inputs[0].sort());
            if inputs.iter().any(|value| value.sort().sharing.is_clear()) {
                let (x, y) = (&inputs[0], &inputs[1]);
                let z = crate::with_ring!(width, T => self.with_public::<T>(x, y));
                return Ok(prepared_locally(vec![z]));
            }
            let (mut results, mut all) = (Vec::new(), Vec::new());
            for pair in self.pairs(&inputs[0], &inputs[1]) {
                let step = Step::Matrix(self.shape);
                let pair = pair.map(Arc::new);
                let prepared = prepare_step::<P>(turn, width, step, &pair).await?;
                results.extend(prepared.results);
                all.push(prepared.kept);
            }
            let results = vec![Shares::concat(&results.iter().collect::<Vec<_>>())];
            Ok(Prepared {
                results,
                kept: Box::new(all),
            })
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let (x, y) = (&inputs[0], &inputs[1]);
            if let Some(kept) = turn.prepared::<Vec<Kept>>() {
                let mut made = Vec::new();
                for (pair, kept) in self.pairs(x, y).into_iter().zip(*kept) {
                    let (step, width) = (Step::Matrix(self.shape), width(x.sort()));
                    let [x, y] = &pair;
                    made.extend(finish_step::<P>(turn, width, step, &[x, y], kept).await?);
                }
                return Ok(vec![Shares::concat(&made.iter().collect::<Vec<_>>())]);
            }
            let clear = x.sort().sharing.is_clear() || y.sort().sharing.is_clear();
            let z = crate::with_ring!(width(x.sort()), T => match clear {
                true => self.with_public::<T>(x, y),
                false => self.shared::<T>(turn, x, y).await?,
            });
            Ok(vec![z])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (x, y) = (inputs[0], inputs[1]);
        Ok(vec![crate::with_ring!(width(x.sort()), T => {
            let z = self.product::<T>(x.component(0), y.component(0));
            Shares::ring_of(Sharing::PUBLIC, z)
        })])
    }
}
