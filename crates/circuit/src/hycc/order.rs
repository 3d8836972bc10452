//! Gates and calls in an order of their data: calls may stand in a file in any order.

use super::error::ModuleErrorKind;
use super::module::{Gate, Item, Module};

/// The wires that a gate reads.
pub(super) fn operands(gate: &Gate) -> impl Iterator<Item = u32> + '_ {
    let (pair, list): ([Option<u32>; 2], &[u32]) = match gate {
        Gate::And(a, b)
        | Gate::Or(a, b)
        | Gate::Xor(a, b)
        | Gate::Add(a, b)
        | Gate::Sub(a, b)
        | Gate::Mul(a, b) => ([Some(*a), Some(*b)], &[]),
        Gate::Not(a) | Gate::Neg(a) | Gate::Split(a) => ([Some(*a), None], &[]),
        Gate::One | Gate::Constant { .. } => ([None; 2], &[]),
        Gate::Combine(bits) => ([None; 2], bits),
    };
    pair.into_iter().flatten().chain(list.iter().copied())
}

/// Each gate and call once, after those whose wires it reads.
pub(super) fn of(module: &Module) -> Result<Vec<Item>, ModuleErrorKind> {
    let gates = module.gates().len();
    if module.calls().is_empty() {
        return Ok((0..gates as u32).map(Item::Gate).collect());
    }
    // By wire, what makes it: nothing for an input's pin, else the number of a gate, or above these of a
    // call.
    const NOTHING: u32 = u32::MAX;
    let mut made_by = vec![NOTHING; module.widths.len()];
    for (number, call) in (gates as u32..).zip(module.calls()) {
        for pins in &call.to {
            made_by[pins.start as usize..pins.end as usize].fill(number);
        }
    }
    for number in 0..gates {
        let end = module.first.get(number + 1).copied();
        let end = end.map_or(module.widths.len(), |end| end as usize);
        made_by[module.first[number] as usize..end].fill(number as u32);
    }
    let wires = |number: u32| -> Vec<u32> {
        match (number as usize).checked_sub(gates) {
            None => operands(&module.gates()[number as usize]).collect(),
            Some(call) => module.calls()[call]
                .from
                .iter()
                .flatten()
                .copied()
                .collect(),
        }
    };
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let all = gates + module.calls().len();
    let mut state = vec![NEW; all];
    let mut order = Vec::with_capacity(all);
    let mut waiting: Vec<(u32, Vec<u32>)> = Vec::new();
    for start in 0..all as u32 {
        if state[start as usize] == NEW {
            state[start as usize] = OPEN;
            waiting.push((start, wires(start)));
        }
        while let Some((number, needs)) = waiting.last_mut() {
            let Some(wire) = needs.pop() else {
                state[*number as usize] = DONE;
                order.push(match (*number as usize).checked_sub(gates) {
                    None => Item::Gate(*number),
                    Some(call) => Item::Call(call as u32),
                });
                waiting.pop();
                continue;
            };
            let maker = made_by[wire as usize];
            match state.get(maker as usize).copied() {
                None | Some(DONE) => {}
                Some(NEW) => {
                    state[maker as usize] = OPEN;
                    waiting.push((maker, wires(maker)));
                }
                // A gate reads what stands before it: only calls close a circle.
                Some(_) => {
                    let mut call = waiting.iter().rev();
                    let call = call.find_map(|(number, _)| (*number as usize).checked_sub(gates));
                    let callee = call.map(|call| module.calls()[call].callee.clone());
                    let callee = callee.unwrap_or_default();
                    return Err(ModuleErrorKind::Circular { callee });
                }
            }
        }
    }
    Ok(order)
}
