//! Openings that take place if requirements are met, which all parties know by then.

use std::sync::Arc;

use madrigal_engine::{Bill, Element, Mismatch, Online, Operation, Shares, Sort, Turn};

use crate::backend::DynOperation;

/// An operation that is carried out if conditions hold: bits that all parties know, each a value of its own after the
/// operation's inputs. Where one is false, nothing is sent, and the results are zeros.
///
/// It is for what ends a program: [openings](crate::Open), and shares that are [handed out](crate::HandOut). Its results must be
/// clear or shared without labels.
///
/// # Security
/// Nothing of the operation is [prepared](Operation::prepare). What an opening sends before there are inputs are decoding bits of
/// garbled values, or shares of masks: with these a receiver would have the value as soon as the public part of its share is
/// there, whatever the conditions say. So all messages of the operation follow the conditions, and each party sends them alike or
/// not at all, since all know the same bits.
pub struct WhenMet {
    operation: DynOperation,
    conditions: usize,
}

impl WhenMet {
    /// The operation, under `conditions` conditions.
    pub fn new(operation: DynOperation, conditions: usize) -> Self {
        Self {
            operation,
            conditions,
        }
    }

    /// Splits inputs into those of the operation and the conditions.
    fn split<'a, T>(&self, inputs: &'a [T]) -> Result<(&'a [T], &'a [T]), Mismatch> {
        let own = inputs.len().checked_sub(self.conditions);
        let own = own.ok_or_else(|| {
            let (wanted, got) = (self.conditions, inputs.len());
            Mismatch::new(format!("{wanted} conditions wanted, {got} values given"))
        })?;
        Ok(inputs.split_at(own))
    }
}

/// Whether all of these bits are set.
fn all_set<'a>(conditions: impl IntoIterator<Item = &'a Shares>) -> bool {
    let set = |condition: &Shares| {
        condition
            .plane(0, 0)
            .first()
            .is_some_and(|row| row & 1 == 1)
    };
    conditions.into_iter().all(set)
}

impl Operation for WhenMet {
    fn name(&self) -> String {
        let (name, conditions) = (self.operation.name(), self.conditions);
        format!("when {conditions} conditions hold/1: {name}")
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let (own, conditions) = self.split(inputs)?;
        let known = |sort: &&Sort| {
            sort.sharing.is_public(parties) && sort.element == Element::Bits(1) && sort.len == 1
        };
        if let Some(other) = conditions.iter().find(|sort| !known(sort)) {
            let problem = format!("a condition is one bit that all know, {other} given");
            return Err(Mismatch::new(problem));
        }
        let sorts = self.operation.sorts(own, parties)?;
        match sorts.iter().find(|sort| sort.sharing.begins_ahead()) {
            None => Ok(sorts),
            Some(sort) => Err(Mismatch::new(format!("{sort} has no zero to give instead"))),
        }
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        match self.split(inputs) {
            Ok((own, _)) => self.operation.bits_at_work(own),
            Err(_) => 0,
        }
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        if let Ok((own, _)) = self.split(inputs) {
            self.operation.bill(own, bill);
        }
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (own, conditions) = self.split(&inputs).map_err(|error| turn.refuse(&error))?;
            if all_set(conditions.iter().map(|condition| &**condition)) {
                return self.operation.online(turn, own.to_vec()).await;
            }
            let sorts: Vec<Sort> = own.iter().map(|value| *value.sort()).collect();
            let sorts = self.operation.sorts(&sorts, turn.parties());
            let sorts = sorts.map_err(|error| turn.refuse(&error))?;
            let me = turn.me();
            let nothing =
                |sort: Sort| match sort.sharing.is_clear() && !sort.sharing.is_known_to(me) {
                    true => Shares::unknown(sort),
                    false => Shares::zeros(sort),
                };
            Ok(sorts.into_iter().map(nothing).collect())
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let (own, conditions) = self.split(inputs)?;
        let results = self.operation.plain(own)?;
        if all_set(conditions.iter().copied()) {
            return Ok(results);
        }
        let zeros = |value: &Shares| Shares::zeros(*value.sort());
        Ok(results.iter().map(zeros).collect())
    }
}
