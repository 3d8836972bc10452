//! Expressions computed on secrets.

use madrigal_program::{Array, Plain, Program, Secret, Shape, Tensor, Type};

use super::check::{
    self, Typed, aligned, divided, divided_unit, fraction, product, product_of, ten,
};
use super::pattern::{self, Runs};
use super::{DatePart, Expression, Literal, Operator, days_of};
use crate::column::{Column, Value};
use crate::error::Fault;
use crate::kind::{Kind, Number, PART, Unit, place_type};

/// The values of an expression or a column: the elements that the kind says, and whether each is there.
#[derive(Clone)]
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    /// Elements of these types or wider ones, each an element for each row, or a single one for all.
    pub(crate) parts: Vec<Tensor>,
    /// Whether each value is there; all are without it. What is missing has any elements.
    pub(crate) present: Option<Tensor>,
    /// The public value, if it is one.
    literal: Option<Literal>,
}

type Result<T> = std::result::Result<T, Fault>;

/// The columns that expressions are computed of.
pub(crate) struct Scope<'a> {
    pub(crate) program: &'a mut Program,
    pub(crate) columns: &'a [Column],
    pub(crate) cells: &'a [Cell],
}

impl Cell {
    pub(crate) fn new(kind: Kind, parts: Vec<Tensor>, present: Option<Tensor>) -> Self {
        Self {
            kind,
            parts,
            present,
            literal: None,
        }
    }

    fn bool(value: Tensor, present: Option<Tensor>) -> Self {
        Self::new(Kind::Bool, vec![value], present)
    }

    fn with_present(mut self, present: Option<Tensor>) -> Self {
        self.present = present;
        self
    }

    fn one(&self) -> &Tensor {
        &self.parts[0]
    }
}

/// Whether both are there.
fn both_present(one: &Option<Tensor>, other: &Option<Tensor>) -> Option<Tensor> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.clone().or_else(|| other.clone()),
    }
}

/// A type like `element` that is as wide as the widest of tensors.
pub(crate) fn widest<'a>(element: Type, tensors: impl IntoIterator<Item = &'a Tensor>) -> Type {
    let bits = tensors
        .into_iter()
        .map(|tensor| tensor.element().bits())
        .max();
    let bits = bits.unwrap_or(0).max(element.bits());
    let types = match element.is_signed() {
        true => [i8::TYPE, i16::TYPE, i32::TYPE, i64::TYPE, i128::TYPE],
        false => [u8::TYPE, u16::TYPE, u32::TYPE, u64::TYPE, u128::TYPE],
    };
    let wide = types.into_iter().find(|wide| wide.bits() == bits);
    wide.unwrap_or(element)
}

/// The elements in another type of integers, which holds them.
pub(crate) fn fit(tensor: &Tensor, element: Type) -> Tensor {
    match tensor.element() == element {
        true => tensor.clone(),
        false => tensor.cast(element),
    }
}

