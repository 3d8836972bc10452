//! Products of matrices, and convolutions, in A, R and alpha.

use madrigal_core::{MatrixShape, Product, Zeroizing};
use madrigal_engine::{Element, Held, Mismatch, Shares, Sharing, Sort};
use madrigal_kernels::products::add_products;

use crate::protocol::{RingStep, Rings};
use crate::shared::in_sharing;
use crate::stepped::{Described, Stepped};

/// Products of pairs of matrices, row by row, one pair after the other; or convolutions, of filters by images. Where
/// all know one of the two operands, nothing is sent.
pub type MatrixProduct<P> = Stepped<P, Product>;

impl<P: Rings> MatrixProduct<P> {
    /// So many pairs of this shape.
    pub const fn new(batch: usize, shape: MatrixShape) -> Self {
        Self::of(Product::Matrices(batch, shape))
    }
}

/// Names a product in a sharing, with what else is to be said of its operands.
pub(crate) fn name_of(product: &Product, sharing: Sharing, operands: &str) -> String {
    let (count, shape) = product.pieces();
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let sizes = format!("{count} of {rows}x{inner}x{columns}{operands}");
    match product {
        Product::Matrices(..) => format!("matrix-product/1 in {sharing}, {sizes}"),
        Product::Convolution(convolution) => {
            format!("convolution/1 in {sharing}, {sizes}: {convolution}")
        }
    }
}

/// Checks that two values are of one ring.
pub(crate) fn one_ring(x: &Sort, y: &Sort) -> Result<(), Mismatch> {
    match (x.element, y.element) {
        (Element::Ring(width), Element::Ring(other)) if width == other => Ok(()),
        _ => Err(Mismatch::new(format!("{x} and {y} are not of one ring"))),
    }
}

/// Finds what a product in a sharing makes of operands of these sorts, or why it makes nothing.
pub(crate) fn results(
    product: &Product,
    [x, y]: [&Sort; 2],
    sharing: Sharing,
    name: impl FnOnce() -> String,
) -> Result<Vec<Sort>, Mismatch> {
    match product.checked_lengths() {
        Some([left, right, len]) if [left, right] == [x.len, y.len] && left > 0 => {
            Ok(vec![x.shared(sharing).of_len(len)])
        }
        _ => Err(Mismatch::new(format!(
            "{x} and {y} are no operands for {}",
            name()
        ))),
    }
}

/// The product of one component with clear operands, either of them.
pub(crate) fn product_of<T: Held>(product: &Product, x: &[T], y: &[T]) -> Zeroizing<Vec<T>> {
    let mut z = Zeroizing::new(vec![T::ZERO; product.lengths()[2]]);
    add_products(product, [(x, y)], &mut z);
    z
}

impl<P: Rings> Described<P> for Product {
    fn name(&self) -> String {
        name_of(self, P::SHARING, "")
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [x, y] = inputs else {
            return Err(Mismatch::new("two operands wanted"));
        };
        one_ring(x, y)?;
        let public = |sort: &Sort| sort.sharing.is_public(parties);
        if public(x) && public(y) {
            return Err(Mismatch::new("one of two operands is shared"));
        }
        for sort in inputs.iter().filter(|sort| !public(sort)) {
            in_sharing(P::SHARING, sort)?;
            P::holds(sort.element, parties)?;
        }
        results(self, [x, y], P::SHARING, || Described::<P>::name(self))
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn step(&self) -> RingStep {
        RingStep::Product(*self)
    }

    fn plain<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        let z = product_of::<T>(self, inputs[0].component(0), inputs[1].component(0));
        vec![Shares::ring_of(Sharing::PUBLIC, z)]
    }

    fn touched_alone(&self, inputs: &[Sort]) -> Option<u64> {
        let clear = inputs.iter().any(|sort| sort.sharing.is_clear());
        clear.then(|| (self.multiplications() * inputs[0].element.bits() / 64) as u64)
    }

    fn alone<T: Held>(&self, inputs: &[&Shares]) -> Vec<Shares> {
        let clear = |place: usize| inputs[place].sort().sharing.is_clear();
        let part = |place: usize, component: usize| {
            let component = if clear(place) { 0 } else { component };
            inputs[place].component::<T>(component)
        };
        let of = |component| product_of::<T>(self, part(0, component), part(1, component));
        let components = 0..P::SHARING.components();
        vec![Shares::ring(P::SHARING, components.map(of).collect())]
    }
}
