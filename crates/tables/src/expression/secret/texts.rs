//! Texts: their bytes, pieces and patterns.

use madrigal_program::{Plain, Secret, Tensor, Type};

use super::super::check;
use super::super::pattern::Runs;
use super::{Cell, Scope, constant_rows, fit, public};
use crate::kind::{Kind, PART, place_type};

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

impl Scope<'_> {
    /// The bytes of a text, `[bytes, rows]`.
    pub(super) fn bytes(&mut self, cell: &Cell) -> Vec<Tensor> {
        let (length, _) = check::text_size(&cell.kind);
        let all = cell.parts.iter().flat_map(bytes_of);
        all.take(length).collect()
    }

    /// Texts of a kind, of their bytes.
    pub(super) fn text(&mut self, bytes: &[Tensor], kind: &Kind) -> Vec<Tensor> {
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

    pub(super) fn piece(&mut self, one: Cell, [from, length]: [usize; 2], kind: &Kind) -> Cell {
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
    pub(super) fn mapped(&mut self, cell: &Cell, places: &[usize], count: usize) -> Tensor {
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
    pub(super) fn like(&mut self, cell: &Cell, pattern: &Runs) -> Tensor {
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
