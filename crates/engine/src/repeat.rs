//! Loops that stay loops: one node, whatever the number of times.

use std::sync::Arc;

use madrigal_core::Digest256;
use madrigal_net::{Result, breathe};

use crate::bill::Bill;
use crate::graph::{Graph, Node, Value};
use crate::operation::{Mismatch, Online, Operation, Turn};
use crate::shares::Shares;
use crate::sort::{Element, Sharing, Sort};

/// A body that is run `count` times. Its first arguments are the state, which its results replace; the others are the
/// same each time. Operations of the body are done one after the other.
pub struct Repeat {
    count: usize,
    body: Arc<Graph>,
    /// The argument that is told how many times the body was run before.
    counter: Option<Value>,
    /// The other arguments, in order.
    arguments: Vec<Value>,
    results: Vec<Value>,
}

impl Repeat {
    /// `body` with arguments that were made by [`Graph::argument`], and the results that become the next
    /// state. The counter, where there is one, is an argument of one public element.
    ///
    /// # Panics
    /// If there are more results than arguments.
    pub fn new(
        count: usize,
        body: Graph,
        arguments: Vec<Value>,
        counter: Option<Value>,
        results: Vec<Value>,
    ) -> Self {
        assert!(results.len() <= arguments.len(), "the state comes first");
        Self {
            count,
            body: Arc::new(body),
            counter,
            arguments,
            results,
        }
    }

    /// Runs `each` on the operations of the body, in order, with the values of their inputs.
    fn walk<V: Clone>(
        &self,
        given: &[V],
        counter: V,
        mut each: impl FnMut(&Node, &dyn Operation, Vec<V>) -> std::result::Result<Vec<V>, Mismatch>,
    ) -> std::result::Result<Vec<V>, Mismatch> {
        let mut made: Vec<Vec<V>> = Vec::with_capacity(self.body.len());
        for (index, node) in (0..).zip(self.body.nodes()) {
            let values = match &node.operation {
                None => vec![self.argument(index, given, &counter)],
                Some(operation) => {
                    let of =
                        |value: &Value| made[value.node as usize][value.output as usize].clone();
                    each(
                        node,
                        operation.as_ref(),
                        node.inputs.iter().map(of).collect(),
                    )?
                }
            };
            made.push(values);
        }
        let of = |value: &Value| made[value.node as usize][value.output as usize].clone();
        Ok(self.results.iter().map(of).collect())
    }

    /// Sort of the counter; any where nobody reads it.
    fn counter(&self) -> Sort {
        let of = |value| *self.body.sort(value);
        let unread = Sort::new(Sharing::PUBLIC, Element::Bits(0), 1);
        self.counter.map_or(unread, of)
    }

    /// The counter's value.
    fn number(&self, count: usize) -> Shares {
        let mut number = Shares::zeros(self.counter());
        match self.counter().element {
            Element::Ring(width) => crate::with_ring!(width, T => {
                let count = <T as madrigal_core::Ring>::from_u128(count as u128);
                number.component_mut::<T>(0)[0] = count;
            }),
            Element::Bits(planes) => {
                for plane in 0..planes.min(usize::BITS as usize) {
                    number.plane_mut(plane, 0)[0] = (count >> plane & 1) as u8;
                }
            }
        }
        number
    }

    /// Value of an input of the body.
    fn argument<V: Clone>(&self, node: u32, given: &[V], counter: &V) -> V {
        if self.counter.is_some_and(|value| value.node == node) {
            return counter.clone();
        }
        let place = self.arguments.iter().position(|value| value.node == node);
        given[place.expect("every input of a body is an argument")].clone()
    }
}

impl Operation for Repeat {
    fn name(&self) -> String {
        let body = Digest256(self.body.digest());
        let places = |values: &[Value]| {
            let of = |value: &Value| format!("{}.{}", value.node, value.output);
            values.iter().map(of).collect::<Vec<_>>().join(",")
        };
        format!(
            "repeat/1 {} times {body} of {} counter {} to {}",
            self.count,
            places(&self.arguments),
            places(self.counter.as_slice()),
            places(&self.results)
        )
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        if self.body.parties() != parties {
            let body = self.body.parties();
            return Err(Mismatch::new(format!(
                "a body for {body} parties, not {parties}"
            )));
        }
        let wanted: Vec<Sort> = self
            .arguments
            .iter()
            .map(|&value| *self.body.sort(value))
            .collect();
        if wanted != inputs {
            return Err(Mismatch::new(format!("{inputs:?} for {wanted:?}")));
        }
        let counter = self.counter();
        if counter.sharing != Sharing::PUBLIC || counter.len != 1 {
            return Err(Mismatch::new(format!("{counter} is no counter")));
        }
        let results: Vec<Sort> = self
            .results
            .iter()
            .map(|&value| *self.body.sort(value))
            .collect();
        if results[..] != inputs[..results.len()] {
            return Err(Mismatch::new(format!(
                "a state of {inputs:?} becomes {results:?}"
            )));
        }
        Ok(results)
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let once = |bill: &mut Bill| {
            let done = self.walk(inputs, self.counter(), |node, operation, sorts| {
                if !node.is_empty() {
                    operation.bill(&sorts, bill);
                }
                Ok(node.outputs.clone())
            });
            assert!(done.is_ok(), "the body was checked when it was made");
        };
        bill.repeat(self.count as u64, once);
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let mut given = inputs;
            for time in 0..self.count {
                let counter = Arc::new(self.number(time));
                let mut made: Vec<Vec<Arc<Shares>>> = Vec::with_capacity(self.body.len());
                for (index, node) in (0..).zip(self.body.nodes()) {
                    let values = match &node.operation {
                        None => vec![self.argument(index, &given, &counter)],
                        Some(operation) => {
                            let of = |value: &Value| {
                                Arc::clone(&made[value.node as usize][value.output as usize])
                            };
                            let inputs = node.inputs.iter().map(of).collect();
                            let done = match node.empty(turn.me()) {
                                Some(made) => made,
                                None => operation.online(turn, inputs).await?,
                            };
                            done.into_iter().map(Arc::new).collect()
                        }
                    };
                    made.push(values);
                }
                for (place, value) in self.results.iter().enumerate() {
                    given[place] = Arc::clone(&made[value.node as usize][value.output as usize]);
                }
                breathe().await;
            }
            given.truncate(self.results.len());
            Ok(given.into_iter().map(Arc::unwrap_or_clone).collect())
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let mut given: Vec<Arc<Shares>> = inputs
            .iter()
            .map(|&value| Arc::new(value.clone()))
            .collect();
        for time in 0..self.count {
            let counter = Arc::new(self.number(time));
            let state = self.walk(&given, counter, |node, operation, values| {
                let values: Vec<&Shares> = values.iter().map(Arc::as_ref).collect();
                let made = if node.is_empty() {
                    let of = |sort: &Sort| Shares::zeros(sort.shared(Sharing::PUBLIC));
                    node.outputs.iter().map(of).collect()
                } else {
                    operation.plain(&values)?
                };
                Ok(made.into_iter().map(Arc::new).collect())
            })?;
            state
                .into_iter()
                .enumerate()
                .for_each(|(place, value)| given[place] = value);
        }
        given.truncate(self.results.len());
        Ok(given.into_iter().map(Arc::unwrap_or_clone).collect())
    }
}
