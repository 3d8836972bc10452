//! Modules put together: who calls whom, with which variables.
//!
//! Modules that call each other make exponentially much of a short file: 42 that each call the next one twice have
//! 2^42 calls. So what a program takes is counted, without its calls being followed, before anything is made of it.

use std::collections::HashMap;

use madrigal_core::budget::Budget;

use super::bundle::BitSharing;
use super::error::LinkError;
use super::module::{Call, Module};
use crate::bristol::Limits;

/// Bytes for each wire of a program: its node, and what is noted of it while it is planned and made a circuit. With gates
/// of bits these are 160 (`madrigal explain` of 200,000 and of 800,000 of them), with words fewer.
const WIRE: u64 = 200;

/// Bytes for each call of a module, and for each of its variables: what is held while it is followed. Calls of modules
/// that have no wires take time, and so they count too.
const CALLED: u64 = 64;

/// Depth that calls may have.
const MOST_DEEP: usize = 128;

/// The name of the module that a program begins with.
const MAIN: &str = "mpc_main";

/// A program's modules, each with how its bits are shared, and their calls resolved.
#[derive(Debug, Clone)]
pub struct Linked {
    pub(super) modules: Vec<(Module, BitSharing)>,
    pub(super) main: usize,
    /// Targets of each module's calls.
    pub(super) targets: Vec<Vec<Target>>,
    /// Budget that is left, beside the modules, their wires and calls.
    pub(super) budget: Budget,
}

/// Target of a call.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The module.
    pub(super) module: usize,
    /// Number of the argument for each of the callee's inputs.
    pub(super) arguments: Vec<usize>,
    /// Number of the callee's output for each return.
    pub(super) returns: Vec<usize>,
}

impl Linked {
    /// Puts a program together. It begins with the module `mpc_main`, or with its only one. The memory that it takes with all
    /// of its calls comes off [`Limits::bytes`].
    ///
    /// # Errors
    /// [`LinkError`] names the file that does not fit, or what is too large.
    pub fn new(modules: Vec<(Module, BitSharing)>, limits: &Limits) -> Result<Self, LinkError> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, (module, _)) in modules.iter().enumerate() {
            if let Some(first) = places.insert(module.name(), place) {
                return Err(LinkError::Twice {
                    module: module.name().into(),
                    first: modules[first].0.file().into(),
                    second: module.file().into(),
                });
            }
        }
        let main = match (places.get(MAIN), &modules[..]) {
            (Some(&main), _) => main,
            (None, [_]) => 0,
            _ => {
                let modules = modules.len();
                return Err(LinkError::NoMain { modules });
            }
        };
        let mut targets = Vec::with_capacity(modules.len());
        for (module, _) in &modules {
            let target = |call: &Call| {
                let place = places.get(&call.callee[..]);
                let &place = place.ok_or_else(|| LinkError::NoCallee {
                    file: module.file().into(),
                    callee: call.callee.clone(),
                })?;
                target(module, call, place, &modules[place].0)
            };
            targets.push(
                module
                    .calls()
                    .iter()
                    .map(target)
                    .collect::<Result<_, _>>()?,
            );
        }
        let linked = Self {
            modules,
            main,
            targets,
            budget: Budget::new(limits.bytes),
        };
        linked.measure(limits)?;
        Ok(linked)
    }

    /// The module that the program begins with.
    pub fn main(&self) -> &Module {
        &self.modules[self.main].0
    }

    /// All modules, each with how its bits are shared.
    pub fn modules(&self) -> impl ExactSizeIterator<Item = (&Module, BitSharing)> {
        self.modules
            .iter()
            .map(|(module, sharing)| (module, *sharing))
    }

    /// Checks that calls come to an end, and before too many wires or calls.
    fn measure(&self, limits: &Limits) -> Result<(), LinkError> {
        const NEW: usize = usize::MAX;
        const OPEN: usize = usize::MAX - 1;
        // Depth of each module's calls; its wires, and its calls and their variables, with all that it calls.
        let mut depths = vec![NEW; self.modules.len()];
        let mut wires = vec![0u64; self.modules.len()];
        let mut called = vec![1u64; self.modules.len()];
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        for start in 0..self.modules.len() {
            if depths[start] == NEW {
                depths[start] = OPEN;
                waiting.push((start, 0));
            }
            while let Some((place, next)) = waiting.last_mut() {
                let (place, call) = (*place, *next);
                *next += 1;
                let module = &self.modules[place].0;
                if let Some(target) = self.targets[place].get(call) {
                    match depths[target.module] {
                        NEW => {
                            depths[target.module] = OPEN;
                            waiting.push((target.module, 0));
                        }
                        OPEN => {
                            let file = self.modules[target.module].0.file().into();
                            return Err(LinkError::Recursive { file });
                        }
                        _ => {}
                    }
                    continue;
                }
                let calls = || self.targets[place].iter().zip(module.calls());
                let depth = calls().map(|(target, _)| depths[target.module] + 1).max();
                let depth = depth.unwrap_or(0);
                if depth > MOST_DEEP {
                    let limit = MOST_DEEP;
                    return Err(LinkError::Deep { depth, limit });
                }
                // Where a word meets bits there are wires for both.
                let of = |(target, call): (&Target, &Call)| {
                    let joined = call.arguments.iter().chain(&call.returns);
                    let bits: u64 = joined.map(|one| one.ty.bits()).sum();
                    wires[target.module].saturating_add(2 * bits)
                };
                let own = module.widths.len() as u64;
                wires[place] = calls().map(of).fold(own, u64::saturating_add);
                let of = |(target, call): (&Target, &Call)| {
                    let joined = (call.arguments.len() + call.returns.len()) as u64;
                    called[target.module].saturating_add(joined)
                };
                called[place] = calls().map(of).fold(1, u64::saturating_add);
                depths[place] = depth;
                waiting.pop();
            }
        }
        let (wires, calls) = (wires[self.main], called[self.main]);
        let limit = u64::from(limits.wires());
        if wires > limit {
            return Err(LinkError::Limit {
                what: "wires",
                found: wires,
                limit,
            });
        }
        let modules = self.modules.iter().map(|(module, _)| module.bytes());
        let own = modules.fold(0, u64::saturating_add);
        let made = wires.saturating_mul(WIRE);
        let all = own
            .saturating_add(made)
            .saturating_add(calls.saturating_mul(CALLED));
        let taken = self.budget.take(all);
        taken.map_err(|spent| LinkError::Memory {
            wires,
            calls,
            spent,
        })
    }
}

