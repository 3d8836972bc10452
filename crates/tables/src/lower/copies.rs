//! Rows copied as often as a secret column says.

use madrigal_program::{Plain, Tensor};

use super::group::codes_of;
use super::needs::Needs;
use super::relation::Relation;
use super::{Lowering, Result, hidden};
use crate::expression::{Cell, Expression, constant, fit};
use crate::frame::{Copies, Frame};
use crate::kind::{Kind, Number, Unit};
use crate::rows::{filled, first_of_group, zeros};

impl Lowering<'_> {
    /// Each row as often as it says, in a table of the declared number of rows (after Krastnikov, Kerschbaum and Stebila 2020, section 5).
    ///
    /// The place of a row's first copy is the number of copies of the rows before it. Rows are sorted with as many empty rows, which have the
    /// places 0, 1, 2, ..., and each empty row takes over the last row before it that has copies.
    pub(super) fn copies(
        &mut self,
        frame: &Frame,
        relation: Relation,
        copies: &Copies,
        needs: &Needs,
    ) -> Result<Relation> {
        let (rows, most) = (relation.rows, copies.most);
        let mut scope = relation.scope(self.program);
        let count = scope.value(&Expression::Column(copies.count.clone()))?;
        // Up to 2^32 rows have up to 2^31 copies each.
        let mut count = fit(&count.full(rows).parts[0], u64::TYPE);
        if let Some(valid) = &relation.valid {
            let none = constant(self.program, u64::TYPE, 0);
            count = valid.select(&count, &none);
        }
        let up_to = count.prefix_sums(0);
        let none = constant(self.program, u64::TYPE, 0);
        let all = match rows {
            0 => none.clone(),
            _ => up_to.at(0, rows - 1),
        };
        let allowed = constant(self.program, u64::TYPE, most as u128);
        let fits = allowed.less(&all).not();
        let name = format!("at most {most} joined rows");
        self.program.require_named(&name, &fits.typed::<bool>());
        let first = up_to.minus(&count);
        // A row that never counts stands behind all copies, for those that are not there.
        let places_type = Number::new(Unit::One, 0, most as i128).element();
        let to_place = |places: &Tensor| fit(places, places_type);
        let empty = codes_of(self.program, places_type, (0..most as u128).collect());
        let key = to_place(&first)
            .join(&to_place(&all).expand(0), 0)
            .join(&empty, 0);
        let is_empty =
            filled(self.program, false, [rows + 1]).join(&filled(self.program, true, [most]), 0);
        let has_copies = none
            .less(&count)
            .join(&filled(self.program, true, [1]), 0)
            .join(&filled(self.program, false, [most]), 0);
        let there =
            filled(self.program, true, [rows]).join(&filled(self.program, false, [1 + most]), 0);
        let mut moving = vec![has_copies, there];
        let own = relation.clone().only(needs);
        for tensor in own
            .cells
            .iter()
            .flat_map(|cell| cell.parts.iter().chain(&cell.present))
        {
            let none = zeros(self.program, tensor.element(), 1 + most);
            moving.push(tensor.join(&none, 0));
        }
        let moving: Vec<&Tensor> = moving.iter().collect();
        let sorted = Tensor::sort_by(&[(&key, false), (&is_empty, false)], &moving);
        let (keys, values) = sorted.split_at(2);
        let mut taken = values[1..].to_vec();
        taken.push(keys[0].clone());
        let mut found = first_of_group(&values[0], &taken);
        let first = found.pop().expect("the place of the first copy");
        let valid = found.remove(0);
        // The number of a copy, from 1.
        let one = constant(self.program, places_type, 1);
        let number = keys[0].minus(&first).plus(&one);
        let mut table = own.clone();
        table.valid = None;
        let mut made = table.with_tensors(found, rows + 1 + most);
        let number_column = frame.columns.last().expect("a number").clone();
        let element = number_column.kind.elements()[0];
        made.cells.push(Cell::new(
            number_column.kind.clone(),
            vec![fit(&number, element)],
            None,
        ));
        made.columns.push(number_column);
        made.valid = Some(valid);
        // Empty rows alone are kept.
        made.columns.push(hidden("kept", Kind::Bool));
        made.cells
            .push(Cell::new(Kind::Bool, vec![keys[1].clone()], None));
        let (made, _) = made.ordered(vec![(keys[1].clone(), true)], false);
        let mut made = made.first(most);
        made.sorted.clear();
        made.steady.clear();
        made.is_canonical = false;
        made.is_front = false;
        Ok(made.in_order_of(&frame.columns, needs))
    }
}
