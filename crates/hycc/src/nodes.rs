//! Where nodes' values are in the graph, and how they are put in order.

use std::sync::Arc;

use madrigal_engine::{Graph, GraphError, Operation, Value};
use madrigal_operations::{Chain, Circuit, Concat, Layout, Rearrange};

use crate::stages::Protocol;

/// A word: the `at`-th of `count` in a vector, each with an element for each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) value: Value,
    pub(crate) at: usize,
    pub(crate) count: usize,
}

/// Elements beyond which orders are told as grids, not one by one.
const PICKED: usize = 1 << 16;

/// Makes operations with a common name for messages.
pub(crate) struct Making {
    pub(crate) graph: Graph,
    pub(crate) lanes: usize,
    /// Purpose of the operations.
    pub(crate) label: String,
}

impl Making {
    pub(crate) fn add(
        &mut self,
        operation: Arc<dyn Operation>,
        inputs: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        self.graph
            .add_labelled(operation, inputs, self.label.clone())
    }

    /// Adds an operation with one result.
    pub(crate) fn one(
        &mut self,
        operation: Arc<dyn Operation>,
        inputs: &[Value],
    ) -> Result<Value, GraphError> {
        Ok(self.add(operation, inputs)?[0])
    }

    /// Words in this order, as one vector. There is at least one.
    pub(crate) fn gather(&mut self, places: &[Place]) -> Result<Value, GraphError> {
        let runs = strides(places);
        let lanes = self.lanes;
        let first = places[0];
        if let [run] = runs[..]
            && (run.start, run.step, run.count) == (0, 1, first.count)
        {
            return Ok(first.value);
        }
        let alone = places.iter().all(|place| place.value == first.value);
        if alone && runs.len() > 2 && places.len() * lanes <= PICKED {
            let lane = |place: &Place| {
                let start = place.at * lanes;
                (start..start + lanes).map(|at| at as u32)
            };
            let picked: Arc<[u32]> = places.iter().flat_map(lane).collect();
            return self.one(
                Arc::new(Rearrange::new(Layout::Picked(picked))),
                &[first.value],
            );
        }
        let mut parts = Vec::with_capacity(runs.len());
        for run in runs {
            let whole = (run.start, run.step, run.count) == (0, 1, run.of);
            parts.push(match whole {
                true => run.value,
                false => {
                    let axes = vec![(run.count, run.step * lanes as isize), (lanes, 1)];
                    let start = run.start * lanes;
                    let layout = Layout::Grid { start, axes };
                    self.one(Arc::new(Rearrange::new(layout)), &[run.value])?
                }
            });
        }
        self.joined(&parts)
    }

    /// Values one after the other.
    pub(crate) fn joined(&mut self, parts: &[Value]) -> Result<Value, GraphError> {
        match parts {
            [one] => Ok(*one),
            _ => self.one(Arc::new(Concat { rows: 1 }), parts),
        }
    }

    /// The `at`-th of `count` values that lie one after the other in each of these.
    pub(crate) fn part(
        &mut self,
        value: Value,
        at: usize,
        count: usize,
    ) -> Result<Value, GraphError> {
        self.gather(&[Place { value, at, count }])
    }

    /// Operations that follow each other.
    pub(crate) fn chain(
        &mut self,
        chain: Chain,
        values: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let mut values = values.to_vec();
        for operation in chain {
            values = self.add(operation, &values)?;
        }
        Ok(values)
    }

    /// Bits in another protocol.
    pub(crate) fn convert(
        &mut self,
        value: Value,
        from: Protocol,
        to: Protocol,
    ) -> Result<Value, GraphError> {
        if from == to {
            return Ok(value);
        }
        let mut chain = from.backend().to_kept();
        chain.extend(to.backend().from_kept());
        Ok(self.chain(chain, &[value])?[0])
    }
}

/// Words of one vector, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stride {
    value: Value,
    start: usize,
    step: isize,
    count: usize,
    /// Words of the vector.
    of: usize,
}

fn strides(places: &[Place]) -> Vec<Stride> {
    let mut runs: Vec<Stride> = Vec::new();
    for place in places {
        if let Some(run) = runs.last_mut()
            && run.value == place.value
        {
            let last = run.start as isize + run.step * (run.count as isize - 1);
            let step = place.at as isize - last;
            if run.count == 1 || step == run.step {
                (run.step, run.count) = (step, run.count + 1);
                continue;
            }
        }
        runs.push(Stride {
            value: place.value,
            start: place.at,
            step: 1,
            count: 1,
            of: place.count,
        });
    }
    runs
}

/// Evaluates a circuit, which has inputs.
pub(crate) fn netlist(protocol: Protocol, circuit: Circuit) -> Arc<dyn Operation> {
    let circuits = protocol.backend().bits().circuits;
    circuits.circuit(Arc::new(circuit), 0)
}
