//! Numbers computed of numbers.

use madrigal_program::{Plain, Tensor, Type};

use super::super::check::{self, fraction, ten};
use super::super::{DatePart, Operator, days_of};
use super::compare::logic;
use super::{Cell, Result, Scope, both_present, fit};
use crate::kind::{Kind, Number, Unit};

impl Scope<'_> {
    pub(super) fn binary(
        &mut self,
        operator: Operator,
        one: Cell,
        other: Cell,
        kind: &Kind,
    ) -> Result<Cell> {
        if let Operator::And | Operator::Or = operator {
            return Ok(logic(operator, &one, &other));
        }
        let present = both_present(&one.present, &other.present);
        if operator.flipped().is_some() {
            let value = self.compared(operator, one, other)?;
            return Ok(Cell::bool(value, present));
        }
        if let Kind::Number(result) = kind {
            if let Operator::WholeOver | Operator::Rest = operator {
                return Ok(self.whole_over(operator, &one, &other, *result, present));
            }
            let element = result.element();
            let made = match operator {
                Operator::Times => fit(one.one(), element).times(&fit(other.one(), element)),
                _ => {
                    let [one, other] = [&one, &other].map(|cell| {
                        let number = cell.kind.number().expect("a number");
                        self.moved(cell.one(), &number, result.unit, element)
                    });
                    match operator {
                        Operator::Plus => one.plus(&other),
                        _ => one.minus(&other),
                    }
                }
            };
            return Ok(Cell::new(kind.clone(), vec![made], present));
        }
        let [(a, b), (c, d)] = [self.ratio(&one), self.ratio(&other)];
        let [(ka, kb), (kc, kd)] =
            [&one, &other].map(|cell| fraction(&cell.kind).expect("a number or a ratio"));
        let Kind::Ratio(above, below) = kind else {
            unreachable!("all else gives a ratio")
        };
        let [above_type, below_type] = [above.element(), below.element()];
        let times = |x: &Tensor, y: &Tensor, element: Type| fit(x, element).times(&fit(y, element));
        let is_one = |number: &Number| (number.least, number.greatest) == (1, 1);
        // A factor of 1 is left out.
        let product = |x: (&Tensor, &Number), y: (&Tensor, &Number), element: Type| match (
            is_one(x.1) && x.1.unit == Unit::One,
            is_one(y.1) && y.1.unit == Unit::One,
        ) {
            (true, _) => fit(y.0, element),
            (_, true) => fit(x.0, element),
            _ => times(x.0, y.0, element),
        };
        let parts = match operator {
            Operator::Times => vec![
                product((&a, &ka), (&c, &kc), above_type),
                product((&b, &kb), (&d, &kd), below_type),
            ],
            Operator::Over => {
                let zero = check::may_be_zero(&other.kind);
                let mut up = product((&a, &ka), (&d, &kd), above_type);
                let mut down_type = below_type;
                let down_range = check::product(&kb, &kc)?;
                if down_range.least < 0 {
                    down_type = down_range.element();
                }
                let mut down = product((&b, &kb), (&c, &kc), down_type);
                if down_range.least < 0 {
                    let zero = self.constant(down_type, 0);
                    let negative = down.less(&zero);
                    up = negative.select(&up.negate(), &up);
                    down = negative.select(&down.negate(), &down);
                }
                let mut present = present;
                if zero {
                    let none = self.constant(down_type, 0);
                    let one = self.constant(down_type, 1);
                    let is_zero = down.equals(&none);
                    down = is_zero.select(&one, &down);
                    present = both_present(&present, &Some(is_zero.not()));
                }
                return Ok(Cell::new(
                    kind.clone(),
                    vec![up, fit(&down, below_type)],
                    present,
                ));
            }
            _ => {
                let pair = |x: (&Tensor, &Number), y: (&Tensor, &Number)| {
                    (product(x, y, above_type), check::product(x.1, y.1))
                };
                let (ad, ad_range) = pair((&a, &ka), (&d, &kd));
                let (cb, cb_range) = pair((&c, &kc), (&b, &kb));
                let ad = self.moved(&ad, &ad_range?, above.unit, above_type);
                let cb = self.moved(&cb, &cb_range?, above.unit, above_type);
                let sum = match operator {
                    Operator::Plus => ad.plus(&cb),
                    _ => ad.minus(&cb),
                };
                vec![sum, product((&b, &kb), (&d, &kd), below_type)]
            }
        };
        Ok(Cell::new(kind.clone(), parts, present))
    }

    /// Numerator and denominator of a number or a ratio.
    pub(super) fn ratio(&mut self, cell: &Cell) -> (Tensor, Tensor) {
        match &cell.kind {
            Kind::Ratio(..) => (cell.parts[0].clone(), cell.parts[1].clone()),
            _ => (cell.one().clone(), self.constant(u8::TYPE, 1)),
        }
    }

    /// Numbers in a unit of as many digits or more, as elements of a type that holds them.
    pub(super) fn moved(
        &mut self,
        numbers: &Tensor,
        from: &Number,
        to: Unit,
        element: Type,
    ) -> Tensor {
        let numbers = fit(numbers, element);
        match (from.unit.digits(), to.digits()) {
            (Some(from), Some(to)) if from < to => {
                let factor = ten(to - from).expect("a range that was checked");
                let factor = self.constant(element, factor as u128);
                numbers.times(&factor)
            }
            _ => numbers,
        }
    }

    pub(super) fn whole_over(
        &mut self,
        operator: Operator,
        one: &Cell,
        other: &Cell,
        result: Number,
        present: Option<Tensor>,
    ) -> Cell {
        let [a, b] = [one, other].map(|cell| cell.kind.number().expect("a number"));
        let element = a.with(&b).with(&result).element();
        let (x, mut y) = (fit(one.one(), element), fit(other.one(), element));
        let mut present = present;
        if b.contains(0) {
            let [zero, one] = [0, 1].map(|code| self.constant(element, code));
            let is_zero = y.equals(&zero);
            y = is_zero.select(&one, &y);
            present = both_present(&present, &Some(is_zero.not()));
        }
        let made = match operator {
            Operator::WholeOver => x.over(&y),
            _ => x.rest(&y),
        };
        let made = fit(&made, result.element());
        Cell::new(Kind::Number(result), vec![made], present)
    }

    pub(super) fn date_part(&mut self, part: DatePart, one: Cell, kind: &Kind) -> Cell {
        let days = one.kind.number().expect("a date");
        let range = kind.number().expect("a number");
        let element = range.element();
        // Dates beyond the calendar count as its ends.
        let (first, last) = (-719_162_i128, 2_932_896);
        let (least, greatest) = (
            days.least.clamp(first, last),
            days.greatest.clamp(first, last),
        );
        if part == DatePart::Year && range.greatest - range.least <= 64 {
            let day_type = days.element();
            let mut year = self.constant(element, range.least as u128);
            for later in range.least + 1..=range.greatest {
                let start = days_of(later as i32, 1, 1).expect("a year of the calendar");
                let start = self.constant(day_type, i128::from(start) as u128);
                let reached = fit(one.one(), day_type).less(&start).not();
                year = year.plus(&reached.cast(element));
            }
            return Cell::new(kind.clone(), vec![year], one.present);
        }
        // Days are cut into cycles of 400, 100, 4 and 1 years that begin in March (the calendar repeats after 146,097 days), and days of such
        // a year into months of 153 days in five.
        let wide = if days.element().bits() > 64 {
            i128::TYPE
        } else {
            i64::TYPE
        };
        let mut number = |value: i128| self.constant(wide, value as u128);
        let days = fit(one.one(), wide);
        let days = match (least, greatest) {
            _ if (days_least(&one.kind), days_greatest(&one.kind)) == (least, greatest) => days,
            _ => days.max(&number(least)).min(&number(greatest)),
        };
        let z = days.plus(&number(719_468));
        let era = z.over(&number(146_097));
        let doe = z.minus(&era.times(&number(146_097)));
        let yoe = doe
            .minus(&doe.over(&number(1460)))
            .plus(&doe.over(&number(36_524)))
            .minus(&doe.over(&number(146_096)))
            .over(&number(365));
        let leaps = yoe.over(&number(4)).minus(&yoe.over(&number(100)));
        let doy = doe.minus(&yoe.times(&number(365)).plus(&leaps));
        let from_march = doy.times(&number(5)).plus(&number(2)).over(&number(153));
        let made = match part {
            DatePart::Day => {
                let before = from_march
                    .times(&number(153))
                    .plus(&number(2))
                    .over(&number(5));
                doy.minus(&before).plus(&number(1))
            }
            DatePart::Month | DatePart::Year => {
                let this_year = from_march.less(&number(10));
                let month = from_march.plus(&this_year.select(&number(3), &number(-9)));
                match part {
                    DatePart::Month => month,
                    _ => era
                        .times(&number(400))
                        .plus(&yoe)
                        .plus(&this_year.not().cast(wide)),
                }
            }
        };
        Cell::new(kind.clone(), vec![fit(&made, element)], one.present)
    }
}

fn days_least(kind: &Kind) -> i128 {
    kind.number().map_or(0, |number| number.least)
}

fn days_greatest(kind: &Kind) -> i128 {
    kind.number().map_or(0, |number| number.greatest)
}
