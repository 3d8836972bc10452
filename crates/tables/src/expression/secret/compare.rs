//! Values compared, and truth values combined.

use madrigal_program::Tensor;

use super::super::check::{self, aligned, fraction, product_of};
use super::super::{Literal, Operator};
use super::{Cell, Result, Scope, both_present, fit};
use crate::column::Value;
use crate::kind::Kind;

impl Scope<'_> {
    /// Two values compared.
    pub(super) fn compared(
        &mut self,
        operator: Operator,
        one: Cell,
        other: Cell,
    ) -> Result<Tensor> {
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
    pub(super) fn same_numbers(&mut self, one: &Cell, other: &Cell) -> Result<[Tensor; 2]> {
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

    pub(super) fn compared_texts(
        &mut self,
        operator: Operator,
        one: Cell,
        other: Cell,
    ) -> Result<Tensor> {
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
    pub(super) fn member(&mut self, cell: &Cell, members: &[bool]) -> Tensor {
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

    pub(super) fn among(&mut self, one: &Cell, values: &[Literal]) -> Result<Cell> {
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
}

/// `and` and `or`, of which one operand can decide.
pub(super) fn logic(operator: Operator, one: &Cell, other: &Cell) -> Cell {
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
