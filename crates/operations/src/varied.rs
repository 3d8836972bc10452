//! Conversions in the ways of [`Variants`].

use std::sync::Arc;

use madrigal_circuit::Goal;
use madrigal_engine::{Element, Operation as _, Sharing, Sort};

use crate::arithmetic_gmw::{ArithmeticGmwTool, ComposeMasked};
use crate::backend::DynOperation;
use crate::bmr::{ShareToKeys, ToKeys};
use crate::convert::Compose;
use crate::variants::{Conversion, Variants};

/// Gives the operation that is done in place of one whose first result is of the sort `result`: itself, unless it is a
/// conversion that has a variant, and that is wanted. Operations of one name are the same.
pub fn varied(operation: &DynOperation, result: &Sort, variants: Variants) -> DynOperation {
    let wanted = |conversion| conversion == Conversion::Naive;
    match (result.sharing, result.element) {
        (Sharing::Y, Element::Bits(_)) if wanted(variants.to_garbled) => {
            if operation.name() == ToKeys::new().name() {
                return Arc::new(ShareToKeys::new());
            }
        }
        (Sharing::A, Element::Ring(width)) if wanted(variants.to_numbers) => {
            for signed in [false, true] {
                let chosen = Compose::<ArithmeticGmwTool>::new(width, signed);
                if operation.name() == chosen.name() {
                    return Arc::new(ComposeMasked::new(width, signed, Goal::Depth));
                }
            }
        }
        _ => {}
    }
    Arc::clone(operation)
}
