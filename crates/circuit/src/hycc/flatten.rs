//! A program without calls: one list of gates, each with the protocol that does it.

use std::ops::Range;

use super::bundle::BitSharing;
use super::error::LinkError;
use super::flat::{Flat, Op};
use super::link::{Linked, Target};
use super::module::{Gate, Item, Module};

impl Linked {
    /// Each call with gates of its own, and conversions where one side of a call has words and the other
    /// has bits; the bits of these are shared as where they go to.
    ///
    /// # Errors
    /// [`LinkError`]: bits at a call that make no word of a width that there is.
    pub fn flatten(&self) -> Result<Flat, LinkError> {
        let (main, sharing) = &self.modules[self.main];
        let mut flat = Flat {
            inputs: main.inputs().to_vec(),
            outputs: main.outputs().to_vec(),
            budget: self.budget.clone(),
            ..Flat::new()
        };
        for pins in &main.pins {
            let widths = main.widths[pins.start as usize..pins.end as usize].iter();
            let nodes = widths.map(|&width| flat.push(Op::Input, width, *sharing));
            let nodes = nodes.collect();
            flat.input_nodes.push(nodes);
        }
        let arguments = flat.input_nodes.clone();
        let outputs = self.instance(&mut flat, self.main, &arguments)?;
        // A word that is made of bits to be an output need not be made.
        let parts = |node: u32| match &flat.nodes[node as usize].op {
            Op::Combine(bits) => flat.combined(bits).to_vec(),
            _ => vec![node],
        };
        let outputs = outputs.into_iter();
        let outputs = outputs.map(|nodes| nodes.into_iter().flat_map(parts).collect());
        flat.output_nodes = outputs.collect();
        Ok(flat)
    }

    /// A module on these arguments, one for each input; its outputs.
    fn instance(
        &self,
        flat: &mut Flat,
        place: usize,
        arguments: &[Vec<u32>],
    ) -> Result<Vec<Vec<u32>>, LinkError> {
        let mut waiting = vec![self.called(flat, place, arguments)?];
        loop {
            let last = waiting.len() - 1;
            let called = &mut waiting[last];
            match called.run(flat)? {
                Some(call) => {
                    let target = &self.targets[called.place][call];
                    let given = called.arguments(call, target);
                    waiting.push(self.called(flat, target.module, &given)?);
                }
                None => {
                    let made = called.outputs();
                    waiting.pop();
                    let Some(caller) = waiting.last_mut() else {
                        return Ok(made);
                    };
                    let targets = &self.targets[caller.place];
                    caller.returned(flat, targets, &made)?;
                }
            }
        }
    }

    /// A module that was called with these arguments, and has not begun.
    fn called(
        &self,
        flat: &mut Flat,
        place: usize,
        arguments: &[Vec<u32>],
    ) -> Result<Called<'_>, LinkError> {
        let (module, sharing) = &self.modules[place];
        let mut called = Called {
            module,
            place,
            sharing: *sharing,
            nodes: vec![u32::MAX; module.widths.len()],
            next: 0,
        };
        for (pins, argument) in module.pins.iter().zip(arguments) {
            called.assign(flat, pins, argument)?;
        }
        Ok(called)
    }
}

/// A module while its gates and calls are put down, one after the other.
struct Called<'a> {
    module: &'a Module,
    place: usize,
    sharing: BitSharing,
    /// Nodes of each of its wires that are known so far.
    nodes: Vec<u32>,
    /// Number of its gates and calls that have begun.
    next: usize,
}

impl Called<'_> {
    /// Makes the error of a number of bits for which there is no word.
    fn word(&self) -> impl Fn(u32) -> LinkError {
        let file = self.module.file();
        move |bits| LinkError::Word {
            file: file.into(),
            bits,
        }
    }

    /// Nodes for these pins, in the pins' widths.
    fn assign(
        &mut self,
        flat: &mut Flat,
        pins: &Range<u32>,
        from: &[u32],
    ) -> Result<(), LinkError> {
        let pins = pins.start as usize..pins.end as usize;
        let widths = &self.module.widths[pins.clone()];
        let fit = flat.fit(from, widths, self.sharing);
        let fit = fit.map_err(self.word())?;
        self.nodes[pins].copy_from_slice(&fit);
        Ok(())
    }

    /// Gates up to the next call, whose number it gives; none at the module's end.
    fn run(&mut self, flat: &mut Flat) -> Result<Option<usize>, LinkError> {
        let module = self.module;
        while let Some(item) = module.order.get(self.next) {
            self.next += 1;
            let gate = match *item {
                Item::Call(call) => return Ok(Some(call as usize)),
                Item::Gate(gate) => gate as usize,
            };
            let first = module.first[gate] as usize;
            let at = |wire: &u32| self.nodes[*wire as usize];
            let op = match &module.gates()[gate] {
                Gate::And(a, b) => Op::And(at(a), at(b)),
                Gate::Or(a, b) => Op::Or(at(a), at(b)),
                Gate::Xor(a, b) => Op::Xor(at(a), at(b)),
                Gate::Not(a) => Op::Not(at(a)),
                Gate::One => Op::Bit(true),
                Gate::Add(a, b) => Op::Add(at(a), at(b)),
                Gate::Sub(a, b) => Op::Sub(at(a), at(b)),
                Gate::Mul(a, b) => Op::Mul(at(a), at(b)),
                Gate::Neg(a) => Op::Neg(at(a)),
                Gate::Constant { value, .. } => Op::Word(*value),
                Gate::Combine(bits) => {
                    let bits: Vec<u32> = bits.iter().map(at).collect();
                    let word = flat.combine(&bits, self.sharing);
                    self.nodes[first] = word.map_err(self.word())?;
                    continue;
                }
                Gate::Split(a) => {
                    let bits = flat.split(at(a), self.sharing);
                    self.nodes[first..first + bits.len()].copy_from_slice(&bits);
                    continue;
                }
            };
            self.nodes[first] = flat.push(op, module.widths[first], self.sharing);
        }
        Ok(None)
    }

    /// Gives the arguments of a call, one for each input of the callee.
    fn arguments(&self, call: usize, target: &Target) -> Vec<Vec<u32>> {
        let call = &self.module.calls()[call];
        let wires = |&argument: &usize| self.of(&call.from[argument]);
        target.arguments.iter().map(wires).collect()
    }

    /// The call that began last has come to these outputs.
    fn returned(
        &mut self,
        flat: &mut Flat,
        targets: &[Target],
        made: &[Vec<u32>],
    ) -> Result<(), LinkError> {
        let module = self.module;
        let Some(Item::Call(call)) = self.next.checked_sub(1).map(|last| module.order[last]) else {
            unreachable!("only calls return");
        };
        let call = call as usize;
        let returns = &targets[call].returns;
        for (pins, &output) in module.calls()[call].to.iter().zip(returns) {
            self.assign(flat, pins, &made[output])?;
        }
        Ok(())
    }

    fn outputs(&self) -> Vec<Vec<u32>> {
        self.module.from.iter().map(|from| self.of(from)).collect()
    }

    fn of(&self, wires: &[u32]) -> Vec<u32> {
        wires
            .iter()
            .map(|&wire| self.nodes[wire as usize])
            .collect()
    }
}
