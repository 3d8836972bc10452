//! The check passes what is right, and finds what is wrong.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::Party;
use madrigal_engine::{Bill, Element, Mismatch, Operation, Shares, Sharing, Sort, Turn, Width};
use madrigal_net::Result;
use madrigal_opcheck::{Case, Check};
use madrigal_operations::{ArithmeticGmwTool, Mul};

/// Faults of a product.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    /// A byte more in the bill.
    Bytes,
    /// AES blocks in the bill that are not computed.
    Blocks,
    /// The first element in the clear.
    Plain,
    /// Inputs beyond the second are ignored.
    Inputs,
}

struct Product {
    own: Mul<ArithmeticGmwTool>,
    wrong: Wrong,
}

impl Operation for Product {
    fn name(&self) -> String {
        "product/1".into()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        match self.wrong {
            Wrong::Inputs if inputs.len() > 2 => self.own.sorts(&inputs[..2], parties),
            _ => self.own.sorts(inputs, parties),
        }
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        self.own.bill(inputs, bill);
        let [first, second] = [0, 1].map(Party::new);
        match self.wrong {
            Wrong::Bytes => bill.exchange(&[(first, second, 1)]),
            Wrong::Blocks => bill.aes(first, 1),
            _ => {}
        }
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        self.own.online(turn, inputs)
    }

    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        let mut product = self.own.plain(inputs)?;
        if self.wrong == Wrong::Plain {
            product[0].component_mut::<u32>(0)[0] ^= 1;
        }
        Ok(product)
    }
}

fn check(wrong: Wrong) -> Check {
    let mut check = Check::new(move |_, len| Case {
        operation: Arc::new(Product {
            own: Mul::new(),
            wrong,
        }),
        inputs: vec![Sort::new(Sharing::A, Element::Ring(Width::W32), len); 2],
    });
    (check.lengths, check.faults) = (vec![1, 64], 12);
    check
}

#[test]
fn what_is_right_passes() {
    check(Wrong::Nothing).run();
}

#[test]
#[should_panic(expected = "spent, and declared")]
fn a_byte_too_many_is_found() {
    check(Wrong::Bytes).among(&[2]).run();
}

#[test]
#[should_panic(expected = "spent, and declared")]
fn blocks_that_nobody_computes_are_found() {
    check(Wrong::Blocks).among(&[2]).run();
}

#[test]
#[should_panic(expected = "and should be")]
fn another_result_is_found() {
    check(Wrong::Plain).among(&[3]).run();
}

#[test]
#[should_panic(expected = "takes an input too many")]
fn inputs_that_are_ignored_are_found() {
    check(Wrong::Inputs).among(&[2]).run();
}
