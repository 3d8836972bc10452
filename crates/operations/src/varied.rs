//! Conversions in the ways of [`Variants`].

use std::sync::Arc;

use madrigal_circuit::Goal;
use madrigal_engine::{Element, Operation, Sharing, Sort};

use crate::arithmetic_gmw::{ArithmeticGmwTool, ComposeMasked};
use crate::backend::DynOperation;
use crate::bmr::{ShareToKeys, ToKeys};
use crate::convert::Compose;
use crate::variants::{Conversion, Variants};

/// Gives the operation that is done in place of one whose first result is of the sort `result`: itself, unless it is a
/// conversion that has a variant, and that is wanted. Operations of one name are the same.
pub fn varied(operation: &DynOperation, result: &Sort, variants: Variants) -> DynOperation {
    let is = |other: &dyn Operation| operation.name() == other.name();
    if let (Conversion::Naive, Sharing::Y) = (variants.to_garbled, result.sharing)
        && is(&ToKeys::new())
    {
        return Arc::new(ShareToKeys::new());
    }
    if let (Conversion::Naive, Sharing::A) = (variants.to_numbers, result.sharing)
        && let Element::Ring(width) = result.element
    {
        for signed in [false, true] {
            if is(&Compose::<ArithmeticGmwTool>::new(width, signed)) {
                return Arc::new(ComposeMasked::new(width, signed, Goal::Depth));
            }
        }
    }
    Arc::clone(operation)
}
