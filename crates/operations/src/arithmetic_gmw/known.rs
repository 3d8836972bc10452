//! Products in A of two parties with an operand that one of them knows, as the owner of a model knows its weights.

use std::sync::Arc;

use madrigal_core::{Party, Product, Ring, Zeroizing};
use madrigal_correlations::Tripled;
use madrigal_engine::{Bill, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn};
use madrigal_net::Result;
use madrigal_protocols::arithmetic::Side;

use super::ArithmeticGmwTool;
use crate::matrices::{MatrixProduct, name_of, one_ring, product_of, results};
use crate::shared::{in_sharing, other_of_two, width};

/// A product of matrices, or a convolution, in A of two parties, with an operand that comes clear and is there at its
/// owner alone.
#[derive(Debug)]
pub struct KnownProduct {
    product: Product,
    side: Side,
    owner: Party,
}

impl KnownProduct {
    /// A product of which `owner` knows this operand.
    pub const fn new(product: Product, side: Side, owner: Party) -> Self {
        Self {
            product,
            side,
            owner,
        }
    }

    /// The known operand and the other one.
    fn by_side<T>(&self, [left, right]: [T; 2]) -> [T; 2] {
        match self.side {
            Side::Left => [left, right],
            Side::Right => [right, left],
        }
    }

    /// The triple for it: who knows an operand has its mask.
    fn split(&self) -> Tripled {
        let [left, _] = self.by_side([self.owner, other_of_two(self.owner)]);
        Tripled::split(self.product, left)
    }
}

impl MatrixProduct<ArithmeticGmwTool> {
    /// Makes the same product with an operand that comes clear, known to `owner`.
    #[must_use]
    pub const fn known(self, side: Side, owner: Party) -> KnownProduct {
        KnownProduct::new(self.of, side, owner)
    }
}

impl Operation for KnownProduct {
    fn name(&self) -> String {
        let side = match self.side {
            Side::Left => "left",
            Side::Right => "right",
        };
        let operands = format!(", the {side} operand of {}", self.owner);
        name_of(&self.product, Sharing::A, &operands)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [x, y] = inputs else {
            return Err(Mismatch::new("two operands wanted"));
        };
        one_ring(x, y)?;
        let (owner, [clear, shared]) = (self.owner, self.by_side([x, y]));
        if parties != 2 {
            return Err(Mismatch::new(format!(
                "A takes no operand that one of {parties} parties knows"
            )));
        }
        if owner.index() >= parties || !clear.sharing.is_known_to(owner) {
            return Err(Mismatch::new(format!("{owner} does not know {clear}")));
        }
        in_sharing(Sharing::A, shared)?;
        results(&self.product, [x, y], Sharing::A, || self.name())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let [left, right, _] = self.product.lengths();
        let [its, others] = self.by_side([left, right]);
        let (owner, other) = (self.owner, other_of_two(self.owner));
        crate::with_ring!(width(&inputs[0]), T => {
            bill.needs().product_triples::<T>(self.split());
            let bytes = |elements: usize| (elements * T::BYTES) as u64;
            bill.exchange(&[(owner, other, bytes(its)), (other, owner, bytes(others))]);
            let products = self.product.multiplications();
            bill.touch((products * T::BYTES / 16 + 4 * (left + right) * T::BYTES) as u64);
        });
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let ours = turn.me() == self.owner;
            let [clear, shared] = self.by_side([&inputs[0], &inputs[1]]);
            let [.., len] = self.product.lengths();
            let (tool, stock) = turn.tool::<ArithmeticGmwTool>()?;
            crate::with_ring!(width(shared.sort()), T => {
                let mut z = Zeroizing::new(vec![T::ZERO; len]);
                let triple = stock.product_triple::<T>(self.split())?;
                let (clear, shared) = (ours.then(|| clear.component(0)), shared.component(0));
                let made = tool.gmw.known_products(triple, self.side, clear, shared, &mut z);
                made.await?;
                Ok(vec![Shares::ring_of(Sharing::A, z)])
            })
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (x, y) = (inputs[0], inputs[1]);
        Ok(vec![crate::with_ring!(width(x.sort()), T => {
            let z = product_of::<T>(&self.product, x.component(0), y.component(0));
            Shares::ring_of(Sharing::PUBLIC, z)
        })])
    }
}
