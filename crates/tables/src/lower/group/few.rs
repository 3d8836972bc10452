//! Numbers of groups whose keys are public and few.

use madrigal_program::{Plain, Tensor};

use super::super::relation::{Relation, full};
use super::super::{Lowering, Result};
use super::elements::{codes_of, end, mask};
use super::{Measure, Part, Parts};
use crate::error::Fault;
use crate::expression::{Cell, constant, fit};
use crate::frame::Groups;

/// Groups up to which each row is compared with the keys of each, if these are few and public.
const FEW: usize = 64;

impl Lowering<'_> {
    /// The keys of all groups that there can be, if they are public and few: for each key column its values' codes, and whether they may be missing.
    pub(super) fn few_keys(
        &mut self,
        relation: &Relation,
        groups: &Groups,
        parts: &[Part],
        measures: &[Measure],
    ) -> Result<Option<Vec<Vec<Option<u128>>>>> {
        let simple = parts.iter().all(|part| match part {
            Part::Distinct(_) | Part::Quantile(..) => false,
            Part::Extreme(measure, _) => measures[*measure].cell.parts.len() == 1,
            _ => true,
        });
        if !simple {
            return Ok(None);
        }
        let mut all: Vec<Vec<Option<u128>>> = Vec::new();
        let mut count = 1_usize;
        for key in relation.given(&groups.keys) {
            let column = relation.columns.iter().zip(&relation.cells);
            let Some((column, cell)) = column.into_iter().find(|one| one.0.name == *key) else {
                return Ok(None);
            };
            let Some(values) = column.kind.values().filter(|values| *values <= FEW) else {
                return Ok(None);
            };
            let least = column.kind.number().map_or(0, |number| number.least);
            let codes = (0..values).map(|value| Some((least + value as i128) as u128));
            let missing = cell.present.is_some().then_some(None);
            let codes: Vec<Option<u128>> = codes.chain(missing).collect();
            count = count.saturating_mul(codes.len());
            if count > FEW || count == 0 {
                return Ok(None);
            }
            all.push(codes);
        }
        // A bound that is declared is told of, whatever the way.
        Ok((groups.bound.is_none_or(|bound| bound >= count)).then_some(all))
    }

    /// Numbers of groups that have public keys: each row is compared with each.
    pub(super) fn of_few(
        &mut self,
        relation: &Relation,
        keys: Vec<Vec<Option<u128>>>,
        groups: &Groups,
        measures: &[Measure],
        parts: &[Part],
    ) -> Result<(Relation, Parts)> {
        let rows = relation.rows;
        let mut names: Vec<Vec<Option<u128>>> = vec![Vec::new()];
        let mut flags: Vec<Option<Tensor>> = vec![relation.valid.clone()];
        let mut cells = Vec::new();
        for (key, codes) in relation.given(&groups.keys).zip(&keys) {
            let at = relation
                .columns
                .iter()
                .position(|column| column.name == *key);
            let cell = relation.cells[at.expect("a column that groups are named by")].clone();
            let element = cell.kind.elements()[0];
            let narrow = fit(&cell.parts[0], element);
            let is: Vec<Tensor> = codes
                .iter()
                .map(|code| match (code, &cell.present) {
                    (None, Some(present)) => present.not(),
                    (code, present) => {
                        let code =
                            constant(self.program, element, code.unwrap_or(0) & mask(element));
                        let is = narrow.equals(&code);
                        match present {
                            Some(present) => is.and(present),
                            None => is,
                        }
                    }
                })
                .collect();
            let mut more_names = Vec::new();
            let mut more_flags = Vec::new();
            for (name, flag) in names.iter().zip(&flags) {
                for (code, is) in codes.iter().zip(&is) {
                    more_names.push([name.clone(), vec![*code]].concat());
                    more_flags.push(Some(match flag {
                        Some(flag) => flag.and(is),
                        None => is.clone(),
                    }));
                }
            }
            (names, flags) = (more_names, more_flags);
            cells.push(cell);
        }
        let flags: Vec<Tensor> = flags
            .into_iter()
            .flatten()
            .map(|flag| full(&flag, rows))
            .collect();
        let count = names.len();
        let stacked: Vec<Tensor> = flags.iter().map(|flag| flag.expand(0)).collect();
        let stacked = Tensor::concat(&stacked.iter().collect::<Vec<_>>(), 0).expect("a group");
        let mut made: Parts = Vec::new();
        let mut counts: Option<Tensor> = None;
        let rows_of = |counts: &mut Option<Tensor>| {
            counts
                .get_or_insert_with(|| stacked.cast(u32::TYPE).sum(1))
                .clone()
        };
        for part in parts {
            made.push(match part {
                Part::Rows => vec![rows_of(&mut counts)],
                Part::Values(measure) => match &measures[*measure].cell.present {
                    None => vec![rows_of(&mut counts)],
                    Some(present) => {
                        let there = stacked.and(&present.expand(0).broadcast_to([count, rows]));
                        vec![there.cast(u32::TYPE).sum(1)]
                    }
                },
                Part::Sum(measure, squared, element) => {
                    let value = fit(
                        &self.masked(&measures[*measure].cell, None, |_| 0)[0],
                        *element,
                    );
                    let value = if *squared { value.square() } else { value };
                    // Products of the groups' flags, as numbers, and the column.
                    let ones = stacked.cast(*element);
                    vec![ones.matmul(&value.expand(1)).reshape([count])]
                }
                Part::Extreme(measure, greatest) => {
                    let greatest = *greatest;
                    let all = self.masked(&measures[*measure].cell, None, |element| {
                        end(element, greatest)
                    });
                    let other = constant(
                        self.program,
                        all[0].element(),
                        end(all[0].element(), greatest),
                    );
                    if rows == 0 {
                        made.push(vec![full(&other, count)]);
                        continue;
                    }
                    let all = stacked.select(&all[0].expand(0).broadcast_to([count, rows]), &other);
                    vec![if greatest {
                        all.greatest(1)
                    } else {
                        all.least(1)
                    }]
                }
                Part::Distinct(_) | Part::Quantile(..) => {
                    return Err(Fault::Other("groups that are not sorted".into()));
                }
            });
        }
        let zero = constant(self.program, u32::TYPE, 0);
        let valid = zero.less(&rows_of(&mut counts));
        let mut columns = Vec::new();
        let mut key_cells = Vec::new();
        for (at, (key, cell)) in relation.given(&groups.keys).zip(cells).enumerate() {
            let column = relation.columns.iter().find(|column| column.name == *key);
            let element = cell.kind.elements()[0];
            let codes = names
                .iter()
                .map(|name| name[at].unwrap_or(0) & mask(element));
            let part = codes_of(self.program, element, codes.collect());
            let present = cell.present.is_some().then(|| {
                let there = names.iter().map(|name| u128::from(name[at].is_some()));
                codes_of(self.program, bool::TYPE, there.collect())
            });
            columns.push(column.expect("a key").clone());
            key_cells.push(Cell::new(cell.kind.clone(), vec![part], present));
        }
        let mut relation = Relation::new(columns, key_cells, Some(valid), count);
        // Places are those of public keys, whatever rows there are.
        relation.is_canonical = true;
        Ok((relation, made))
    }
}
