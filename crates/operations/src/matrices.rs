//! Products of matrices, and convolutions, in A, R and alpha.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{MatrixShape, Party, Product, Zeroizing};
use madrigal_correlations::Width;
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn,
};
use madrigal_kernels::rings;
use madrigal_net::Result;
use madrigal_protocols::arithmetic::Side;

use crate::protocol::{KnownProduct, Rings, Step};
use crate::ring::width;
use crate::shared::{finish_step, in_sharing, masks_flow, prepare_step, prepared_locally};

/// Products of pairs of matrices, row by row, one pair after the other; or convolutions, of filters by images. Where
/// all know one of the two operands, nothing is sent.
///
/// Where one party knows one of them, as the owner of a model knows its weights, that party takes part as their
/// [owner](Self::known): of two parties in A.
pub struct MatrixProduct<P> {
    product: Product,
    known: Option<(Side, Party)>,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Rings> MatrixProduct<P> {
    /// So many pairs of this shape.
    pub const fn new(batch: usize, shape: MatrixShape) -> Self {
        Self::of(Product::Matrices(batch, shape))
    }

    /// Products of any shape.
    pub const fn of(product: Product) -> Self {
        Self {
            product,
            known: None,
            protocol: PhantomData,
        }
    }

    /// The same with an operand that comes clear, known to `owner`.
    #[must_use]
    pub const fn known(self, side: Side, owner: Party) -> Self {
        let known = Some((side, owner));
        Self { known, ..self }
    }

    fn known_product(&self) -> Option<KnownProduct> {
        let product = self.product;
        self.known.map(|(side, owner)| KnownProduct {
            product,
            side,
            owner,
        })
    }

    /// The known operand and the other one.
    fn by_side<T>(side: Side, [left, right]: [T; 2]) -> [T; 2] {
        match side {
            Side::Left => [left, right],
            Side::Right => [right, left],
        }
    }

    /// The product of one component with clear operands, either of them.
    fn product<T: Held>(&self, x: &[T], y: &[T]) -> Zeroizing<Vec<T>> {
        let (count, shape) = self.product.pieces();
        let [.., len] = shape.lengths();
        let mut z = Zeroizing::new(vec![T::ZERO; self.product.lengths()[2]]);
        let mut part = Zeroizing::new(vec![T::ZERO; len]);
        for piece in 0..count {
            part.fill(T::ZERO);
            let (x, y) = (&x[self.product.left(piece)], self.product.right(piece, y));
            rings::multiply_add(x, &y, &mut part, shape.inner, shape.columns);
            self.product.add(piece, 0..shape.columns, &part, &mut z);
        }
        z
    }

    fn results(&self, x: &Sort, y: &Sort) -> Result<Vec<Sort>, Mismatch>
    where
        Self: Operation,
    {
        match self.product.checked_lengths() {
            Some([left, right, len]) if [left, right] == [x.len, y.len] && left > 0 => {
                Ok(vec![x.shared(P::SHARING).of_len(len)])
            }
            _ => Err(Mismatch::new(format!(
                "{x} and {y} are no operands for {}",
                self.name()
            ))),
        }
    }

    fn with_public<T: Held>(&self, x: &Shares, y: &Shares) -> Shares {
        let of = |component: usize| match x.sort().sharing.is_clear() {
            true => self.product::<T>(x.component(0), y.component(component)),
            false => self.product::<T>(x.component(component), y.component(0)),
        };
        let components = 0..P::SHARING.components();
        Shares::ring(P::SHARING, components.map(of).collect())
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
        let (count, shape) = self.product.pieces();
        let MatrixShape {
            rows,
            inner,
            columns,
        } = shape;
        let known = match self.known {
            Some((Side::Left, owner)) => format!(", the left operand of {owner}"),
            Some((Side::Right, owner)) => format!(", the right operand of {owner}"),
            None => String::new(),
        };
        let sizes = format!("{count} of {rows}x{inner}x{columns}{known}");
        match self.product {
            Product::Matrices(..) => format!("matrix-product/1 in {}, {sizes}", P::SHARING),
            Product::Convolution(convolution) => {
                format!("convolution/1 in {}, {sizes}: {convolution}", P::SHARING)
            }
        }
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [x, y] = inputs else {
            return Err(Mismatch::new("two operands wanted"));
        };
        ring_of(x, y)?;
        if let Some((side, owner)) = self.known {
            let [clear, shared] = Self::by_side(side, [x, y]);
            if !P::takes_known(parties) {
                return Err(Mismatch::new(format!(
                    "{} takes no operand that one of {parties} parties knows",
                    P::SHARING
                )));
            }
            if owner.index() >= parties || !clear.sharing.is_known_to(owner) {
                return Err(Mismatch::new(format!("{owner} does not know {clear}")));
            }
            in_sharing(P::SHARING, shared)?;
            return self.results(x, y);
        }
        let public = |sort: &Sort| sort.sharing.is_public(parties);
        if public(x) && public(y) {
            return Err(Mismatch::new("one of two operands is shared"));
        }
        for sort in inputs.iter().filter(|sort| !public(sort)) {
            in_sharing(P::SHARING, sort)?;
            P::holds(sort.element, parties)?;
        }
        self.results(x, y)
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        if let Some(known) = self.known_product() {
            crate::with_ring!(width(&inputs[0]), T => P::known_product_bill::<T>(known, bill));
            return;
        }
        if inputs.iter().any(|sort| sort.sharing.is_clear()) {
            let products = self.product.multiplications();
            return bill.touch((products * inputs[0].element.bits() / 64) as u64);
        }
        crate::with_ring!(width(&inputs[0]), T => P::product_bill::<T>(self.product, bill));
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        self.known.is_none() && masks_flow(inputs)
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
            let step = Step::Product(self.product);
            prepare_step::<P>(turn, width, step, &inputs).await
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let (x, y) = (&inputs[0], &inputs[1]);
            let width = width(x.sort());
            if let Some(known) = self.known_product() {
                let [clear, shared] = Self::by_side(known.side, [x, y]);
                let ours = turn.me() == known.owner;
                let (tool, stock) = turn.tool::<P>()?;
                let z = crate::with_ring!(width, T => {
                    let clear = ours.then(|| clear.component::<T>(0));
                    tool.known_product::<T>(stock, clear, shared, known).await?
                });
                return Ok(vec![z]);
            }
            if x.sort().sharing.is_clear() || y.sort().sharing.is_clear() {
                let z = crate::with_ring!(width, T => self.with_public::<T>(x, y));
                return Ok(vec![z]);
            }
            if let Some(kept) = turn.kept() {
                let step = Step::Product(self.product);
                return finish_step::<P>(turn, width, step, &[x, y], kept).await;
            }
            let (tool, stock) = turn.tool::<P>()?;
            let z =
                crate::with_ring!(width, T => tool.product::<T>(stock, x, y, self.product).await?);
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
