//! Values for somebody who is no party: shares that are handed out.

use std::sync::Arc;

use madrigal_engine::{
    Bill, Element, Mismatch, Online, Operation, Shares, Sharing, Sort, Tool, Turn,
};
use madrigal_net::{Context, Result};
use madrigal_protocols::{Opening, ZeroSharing};

use crate::shared::{only, width};

/// Fresh shares of values in A, B or R, one for each party, to be handed to a client, who adds them up: in A if the value
/// has ring elements, in B if it has bits. Nothing is sent.
///
/// A client sees the shares of all parties, and these may tell more than their sum: of a number that each party has cut
/// bits off by itself, they tell the bits that are lost. So a sharing of zero is added. What a client sees then
/// follows from the value alone, and with the shares of corrupted parties, too.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandOut;

/// Sharings of zero, in programs.
pub struct ZeroTool(ZeroSharing);

impl Tool for ZeroTool {
    const STEP: &'static str = "sharings of zero";

    fn open(context: Context, _: Opening) -> Result<Self> {
        ZeroSharing::new(context).map(Self)
    }

    fn count_in(&mut self, _: &Context) {}
}

impl HandOut {
    /// The sharing that elements are handed out in.
    pub const fn sharing(element: Element) -> Sharing {
        match element {
            Element::Bits(_) => Sharing::B,
            Element::Ring(_) => Sharing::A,
        }
    }

    fn handed(input: Sort) -> Sort {
        input.shared(Self::sharing(input.element))
    }
}

impl Operation for HandOut {
    fn name(&self) -> String {
        "hand out/1".into()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        let own = Self::sharing(value.element);
        if value.sharing != own && value.sharing != Sharing::R {
            let problem = format!("a value in {own} or R wanted, {value} given; convert it first");
            return Err(Mismatch::new(problem));
        }
        if parties < 2 {
            return Err(Mismatch::new("one party has no shares to hand out"));
        }
        Ok(vec![Self::handed(*value)])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let parties = bill.parties();
        let bytes = Self::handed(inputs[0]).bytes() as u64;
        for party in madrigal_core::Party::all(parties) {
            bill.aes(party, ZeroSharing::aes_blocks(parties, bytes));
        }
        bill.touch((1 + parties as u64) * bytes);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let value = &inputs[0];
            let (ZeroTool(zeros), _) = turn.tool::<ZeroTool>()?;
            // The first components of R add up to the value as well.
            let mut handed = Shares::zeros(Self::handed(*value.sort()));
            match value.sort().element {
                Element::Bits(planes) => {
                    for plane in 0..planes {
                        let row = handed.plane_mut(plane, 0);
                        row.copy_from_slice(value.plane(plane, 0));
                    }
                    zeros.add_to_bits(handed.plane_bytes_mut());
                }
                Element::Ring(_) => crate::with_ring!(width(value.sort()), T => {
                    let elements = handed.component_mut::<T>(0);
                    elements.copy_from_slice(value.component::<T>(0));
                    zeros.add_to(elements);
                }),
            }
            Ok(vec![handed])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        Ok(vec![(*only(inputs)?).clone()])
    }
}
