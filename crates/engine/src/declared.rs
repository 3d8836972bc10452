//! An operation of this crate's tests: it is planned, and never carried out.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_correlations::Kind;
use madrigal_net::Result;

use crate::bill::Bill;
use crate::operation::{Mismatch, Online, Operation, Turn};
use crate::shares::Shares;
use crate::sort::{Sharing, Sort};

/// Makes a value in B as long as its first input, and opens as many bytes as elements in each of its layers.
pub(crate) struct Declared {
    pub(crate) layers: usize,
    /// Boolean triples that each layer uses up for each element.
    pub(crate) triples: usize,
}

impl Operation for Declared {
    fn name(&self) -> String {
        format!("declared/1 {} {}", self.layers, self.triples)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        Ok(vec![inputs[0].shared(Sharing::B)])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (len, all) = (inputs[0].len, Party::all(bill.parties()));
        let all: Vec<Party> = all.collect();
        for _ in 0..self.layers {
            if self.triples > 0 {
                bill.next_step();
                bill.needs().add(Kind::BitTriples, self.triples * len);
            }
            bill.open(len as u64, &all);
        }
    }

    fn online<'a>(&'a self, _: &'a mut Turn<'_>, _: Vec<Arc<Shares>>) -> Online<'a> {
        unreachable!("it is planned alone")
    }

    fn plain(&self, _: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        unreachable!("it is planned alone")
    }
}
