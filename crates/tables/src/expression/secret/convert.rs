//! Values in another kind.

use madrigal_program::{Plain, Tensor};

use super::super::Literal;
use super::super::check::{self, divided, divided_unit, product, ten};
use super::texts::codes_of_text;
use super::{Cell, Result, Scope, both_present, fit, public};
use crate::column::Value;
use crate::error::Fault;
use crate::kind::{Kind, Number, Unit};

impl Scope<'_> {
    /// The value in a kind that it goes into.
    pub(crate) fn converted(&mut self, cell: Cell, kind: &Kind) -> Result<Cell> {
        if cell.kind == *kind {
            return Ok(cell);
        }
        // A public value that the kind holds as it is.
        let is_held = |literal: &Literal| match (&literal.value, kind) {
            (Value::Number(value), Kind::Number(to)) => {
                let same = |value| check::rescaled(value, to.unit, literal.unit);
                check::rescaled(*value, literal.unit, to.unit)
                    .is_some_and(|moved| to.contains(moved) && same(moved) == Some(*value))
            }
            _ => true,
        };
        if let Some(literal) = &cell.literal
            && is_held(literal)
            && let Some(code) = literal.in_kind(kind)
        {
            let part = self.constant(kind.elements()[0], code);
            return Ok(Cell::new(kind.clone(), vec![part], cell.present));
        }
        let mut present = cell.present.clone();
        let parts = match (&cell.kind, kind) {
            (Kind::Bool, Kind::Number(to)) => {
                let from = Number::new(Unit::One, 0, 1);
                vec![self.moved(cell.one(), &from, to.unit, to.element())]
            }
            (Kind::Bool, _) => {
                // Only a value that is missing in all rows is of any kind.
                return Ok(self.missing(kind.clone()).with_present(present));
            }
            (Kind::Number(from), Kind::Number(to)) => {
                let (numbers, fits) = self.renumbered(cell.one(), from, to)?;
                present = both_present(&present, &fits);
                vec![numbers]
            }
            (Kind::Ratio(above, below), Kind::Ratio(to_above, to_below)) => vec![
                self.moved(&cell.parts[0], above, to_above.unit, to_above.element()),
                self.moved(&cell.parts[1], below, to_below.unit, to_below.element()),
            ],
            (Kind::Number(from), Kind::Ratio(to_above, to_below)) => {
                let above = self.moved(cell.one(), from, to_above.unit, to_above.element());
                let one = Number::new(Unit::One, 1, 1);
                let below = self.constant(u8::TYPE, 1);
                let below = self.moved(&below, &one, to_below.unit, to_below.element());
                vec![above, below]
            }
            (Kind::Ratio(..), Kind::Number(to)) => {
                let divided = self.divided(cell)?;
                let from = divided.kind.number().expect("a number");
                let (numbers, fits) = self.renumbered(divided.one(), &from, to)?;
                present = both_present(&present, &fits);
                vec![numbers]
            }
            (Kind::Choice(texts), Kind::Choice(others)) => {
                let place = |text: &String| others.binary_search(text).unwrap_or(0);
                let places: Vec<usize> = texts.iter().map(place).collect();
                vec![self.mapped(&cell, &places, others.len())]
            }
            (Kind::Choice(texts), Kind::Text { .. }) => {
                let codes: Vec<Vec<u128>> =
                    texts.iter().map(|text| codes_of_text(text, kind)).collect();
                let elements = kind.elements();
                let mut parts = Vec::new();
                for (at, element) in elements.into_iter().enumerate() {
                    let column = codes.iter().map(|codes| codes[at]);
                    parts.push(match texts.len() {
                        0 => self.constant(element, 0),
                        1 => self.constant(element, codes[0][at]),
                        _ => {
                            let table = public(self.program, element, column);
                            fit(cell.one(), u32::TYPE).find_in(&table)
                        }
                    });
                }
                parts
            }
            (Kind::Text { bytes, .. }, Kind::Text { bytes: to, .. }) => {
                match bytes == to {
                    true => cell.parts.clone(),
                    false => {
                        let own = self.bytes(&cell);
                        // A text that is longer than the kind's is no value of it.
                        if to < bytes {
                            let zero = self.constant(u8::TYPE, 0);
                            let fits = own[*to].equals(&zero);
                            present = both_present(&present, &Some(fits));
                        }
                        let own = &own[..own.len().min(*to)];
                        self.text(own, kind)
                    }
                }
            }
            (from, to) => return Err(Fault::mixed(from, to)),
        };
        Ok(Cell::new(kind.clone(), parts, present))
    }

    /// Numbers in another unit and range, and which of them the range holds, if it may not hold all.
    pub(super) fn renumbered(
        &mut self,
        numbers: &Tensor,
        from: &Number,
        to: &Number,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let digits = |unit: Unit| unit.digits().unwrap_or(0);
        let (a, b) = (digits(from.unit), digits(to.unit));
        let (made, range) = match a <= b {
            true => {
                let range = check::in_unit(from, to.unit)?;
                let element = range.with(to).element();
                (self.moved(numbers, from, to.unit, element), range)
            }
            false => {
                let unit = ten(a - b).ok_or_else(|| Fault::mixed(from, to))?;
                let half = Number::new(from.unit, -unit / 2, unit / 2);
                // The unit itself has room, too.
                let range = check::sum(from, &half, false)?;
                let element = range.with(&Number::new(from.unit, -unit, unit)).element();
                let numbers = fit(numbers, element);
                let up = self.constant(element, (unit / 2) as u128);
                let moved = match from.least < 0 {
                    true => {
                        let zero = self.constant(element, 0);
                        let down = self.constant(element, (-unit / 2) as u128);
                        numbers.plus(&numbers.less(&zero).select(&down, &up))
                    }
                    false => numbers.plus(&up),
                };
                let unit = self.constant(element, unit as u128);
                let round = |end: i128| check::rounded(end, from.unit, to.unit).unwrap_or(0);
                let range = Number::new(to.unit, round(from.least), round(from.greatest));
                (moved.over(&unit), range)
            }
        };
        if !(to.contains(range.least) && to.contains(range.greatest)) {
            let element = range.with(to).element();
            let wide = fit(&made, element);
            let least = self.constant(element, to.least as u128);
            let greatest = self.constant(element, to.greatest as u128);
            let fits = wide.less(&least).or(&greatest.less(&wide)).not();
            let narrow = fit(&made, to.element());
            return Ok((narrow, Some(fits)));
        }
        Ok((fit(&made, to.element()), None))
    }

    /// A ratio as a number with digits after the point, the rest cut off; anything else as it is.
    pub(crate) fn divided(&mut self, cell: Cell) -> Result<Cell> {
        let Kind::Ratio(above, below) = cell.kind.clone() else {
            return Ok(cell);
        };
        let number = divided(&above, &below)?;
        let (_, up) = divided_unit(&above, &below);
        let factor = ten(up).expect("a range that was checked");
        let scaled = product(&above, &Number::new(Unit::One, factor, factor))?;
        let element = scaled
            .with(&Number {
                unit: scaled.unit,
                ..below
            })
            .element();
        let factor = self.constant(element, factor as u128);
        let quotient = fit(&cell.parts[0], element)
            .times(&factor)
            .over(&fit(&cell.parts[1], element));
        let quotient = fit(&quotient, number.element());
        Ok(Cell::new(
            Kind::Number(number),
            vec![quotient],
            cell.present,
        ))
    }
}