/// Variables of a call matched with the callee's, by name.
fn target(
    caller: &Module,
    call: &Call,
    place: usize,
    callee: &Module,
) -> Result<Target, LinkError> {
    let wrong = |problem: String| LinkError::Call {
        file: caller.file().into(),
        callee: call.callee.clone(),
        problem,
    };
    let (arguments, inputs) = (call.arguments.len(), callee.inputs().len());
    let (returns, outputs) = (call.returns.len(), callee.outputs().len());
    if (arguments, returns) != (inputs, outputs) {
        return Err(wrong(format!(
            "{arguments} arguments and {returns} returns, where it has {inputs} and {outputs}"
        )));
    }
    let width = |name: &str, own: u64, other: u64| match own == other {
        true => Ok(()),
        false => Err(wrong(format!(
            "{name:?} of {own} bits, where it has {other}"
        ))),
    };
    let by_name = |names: Vec<&str>| -> HashMap<String, usize> {
        let all = names.into_iter().enumerate();
        all.map(|(place, name)| (name.to_owned(), place)).collect()
    };
    let given = by_name(call.arguments.iter().map(|one| &one.name[..]).collect());
    let made = by_name(callee.outputs().iter().map(|one| &one.name[..]).collect());
    let mut target = Target {
        module: place,
        arguments: Vec::with_capacity(inputs),
        returns: Vec::with_capacity(returns),
    };
    for input in callee.inputs() {
        let argument = given.get(&input.name);
        let &argument = argument.ok_or_else(|| wrong(format!("no argument {:?}", input.name)))?;
        let own = call.arguments[argument].ty.bits();
        width(&input.name, own, input.ty.bits())?;
        target.arguments.push(argument);
    }
    for one in &call.returns {
        let output = made.get(&one.name);
        let &output =
            output.ok_or_else(|| wrong(format!("a return {:?}, which it has not", one.name)))?;
        width(&one.name, one.ty.bits(), callee.outputs()[output].ty.bits())?;
        target.returns.push(output);
    }
    Ok(target)
}