impl Scope<'_> {
    /// A public element.
    pub(super) fn constant(&mut self, element: Type, code: u128) -> Tensor {
        constant(self.program, element, code)
    }

    fn yes_or_no(&mut self, yes: bool) -> Tensor {
        self.constant(bool::TYPE, yes.into())
    }

    /// Rows in which a condition is there and true.
    pub(crate) fn truth(&mut self, condition: &Expression) -> Result<Tensor> {
        let cell = self.value(condition)?;
        Ok(match &cell.present {
            Some(present) => cell.one().and(present),
            None => cell.one().clone(),
        })
    }

    /// The values of an expression.
    pub(crate) fn value(&mut self, expression: &Expression) -> Result<Cell> {
        let typed = check::typed(expression, self.columns)?;
        let Typed {
            kind: Some(kind), ..
        } = typed
        else {
            return Ok(self.missing(Kind::Bool));
        };
        Ok(match expression {
            Expression::Column(name) => {
                let at = self.columns.iter().position(|column| column.name == *name);
                self.cells[at.expect("a column that was found")].clone()
            }
            Expression::Literal(literal) => self.literal(literal, &kind),
            Expression::Not(one) => {
                let one = self.value(one)?;
                Cell::bool(one.one().not(), one.present)
            }
            Expression::Negate(one) => {
                let mut one = self.value(one)?;
                let element = kind.elements()[0];
                one.parts[0] = fit(&one.parts[0], element).negate();
                Cell::new(kind, one.parts, one.present)
            }
            Expression::IsNull(one) => {
                let one = self.value(one)?;
                let missing = match one.present {
                    Some(present) => present.not(),
                    None => self.yes_or_no(false),
                };
                Cell::bool(missing, None)
            }
            Expression::Binary(operator, one, other) => {
                let known = |side: &Expression| check::typed(side, self.columns);
                let (first, second) = (known(one)?.kind, known(other)?.kind);
                if operator.flipped().is_some() && (first.is_none() || second.is_none()) {
                    return Ok(self.missing(Kind::Bool));
                }
                let (one, other) = (self.value(one)?, self.value(other)?);
                self.binary(*operator, one, other, &kind)?
            }
            Expression::Case(branches, otherwise) => {
                let mut chosen = match otherwise {
                    Some(otherwise) => {
                        let value = self.value(otherwise)?;
                        self.converted(value, &kind)?
                    }
                    None => self.missing(kind.clone()),
                };
                for (when, then) in branches.iter().rev() {
                    let when = self.truth(when)?;
                    let then = self.value(then)?;
                    let then = self.converted(then, &kind)?;
                    chosen = self.choice(&when, &then, &chosen);
                }
                chosen
            }
            Expression::Coalesce(all) => {
                let mut chosen = self.missing(kind.clone());
                for one in all.iter().rev() {
                    let one = self.value(one)?;
                    let one = self.converted(one, &kind)?;
                    chosen = match one.present.clone() {
                        None => one,
                        Some(present) => self.choice(&present, &one, &chosen),
                    };
                }
                chosen
            }
            Expression::Like(one, pattern) => {
                let one = self.value(one)?;
                let parts = pattern::parts(pattern);
                let found = match &one.kind {
                    Kind::Choice(texts) => {
                        let is_like = |text: &String| pattern::matches(&parts, text);
                        let members = texts.iter().map(is_like).collect::<Vec<_>>();
                        self.member(&one, &members)
                    }
                    _ => self.like(&one, &pattern::runs(&parts)),
                };
                Cell::bool(found, one.present)
            }
            Expression::Among(one, _) if check::typed(one, self.columns)?.kind.is_none() => {
                self.missing(Kind::Bool)
            }
            Expression::Among(one, values) => {
                let one = self.value(one)?;
                self.among(&one, values)?
            }
            Expression::Part(part, one) => {
                let one = self.value(one)?;
                self.date_part(*part, one, &kind)
            }
            Expression::Piece(one, from, length) => {
                let one = self.value(one)?;
                self.piece(one, [*from, *length], &kind)
            }
            Expression::Cast(one, _) => {
                let one = self.value(one)?;
                self.converted(one, &kind)?
            }
            Expression::Root(one) => {
                let one = self.value(one)?;
                self.root(one)?
            }
        })
    }

    /// A value that is missing.
    fn missing(&mut self, kind: Kind) -> Cell {
        let elements = kind.elements();
        let mut parts: Vec<Tensor> = elements
            .into_iter()
            .map(|element| self.constant(element, 0))
            .collect();
        if let Kind::Ratio(_, below) = &kind {
            parts[1] = self.constant(below.element(), 1);
        }
        let present = Some(self.yes_or_no(false));
        Cell::new(kind, parts, present)
    }

    fn literal(&mut self, literal: &Literal, kind: &Kind) -> Cell {
        let code = literal.in_kind(kind).unwrap_or(0);
        let part = self.constant(kind.elements()[0], code);
        Cell {
            literal: Some(literal.clone()),
            ..Cell::new(kind.clone(), vec![part], None)
        }
    }

    /// `yes` where a condition is true, else `no`, which is of the same kind.
    fn choice(&mut self, when: &Tensor, yes: &Cell, no: &Cell) -> Cell {
        let parts = yes.parts.iter().zip(&no.parts).zip(yes.kind.elements());
        let parts = parts
            .map(|((yes, no), element)| {
                let element = widest(element, [yes, no]);
                when.select(&fit(yes, element), &fit(no, element))
            })
            .collect();
        let present = match (&yes.present, &no.present) {
            (None, None) => None,
            (Some(yes), None) => Some(when.not().or(yes)),
            (None, Some(no)) => Some(when.or(no)),
            (Some(yes), Some(no)) => Some(when.select(yes, no)),
        };
        Cell::new(yes.kind.clone(), parts, present)
    }

    fn binary(&mut self, operator: Operator, one: Cell, other: Cell, kind: &Kind) -> Result<Cell> {
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
    fn ratio(&mut self, cell: &Cell) -> (Tensor, Tensor) {
        match &cell.kind {
            Kind::Ratio(..) => (cell.parts[0].clone(), cell.parts[1].clone()),
            _ => (cell.one().clone(), self.constant(u8::TYPE, 1)),
        }
    }

    /// Numbers in a unit of as many digits or more, as elements of a type that holds them.
    fn moved(&mut self, numbers: &Tensor, from: &Number, to: Unit, element: Type) -> Tensor {
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

    fn whole_over(
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

    /// Two values compared.
    fn compared(&mut self, operator: Operator, one: Cell, other: Cell) -> Result<Tensor> {
        let texts = |cell: &Cell| matches!(cell.kind, Kind::Choice(_) | Kind::Text { .. });
        if texts(&one) && texts(&other) {
            return self.compared_texts(operator, one, other);
        }
        if one.kind == Kind::Bool {
            return Ok(ordered(
                operator,
                &[one.one().clone()],
                &[other.one().clone()],
            ));
        }
        let [x, y] = self.same_numbers(&one, &other)?;
        Ok(ordered(operator, &[x], &[y]))
    }

    /// Two numbers or ratios as numbers of one unit and type, which are in the same order.
    fn same_numbers(&mut self, one: &Cell, other: &Cell) -> Result<[Tensor; 2]> {
        let [(a, b), (c, d)] = [self.ratio(one), self.ratio(other)];
        let [(ka, kb), (kc, kd)] =
            [one, other].map(|cell| fraction(&cell.kind).expect("a number or a ratio"));
        let mut sides = Vec::new();
        for ((above, above_kind), (below, below_kind)) in [((a, ka), (d, kd)), ((c, kc), (b, kb))] {
            let range = product_of(&above_kind, &below_kind)?;
            let element = range.element();
            let made = match range == above_kind {
                true => above,
                false => fit(&above, element).times(&fit(&below, element)),
            };
            sides.push((made, range));
        }
        let [first, second] = aligned(&sides[0].1, &sides[1].1)?;
        let element = first.with(&second).element();
        let unit = first.unit;
        let mut sides = sides.into_iter();
        let mut next = || {
            let (made, range) = sides.next().expect("two sides");
            self.moved(&made, &range, unit, element)
        };
        Ok([next(), next()])
    }

    fn compared_texts(&mut self, operator: Operator, one: Cell, other: Cell) -> Result<Tensor> {
        // Places in the list say how a public text compares with one of several.
        if let (Kind::Choice(texts), Some(literal)) = (&one.kind, &other.literal) {
            let Value::Text(text) = &literal.value else {
                return Ok(self.yes_or_no(false));
            };
            let holds = |one: &String| compare(operator, one.as_str(), text.as_str());
            let members: Vec<bool> = texts.iter().map(holds).collect();
            return Ok(self.member(&one, &members));
        }
        if one.literal.is_some() && other.literal.is_none() {
            let flipped = operator.flipped().expect("a comparison");
            return self.compared_texts(flipped, other, one);
        }
        let kind = check::both(Some(one.kind.clone()), Some(other.kind.clone()))?;
        let kind = kind.expect("two kinds");
        let one = self.converted(one, &kind)?;
        let other = self.converted(other, &kind)?;
        Ok(ordered(operator, &one.parts, &other.parts))
    }

    /// Whether a value is at a place that a public list says.
    fn member(&mut self, cell: &Cell, members: &[bool]) -> Tensor {
        if let Some(Literal {
            value: Value::Text(_),
            ..
        }) = &cell.literal
        {
            return self.yes_or_no(members.first().copied().unwrap_or(false));
        }
        let wanted = members.iter().filter(|is| **is).count();
        if wanted == 0 || wanted == members.len() {
            return self.yes_or_no(wanted > 0);
        }
        let codes = cell.one();
        let element = codes.element();
        // Runs of places begin where one that is in follows one that is not, and end the other way round.
        let mut runs: Vec<[usize; 2]> = Vec::new();
        for place in (0..members.len()).filter(|&place| members[place]) {
            match runs.last_mut() {
                Some([_, end]) if *end == place => *end += 1,
                _ => runs.push([place, place + 1]),
            }
        }
        let mut found: Option<Tensor> = None;
        for [from, end] in runs {
            let mut below = |place: usize| -> Option<Tensor> {
                let place = (place < members.len()).then_some(place)?;
                let place = self.constant(element, place as u128);
                Some(codes.less(&place))
            };
            let within = match (from, end) {
                _ if end == from + 1 => {
                    let place = self.constant(element, from as u128);
                    codes.equals(&place)
                }
                // Runs do not meet, so of two bounds one holds at least, and both do if they differ.
                (0, end) => below(end).expect("a place beyond the run"),
                (from, end) => match (below(from).expect("a place"), below(end)) {
                    (before, Some(up_to)) => before.xor(&up_to),
                    (before, None) => before.not(),
                },
            };
            // A value is in one run at most.
            found = Some(match found {
                Some(found) => found.xor(&within),
                None => within,
            });
        }
        found.expect("a run")
    }

    fn among(&mut self, one: &Cell, values: &[Literal]) -> Result<Cell> {
        let missing = values.iter().any(|literal| literal.value == Value::Null);
        let values = values.iter().filter(|literal| literal.value != Value::Null);
        let mut found = match &one.kind {
            Kind::Choice(texts) => {
                let listed: Vec<&Literal> = values.collect();
                let is_in = |text: &String| {
                    let text = Value::Text(text.clone());
                    listed.iter().any(|literal| literal.value == text)
                };
                let members: Vec<bool> = texts.iter().map(is_in).collect();
                self.member(one, &members)
            }
            _ => {
                let mut found: Option<Tensor> = None;
                let mut seen: Vec<&Literal> = Vec::new();
                for literal in values {
                    if seen.contains(&literal) {
                        continue;
                    }
                    seen.push(literal);
                    let kind = literal.kind().expect("a value that is there");
                    let other = self.literal(literal, &kind);
                    let equal = self.compared(Operator::Equal, one.clone(), other)?;
                    found = Some(match found {
                        Some(found) => found.or(&equal),
                        None => equal,
                    });
                }
                match found {
                    Some(found) => found,
                    None => self.yes_or_no(false),
                }
            }
        };
        let mut present = one.present.clone();
        if missing {
            // A value that is not found may be the missing one.
            let there = match &present {
                Some(present) => found.and(present),
                None => found.clone(),
            };
            found = there.clone();
            present = Some(there);
        }
        Ok(Cell::bool(found, present))
    }

    fn date_part(&mut self, part: DatePart, one: Cell, kind: &Kind) -> Cell {
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

    /// The bytes of a text, `[bytes, rows]`.
    fn bytes(&mut self, cell: &Cell) -> Vec<Tensor> {
        let (length, _) = check::text_size(&cell.kind);
        let all = cell.parts.iter().flat_map(bytes_of);
        all.take(length).collect()
    }

    /// Texts of a kind, of their bytes.
    fn text(&mut self, bytes: &[Tensor], kind: &Kind) -> Vec<Tensor> {
        let mut parts = Vec::new();
        for (at, element) in kind.elements().into_iter().enumerate() {
            let size = (element.bits() / 8) as usize;
            let own = bytes
                .iter()
                .skip(at * PART)
                .take(size.min(PART))
                .enumerate();
            let mut sum: Option<Tensor> = None;
            for (place, byte) in own {
                let shifted = shifted_left(byte, element, 8 * (size - 1 - place) as u32);
                sum = Some(match sum {
                    Some(sum) => sum.xor(&shifted),
                    None => shifted,
                });
            }
            parts.push(match sum {
                Some(sum) => sum,
                None => self.constant(element, 0),
            });
        }
        parts
    }

    fn piece(&mut self, one: Cell, [from, length]: [usize; 2], kind: &Kind) -> Cell {
        match (&one.kind, kind) {
            (Kind::Choice(texts), Kind::Choice(pieces)) => {
                let place = |text: &String| {
                    let piece = check::piece(text, from, length);
                    pieces.binary_search(&piece).expect("a piece of a text")
                };
                let places: Vec<usize> = texts.iter().map(place).collect();
                let code = self.mapped(&one, &places, pieces.len());
                Cell::new(kind.clone(), vec![code], one.present)
            }
            _ => {
                let bytes = self.bytes(&one);
                let bytes: Vec<Tensor> = bytes.into_iter().skip(from).take(length).collect();
                let parts = self.text(&bytes, kind);
                Cell::new(kind.clone(), parts, one.present)
            }
        }
    }

    /// Places among texts, each exchanged for another one by a public list.
    fn mapped(&mut self, cell: &Cell, places: &[usize], count: usize) -> Tensor {
        let element = place_type(count);
        if places.iter().enumerate().all(|(at, place)| at == *place) {
            return fit(cell.one(), element);
        }
        if let Some(first) = places.first()
            && places.iter().all(|place| place == first)
        {
            return self.constant(element, *first as u128);
        }
        let codes = places.iter().map(|&place| place as u128);
        let table = public(self.program, element, codes);
        fit(cell.one(), u32::TYPE).find_in(&table)
    }

    /// Whether a text has these runs of characters, in this order.
    fn like(&mut self, cell: &Cell, pattern: &Runs) -> Tensor {
        let bytes = self.bytes(cell);
        let length = bytes.len();
        let need: usize = pattern.runs.iter().map(Vec::len).sum();
        if need > length {
            return self.yes_or_no(false);
        }
        if pattern.runs.is_empty() || length == 0 {
            return self.yes_or_no(true);
        }
        let rows = bytes[0].shape().axes().to_vec();
        let stacked: Vec<Tensor> = bytes.iter().map(|byte| byte.expand(0)).collect();
        let all = Tensor::concat(&stacked.iter().collect::<Vec<_>>(), 0).expect("a byte at least");
        let zero = self.constant(u8::TYPE, 0);
        let ended = all.equals(&zero);
        // A text that is as long as it can be ends after its last byte.
        let after = constant_rows(self.program, &rows, true).expand(0);
        let ended = ended.join(&after, 0);
        let mut known: Vec<(Option<u8>, Tensor)> = Vec::new();
        let mut is_byte = |scope: &mut Self, byte: Option<u8>| {
            if let Some((_, found)) = known.iter().find(|one| one.0 == byte) {
                return found.clone();
            }
            let found = match byte {
                Some(byte) => {
                    let byte = scope.constant(u8::TYPE, byte.into());
                    all.equals(&byte)
                }
                None => all.equals(&zero).not(),
            };
            known.push((byte, found.clone()));
            found
        };
        // Whether the runs so far fit, the last of them ending before each place or at it.
        let mut fits: Option<Tensor> = None;
        let last = pattern.runs.len() - 1;
        for (number, run) in pattern.runs.iter().enumerate() {
            let places = length - run.len() + 1;
            let mut matched: Option<Tensor> = None;
            for (offset, &byte) in run.iter().enumerate() {
                let here = is_byte(self, byte).slice(0, offset..offset + places);
                matched = Some(match matched {
                    Some(matched) => matched.and(&here),
                    None => here,
                });
            }
            let mut matched = match matched {
                Some(matched) => matched,
                // The empty pattern is like the empty text alone.
                None => return ended.at(0, 0),
            };
            if let Some(before) = &fits {
                matched = matched.and(&before.slice(0, ..places));
            } else if pattern.from_start {
                let first = matched.slice(0, ..1);
                let no = constant_rows(self.program, &rows, false).expand(0);
                let mut axes = vec![places - 1];
                axes.extend_from_slice(&rows);
                matched = match places {
                    1 => first,
                    _ => first.join(&no.broadcast_to(axes), 0),
                };
            }
            if number == last {
                if pattern.to_end {
                    matched = matched.and(&ended.slice(0, run.len()..run.len() + places));
                }
                return matched.any(0);
            }
            // The next run begins where this one has ended, or later.
            let mut reached = prefix_or(&matched);
            let no = constant_rows(self.program, &rows, false).expand(0);
            let mut axes = vec![run.len()];
            axes.extend_from_slice(&rows);
            reached = no.broadcast_to(axes).join(&reached, 0);
            fits = Some(reached);
        }
        unreachable!("the last run gives the result")
    }

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
    fn renumbered(
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

fn days_least(kind: &Kind) -> i128 {
    kind.number().map_or(0, |number| number.least)
}

fn days_greatest(kind: &Kind) -> i128 {
    kind.number().map_or(0, |number| number.greatest)
}

/// `and` and `or`, of which one operand can decide.
fn logic(operator: Operator, one: &Cell, other: &Cell) -> Cell {
    let is_and = operator == Operator::And;
    let (a, b) = (one.one(), other.one());
    let value = if is_and { a.and(b) } else { a.or(b) };
    if one.present.is_none() && other.present.is_none() {
        return Cell::bool(value, None);
    }
    // An operand that is there decides if it is false, or true for `or`.
    let decides = |cell: &Cell| {
        let decisive = if is_and {
            cell.one().not()
        } else {
            cell.one().clone()
        };
        match &cell.present {
            Some(present) => decisive.and(present),
            None => decisive,
        }
    };
    let (first, second) = (decides(one), decides(other));
    let decided = first.or(&second);
    let present = both_present(&one.present, &other.present).map(|both| both.or(&decided));
    let value = if is_and { decided.not() } else { decided };
    Cell::bool(value, present)
}

/// A comparison of values of several elements, the first of which counts most.
fn ordered(operator: Operator, one: &[Tensor], other: &[Tensor]) -> Tensor {
    let equal = || {
        let pairs = one.iter().zip(other).map(|(one, other)| one.equals(other));
        pairs
            .reduce(|one, other| one.and(&other))
            .expect("an element")
    };
    let less = |one: &[Tensor], other: &[Tensor]| {
        let mut found: Option<Tensor> = None;
        for (a, b) in one.iter().zip(other).rev() {
            let here = a.less(b);
            found = Some(match found {
                Some(found) => here.or(&a.equals(b).and(&found)),
                None => here,
            });
        }
        found.expect("an element")
    };
    match operator {
        Operator::Equal => equal(),
        Operator::Differ => equal().not(),
        Operator::Less => less(one, other),
        Operator::Greater => less(other, one),
        Operator::AtMost => less(other, one).not(),
        _ => less(one, other).not(),
    }
}

fn compare<T: Ord>(operator: Operator, one: T, other: T) -> bool {
    match operator {
        Operator::Equal => one == other,
        Operator::Differ => one != other,
        Operator::Less => one < other,
        Operator::AtMost => one <= other,
        Operator::Greater => one > other,
        _ => one >= other,
    }
}

/// For each place along the first axis whether it or one before is true.
fn prefix_or(values: &Tensor) -> Tensor {
    let places = values.shape().axes()[0];
    let mut all = values.clone();
    let mut step = 1;
    while step < places {
        let later = all.slice(0, step..).or(&all.slice(0, ..places - step));
        all = all.slice(0, ..step).join(&later, 0);
        step *= 2;
    }
    all
}

macro_rules! by_width {
    ($tensor:expr, $element:expr, $typed:ident => $body:expr) => {
        match $element.bits() {
            8 => {
                let $typed: Secret<u8> = $tensor.typed();
                $body
            }
            16 => {
                let $typed: Secret<u16> = $tensor.typed();
                $body
            }
            32 => {
                let $typed: Secret<u32> = $tensor.typed();
                $body
            }
            64 => {
                let $typed: Secret<u64> = $tensor.typed();
                $body
            }
            _ => {
                let $typed: Secret<u128> = $tensor.typed();
                $body
            }
        }
    };
}

/// The bytes of an element, the first of a text first.
fn bytes_of(part: &Tensor) -> Vec<Tensor> {
    let count = part.element().bits() / 8;
    let byte = |at: u32| {
        let shift = 8 * (count - 1 - at);
        by_width!(part, part.element(), typed => {
            let moved = if shift == 0 { typed } else { typed >> shift };
            moved.untyped().cast(u8::TYPE)
        })
    };
    (0..count).map(byte).collect()
}

fn shifted_left(byte: &Tensor, element: Type, shift: u32) -> Tensor {
    let wide = fit(byte, element);
    by_width!(wide, element, typed => {
        let moved = if shift == 0 { typed } else { typed << shift };
        moved.untyped()
    })
}

/// The elements of a text of a kind, whose bytes it has room for.
pub(crate) fn codes_of_text(text: &str, kind: &Kind) -> Vec<u128> {
    let bytes = text.as_bytes();
    let elements = kind.elements();
    let code = |(at, element): (usize, Type)| {
        let size = (element.bits() / 8) as usize;
        let own = bytes.iter().skip(at * PART).take(size);
        let mut code = 0_u128;
        for (place, byte) in own.enumerate() {
            code |= u128::from(*byte) << (8 * (size - 1 - place));
        }
        code
    };
    elements.into_iter().enumerate().map(code).collect()
}

/// The bytes that elements of a text have, without the zeros at its end.
pub(crate) fn text_of_codes(codes: &[u128], kind: &Kind) -> Vec<u8> {
    let elements = kind.elements();
    let mut bytes = Vec::new();
    for (code, element) in codes.iter().zip(elements) {
        let size = (element.bits() / 8) as usize;
        bytes.extend_from_slice(&code.to_be_bytes()[PART - size..]);
    }
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

/// A public element for all rows.
pub(crate) fn constant(p: &mut Program, element: Type, code: u128) -> Tensor {
    let shape = Shape::checked(&[]).expect("a single element");
    let array = Array::from_codes(element, &shape, std::iter::once(code));
    p.tensor_constant(array.expect("one element"))
}

/// Public elements, in a row.
fn public(p: &mut Program, element: Type, codes: impl ExactSizeIterator<Item = u128>) -> Tensor {
    let shape = Shape::checked(&[codes.len()]).expect("a length in memory");
    let array = Array::from_codes(element, &shape, codes);
    p.tensor_constant(array.expect("as many elements"))
}

/// A truth value for each row.
fn constant_rows(p: &mut Program, rows: &[usize], value: bool) -> Tensor {
    let one = constant(p, bool::TYPE, value.into());
    one.broadcast_to(rows.to_vec())
}
