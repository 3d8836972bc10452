//! Boolean circuits on vectors: shares in, shares out, nothing opened in between.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_core::Digest256;
use madrigal_engine::{
    Bill, Element, Mismatch, Online, Operation, Preparing, Shares, Sharing, Sort, Turn,
};
use madrigal_net::Result;

use crate::arena::Arena;
use crate::circuit::Circuit;
use crate::protocol::Boolean;
use crate::shared::{bits_of, from_rows, in_sharing, to_rows};

/// A circuit, in each element of vectors. Takes a value for each of its inputs and makes one of each of
/// its outputs.
pub struct Netlist<P> {
    circuit: Arc<Circuit>,
    /// Number of elements if the circuit has no inputs.
    alone: usize,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Boolean> Netlist<P> {
    /// Evaluates this circuit; if it has no inputs, for `alone` elements.
    pub const fn new(circuit: Arc<Circuit>, alone: usize) -> Self {
        Self {
            circuit,
            alone,
            protocol: PhantomData,
        }
    }
}

impl<P: Boolean> Operation for Netlist<P> {
    fn name(&self) -> String {
        let sums = P::SUMS.then(|| self.circuit.sums());
        format!(
            "circuit/1 {} in {} of {} ANDs{}, depth {}{} ({} compiled {}){}{}",
            self.circuit.name(),
            P::name(),
            self.circuit.layered().and_count(),
            match sums {
                Some(sums) => format!(" in {} sums", sums.sum_count()),
                None => String::new(),
            },
            self.circuit.layered().depth(),
            match self.circuit.round_count() {
                rounds if rounds == self.circuit.layered().depth() => String::new(),
                rounds => format!(" in {rounds} rounds"),
            },
            Digest256(self.circuit.digest()),
            Digest256(match P::SUMS {
                true => self.circuit.sums_digest(),
                false => self.circuit.compiled_digest(),
            }),
            P::manner(&self.circuit),
            if self.is_lane_wise() {
                String::new()
            } else {
                format!(" for {}", self.alone)
            },
        )
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let widths = self.circuit.inputs();
        if widths.len() != inputs.len() {
            let (want, got) = (widths.len(), inputs.len());
            return Err(Mismatch::new(format!(
                "the circuit has {want} inputs, {got} were given"
            )));
        }
        for (index, (sort, &width)) in inputs.iter().zip(widths).enumerate() {
            in_sharing(P::SHARING, sort)?;
            P::holds(sort.element, parties)?;
            if sort.element != Element::Bits(width as usize) {
                return Err(Mismatch::new(format!(
                    "input {index} of the circuit has {width} bits, {sort} was given"
                )));
            }
        }
        let len = inputs.first().map_or(self.alone, |sort| sort.len);
        Ok(bits_of(self.circuit.outputs(), P::SHARING, len))
    }

    fn is_lane_wise(&self) -> bool {
        !self.circuit.inputs().is_empty()
    }

    fn bits_at_work(&self, _: &[Sort]) -> usize {
        P::bits_at_work(&self.circuit)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let lanes = inputs.first().map_or(self.alone, |sort| sort.len);
        P::evaluate_bill(&self.circuit, lanes, bill);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        P::prepares_circuit(&self.circuit)
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let lanes = inputs.first().map_or(self.alone, |value| value.len());
            let early = turn.early();
            let (protocol, stock) = turn.tool::<P>()?;
            let circuit = &self.circuit;
            let prepared = protocol.prepare_evaluate(circuit, lanes, &inputs, stock, &early);
            prepared.await
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let lanes = inputs.first().map_or(self.alone, |value| value.len());
            let (mut arena, prepared) = (turn.scratch(), turn.kept());
            let (protocol, stock) = turn.tool::<P>()?;
            let circuit = &self.circuit;
            let done = protocol.evaluate(circuit, lanes, &inputs, &mut arena, stock, prepared);
            let outputs = done.await?;
            turn.keep_scratch(arena);
            Ok(outputs)
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let layered = self.circuit.layered();
        let lanes = inputs.first().map_or(self.alone, |value| value.len());
        for value in inputs {
            let Element::Bits(_) = value.sort().element else {
                return Err(Mismatch::new(format!("{value:?} has no bits")));
            };
        }
        let rows = to_rows(inputs.iter().copied(), lanes);
        let made = layered
            .interpret(&rows)
            .map_err(|error| Mismatch::new(error.to_string()))?;
        let sorts = bits_of(self.circuit.outputs(), Sharing::PUBLIC, lanes);
        Ok(from_rows(sorts, &made))
    }
}

impl Circuit {
    /// Shares of zero for the outputs, to be written.
    pub(super) fn blank(&self, sharing: Sharing, lanes: usize) -> Vec<Shares> {
        let sorts = bits_of(self.outputs(), sharing, lanes).into_iter();
        sorts.map(Shares::zeros).collect()
    }
}

/// Puts inputs into the first rows of an arena, which are for these wires: of each the components from `first` on.
pub(super) fn enter(wires: &[u32], inputs: &[Arc<Shares>], first: usize, arena: &mut Arena) {
    let mut wires = (0..)
        .zip(wires)
        .map(|(row, &wire): (u32, _)| (row, wire as usize))
        .peekable();
    let mut start = 0;
    for value in inputs {
        let end = start + value.sort().element.bits();
        while let Some((row, wire)) = wires.next_if(|&(_, wire)| wire < end) {
            for component in 0..arena.shape().components {
                let plane = value.plane(wire - start, first + component);
                arena.row_mut(row, component).copy_from_slice(plane);
            }
        }
        start = end;
    }
}

/// Copies rows of an arena to outputs, into the components from `first` on.
pub(super) fn leave(rows: &[u32], arena: &Arena, first: usize, outputs: &mut [Shares]) {
    let mut rows = rows.iter();
    for value in outputs {
        let width = value.sort().element.bits();
        for (plane, &row) in rows.by_ref().take(width).enumerate() {
            for component in 0..arena.shape().components {
                let to = value.plane_mut(plane, first + component);
                to.copy_from_slice(arena.row(row, component));
            }
        }
    }
}
