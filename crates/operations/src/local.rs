//! Operations that every sharing has without a message: elements in another order, or of a smaller ring.

use std::ops::Range;
use std::sync::Arc;

use madrigal_core::{Digest256, Party, Ring, Zeroizing, bits, domains};
use madrigal_correlations::Width;
use madrigal_engine::{Element, Local, Mismatch, Shares, Sort};
use madrigal_kernels::crew;

use crate::shared::only;

/// Elements that are worth a thread's attention.
const SHARED: usize = 1 << 14;

/// Where the elements of a result come from.
#[derive(Debug, Clone)]
pub enum Layout {
    /// A grid: for each axis, from the outermost to the innermost, how many steps there are and how far
    /// each goes (0 repeats, a negative one goes back), from the first element on. Slices, transposed
    /// matrices, broadcasts and reversals are grids.
    Grid {
        /// The first element.
        start: usize,
        /// Steps, and elements from one to the next.
        axes: Vec<(usize, isize)>,
    },
    /// Elements by their numbers.
    Picked(Arc<[u32]>),
}

impl Layout {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Grid { axes, .. } => {
                let steps = axes.iter().map(|axis| axis.0);
                if steps.clone().any(|steps| steps == 0) {
                    return 0;
                }
                steps.fold(1, usize::saturating_mul)
            }
            Self::Picked(picked) => picked.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all of them are among `len` elements.
    fn fits(&self, len: usize) -> bool {
        if self.is_empty() {
            return true;
        }
        match self {
            Self::Grid { start, axes } => {
                let (mut low, mut high) = (*start as i128, *start as i128);
                for &(steps, stride) in axes {
                    let far = (steps as i128 - 1) * stride as i128;
                    low += far.min(0);
                    high += far.max(0);
                }
                low >= 0 && high < len as i128
            }
            Self::Picked(picked) => picked.iter().all(|&at| (at as usize) < len),
        }
    }

    /// Cuts it into layouts that follow each other, for the [crew] at work.
    fn parts(&self) -> Vec<Self> {
        let len = self.len();
        match self {
            _ if crew::threads() == 1 => vec![self.clone()],
            Self::Picked(picked) => crew::ranges(len, 1, SHARED)
                .map(|part| Self::Picked(picked[part].into()))
                .collect(),
            Self::Grid { start, axes } => {
                let Some(axis) = axes.iter().position(|axis| axis.0 > 1) else {
                    return vec![self.clone()];
                };
                let (steps, stride) = axes[axis];
                let least = (SHARED * steps).div_ceil(len.max(1));
                let part = |range: Range<usize>| {
                    let mut axes = axes.clone();
                    axes[axis].0 = range.len();
                    Self::Grid {
                        start: (*start as isize + range.start as isize * stride) as usize,
                        axes,
                    }
                };
                match len {
                    0 => vec![self.clone()],
                    _ => crew::ranges(steps, 1, least).map(part).collect(),
                }
            }
        }
    }

    /// Calls `run` with the first element, the step and the number of steps of each run of the innermost
    /// axis, in order.
    fn runs(&self, mut run: impl FnMut(usize, isize, usize)) {
        if self.is_empty() {
            return;
        }
        let (start, axes) = match self {
            Self::Picked(picked) => {
                return picked.iter().for_each(|&at| run(at as usize, 1, 1));
            }
            Self::Grid { start, axes } => (*start, axes),
        };
        let Some((&(count, stride), outer)) = axes.split_last() else {
            return run(start, 1, 1);
        };
        let mut places = vec![0; outer.len()];
        let mut at = start as isize;
        loop {
            run(at as usize, stride, count);
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else {
                    return;
                };
                axis = next;
                let (steps, stride) = outer[axis];
                places[axis] += 1;
                at += stride;
                if places[axis] < steps {
                    break;
                }
                at -= stride * steps as isize;
                places[axis] = 0;
            }
        }
    }
}

/// Masks of the pairs, fours, ... of bits that lie side by side when every other bit is taken.
const GATHERED: [(u32, u64); 5] = [
    (1, 0x3333_3333_3333_3333),
    (2, 0x0f0f_0f0f_0f0f_0f0f),
    (4, 0x00ff_00ff_00ff_00ff),
    (8, 0x0000_ffff_0000_ffff),
    (16, 0x0000_0000_ffff_ffff),
];

/// Every other bit.
const EVERY_OTHER: u64 = 0x5555_5555_5555_5555;

/// A word of eight bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Every other one of `2 * count` bits from one on, of 128 at most.
fn every_other(string: &[u8], start: usize, count: usize) -> u64 {
    let mut buffer = [0; 16];
    bits::take(string, start, &mut buffer, 2 * count - 1);
    let half = |bytes: &[u8]| {
        let mut bits = word(bytes) & EVERY_OTHER;
        for (by, mask) in GATHERED {
            bits = (bits | bits >> by) & mask;
        }
        bits
    };
    let every_other = half(&buffer[..8]) | half(&buffer[8..]) << 32;
    every_other
}

/// Bits of two words in turn, in two words.
fn in_turn(one: u64, other: u64) -> [u64; 2] {
    let spread = |half: u64| {
        let mut bits = half;
        for at in (0..GATHERED.len()).rev() {
            let (by, _) = GATHERED[at];
            let mask = at.checked_sub(1).map_or(EVERY_OTHER, |at| GATHERED[at].1);
            bits = (bits | bits << by) & mask;
        }
        bits
    };
    [0, 32].map(|shift| {
        let half = |word: u64| spread(word >> shift & 0xffff_ffff);
        half(one) | half(other) << 1
    })
}

/// Elements in another order, some of them perhaps several times or not at all.
#[derive(Debug)]
pub struct Rearrange(Layout);

impl Rearrange {
    /// In this order.
    pub const fn new(layout: Layout) -> Self {
        Self(layout)
    }

    fn of(&self, value: &Shares) -> Shares {
        let sort = value.sort().of_len(self.0.len());
        if !value.is_known() {
            return Shares::unknown(sort);
        }
        let mut out = value.blank(self.0.len());
        let components = 0..sort.sharing.components();
        match sort.element {
            Element::Bits(planes) if sort.sharing.has_labels() => {
                for (plane, row) in
                    (0..planes).flat_map(|p| (0..value.label_rows()).map(move |r| (p, r)))
                {
                    let from = value.label_row(plane, row);
                    let mut to = out.label_row_mut(plane, row).iter_mut();
                    self.0.runs(|start, stride, count| {
                        let mut at = start as isize;
                        for to in to.by_ref().take(count) {
                            *to = from[at as usize];
                            at += stride;
                        }
                    });
                }
            }
            Element::Ring(width) => crate::with_ring!(width, T => {
                let parts = self.0.parts();
                for component in components {
                    let from = value.component::<T>(component);
                    let mut rest = out.component_mut::<T>(component);
                    let parts = parts.iter().map(|part| {
                        let (to, after) = std::mem::take(&mut rest).split_at_mut(part.len());
                        rest = after;
                        (part, to)
                    });
                    crew::each(parts, |(part, to)| {
                        let mut to = to.iter_mut();
                        part.runs(|start, stride, count| {
                            let mut at = start as isize;
                            for to in to.by_ref().take(count) {
                                *to = from[at as usize];
                                at += stride;
                            }
                        });
                    });
                }
            }),
            Element::Bits(planes) => {
                let mut buffer = Zeroizing::new(vec![0; bits::bytes_for(value.len())]);
                for plane in 0..planes {
                    for component in components.clone() {
                        let from = value.plane(plane, component);
                        let to = out.plane_mut(plane, component);
                        let mut next = 0;
                        self.0.runs(|start, stride, count| {
                            if stride == 1 && count > 8 {
                                bits::take(from, start, &mut buffer, count);
                                bits::put(to, next, &buffer, count);
                                next += count;
                                return;
                            }
                            let mut at = start as isize;
                            if stride == 2 {
                                for first in (0..count).step_by(64) {
                                    let some = (count - first).min(64);
                                    let word = every_other(from, start + 2 * first, some);
                                    bits::put(to, next, &word.to_le_bytes(), some);
                                    next += some;
                                }
                                return;
                            }
                            for first in (0..count).step_by(64) {
                                // In a register: bits of one byte would wait for each other in memory.
                                let (mut word, some) = (0_u64, (count - first).min(64));
                                for place in 0..some {
                                    let (byte, bit) = (at as usize / 8, at as usize % 8);
                                    word |= u64::from(from[byte] >> bit & 1) << place;
                                    at += stride;
                                }
                                bits::put(to, next, &word.to_le_bytes(), some);
                                next += some;
                            }
                        });
                    }
                }
            }
        }
        out
    }
}

impl Local for Rearrange {
    fn name(&self) -> String {
        match &self.0 {
            Layout::Grid { start, axes } => {
                let axis = |(steps, stride): &(usize, isize)| format!("{steps}*{stride}");
                let axes: Vec<_> = axes.iter().map(axis).collect();
                format!("rearrange/1 from {start} by {}", axes.join(","))
            }
            Layout::Picked(picked) => {
                use sha2::{Digest, Sha256};
                let mut hash = Sha256::new_with_prefix(domains::PICKED);
                picked.iter().for_each(|at| hash.update(at.to_le_bytes()));
                let digest = Digest256::from(hash.finalize());
                format!("rearrange/1 {} picked ({digest})", picked.len())
            }
        }
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        if !self.0.fits(value.len) {
            return Err(Mismatch::new(format!(
                "{value} has not all of these elements"
            )));
        }
        Ok(vec![value.of_len(self.0.len())])
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        4 * inputs[0].of_len(self.0.len()).bytes() as u64
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![self.of(inputs[0])])
    }
}

/// Values joined row by row: each row has first the elements of the first value, then those of the second, and so on.
/// Where there is one row, values come one after the other.
#[derive(Debug)]
pub struct Concat {
    /// Number of rows that all values have.
    pub rows: usize,
}

impl Concat {
    fn of(&self, values: &[&Shares]) -> Shares {
        if self.rows == 1 {
            return Shares::concat(values);
        }
        let len = values.iter().map(|value| value.len()).sum();
        let sort = values[0].sort().of_len(len);
        if values.iter().any(|value| !value.is_known()) {
            return Shares::unknown(sort);
        }
        let like = values.iter().find(|value| !value.is_empty());
        let mut out = like.unwrap_or(&values[0]).blank(len);
        let in_turns = values.iter().all(|value| value.len() == self.rows);
        if let (&[one, other], Element::Bits(planes), true) = (values, sort.element, in_turns)
            && !sort.sharing.has_labels()
        {
            for plane in 0..planes {
                for component in 0..sort.sharing.components() {
                    let [one, other] = [one, other].map(|value| value.plane(plane, component));
                    let to = out.plane_mut(plane, component).chunks_exact_mut(8);
                    let words = one.chunks_exact(8).zip(other.chunks_exact(8));
                    let words = words.flat_map(|(one, other)| in_turn(word(one), word(other)));
                    to.zip(words)
                        .for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
                    let (row, padding) = out
                        .plane_mut(plane, component)
                        .split_at_mut(bits::bytes_for(len));
                    bits::clear_tail(row, len);
                    padding.fill(0);
                }
            }
            return out;
        }
        let mut at = 0;
        for row in 0..self.rows {
            for value in values {
                let each = value.len() / self.rows;
                out.put(at, value, row * each..(row + 1) * each);
                at += each;
            }
        }
        out
    }
}

impl Local for Concat {
    fn name(&self) -> String {
        format!("concat/1 of {} rows", self.rows)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let Some(first) = inputs.first() else {
            return Err(Mismatch::new("no value given"));
        };
        if let Some(other) = inputs.iter().find(|sort| sort.of_len(0) != first.of_len(0)) {
            return Err(Mismatch::new(format!("{first} before {other}")));
        }
        let rows = |sort: &Sort| self.rows > 0 && sort.len.is_multiple_of(self.rows);
        if let Some(other) = inputs.iter().find(|sort| !rows(sort)) {
            return Err(Mismatch::new(format!("{other} in {} rows", self.rows)));
        }
        let len = inputs.iter().map(|sort| sort.len).sum();
        Ok(vec![first.of_len(len)])
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        inputs.iter().map(|sort| 2 * sort.bytes() as u64).sum()
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![self.of(inputs)])
    }
}

/// Elements at one place of the middle one of three axes, which all know when it is read.
#[derive(Debug)]
pub struct Row {
    /// Elements of the middle axis.
    pub count: usize,
    /// Elements of the innermost axis.
    pub inner: usize,
}

impl Row {
    fn of(&self, value: &Shares, place: &Shares) -> Result<Shares, Mismatch> {
        let Element::Ring(width) = place.sort().element else {
            return Err(Mismatch::new("a place is a number"));
        };
        let place = crate::with_ring!(width, T => place.component::<T>(0)[0].to_u128());
        if place >= self.count as u128 {
            return Err(Mismatch::new(format!(
                "no place {place} among {}",
                self.count
            )));
        }
        let layout = Layout::Grid {
            start: place as usize * self.inner,
            axes: vec![
                (
                    value.len() / (self.count * self.inner),
                    (self.count * self.inner) as isize,
                ),
                (self.inner, 1),
            ],
        };
        Ok(Rearrange(layout).of(value))
    }
}

impl Local for Row {
    fn name(&self) -> String {
        format!("row/1 of {} with {} inside", self.count, self.inner)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [value, place] = inputs else {
            return Err(Mismatch::new("a value and a place wanted"));
        };
        if !place.sharing.is_public(parties) || place.len != 1 {
            return Err(Mismatch::new(format!("{place} is no public place")));
        }
        let each = self.count.checked_mul(self.inner).filter(|&each| each > 0);
        match each {
            Some(each) if value.len.is_multiple_of(each) => {
                Ok(vec![value.of_len(value.len / self.count)])
            }
            _ => Err(Mismatch::new(format!(
                "{value} has no axes of {} and {} elements",
                self.count, self.inner
            ))),
        }
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        (2 * inputs[0].bytes() / self.count) as u64
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        false
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![self.of(inputs[0], inputs[1])?])
    }
}

/// Elements of a smaller ring: what is left modulo its size.
#[derive(Debug)]
pub struct Narrow(Width);

impl Narrow {
    /// Into this ring.
    pub const fn new(width: Width) -> Self {
        Self(width)
    }

    fn of(&self, value: &Shares) -> Shares {
        let sort = Sort {
            element: Element::Ring(self.0),
            ..*value.sort()
        };
        if !value.is_known() {
            return Shares::unknown(sort);
        }
        let mut out = Shares::zeros(sort);
        let Element::Ring(from) = value.sort().element else {
            unreachable!("checked by sorts");
        };
        crate::with_ring!(from, F => crate::with_ring!(self.0, T => {
            for component in 0..sort.sharing.components() {
                let elements = value.component::<F>(component).iter();
                let to = out.component_mut::<T>(component).iter_mut();
                to.zip(elements).for_each(|(to, from)| *to = T::from_u128(from.to_u128()));
            }
        }));
        out
    }
}

impl Local for Narrow {
    fn name(&self) -> String {
        format!("narrow/1 to u{}", self.0.bits())
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        match value.element {
            Element::Ring(width) if width >= self.0 => Ok(vec![Sort {
                element: Element::Ring(self.0),
                ..*value
            }]),
            _ => Err(Mismatch::new(format!("{value} is not of a larger ring"))),
        }
    }

    fn touched(&self, inputs: &[Sort]) -> u64 {
        2 * inputs[0].bytes() as u64
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![self.of(inputs[0])])
    }
}

#[cfg(test)]
mod tests {
    use madrigal_engine::Sharing;
    use madrigal_kernels::Prg;
    use madrigal_kernels::crew::Crew;

    use super::*;

    /// Every other bit is taken, and two rows of bits are put in turns, as bit by bit: for lengths around whole words.
    #[test]
    fn bits_are_taken_and_put_in_turns() {
        let bit = |value: &Shares, plane: usize, at: usize| {
            [0, 1].map(|one| value.plane(plane, one)[at / 8] >> (at % 8) & 1)
        };
        let random = |seed: u64, len: usize| {
            let mut value = Shares::zeros(Sort::new(Sharing::R, Element::Bits(3), len));
            Prg::new(madrigal_kernels::Block::new(seed, 9)).fill(value.plane_bytes_mut());
            value
        };
        for len in [1, 2, 7, 63, 64, 65, 127, 128, 129, 1000] {
            let (one, other) = (random(1, len), random(2, len));
            let turns = Concat { rows: len }.of(&[&one, &other]);
            for (plane, at) in (0..3).flat_map(|plane| (0..len).map(move |at| (plane, at))) {
                assert_eq!(bit(&turns, plane, 2 * at), bit(&one, plane, at));
                assert_eq!(bit(&turns, plane, 2 * at + 1), bit(&other, plane, at));
            }
            for start in 0..2 {
                let axes = vec![(len - start, 2)];
                let taken = Rearrange(Layout::Grid { start, axes }).of(&turns);
                for (plane, at) in
                    (0..3).flat_map(|plane| (0..taken.len()).map(move |at| (plane, at)))
                {
                    assert_eq!(bit(&taken, plane, at), bit(&turns, plane, 2 * at + start));
                }
            }
        }
    }

    /// Grids with repeated, backward and single steps, and picked elements are the same for every number of threads; so are
    /// values put together.
    #[test]
    fn threads_change_nothing() {
        let len = 200_000;
        let mut value = Shares::zeros(Sort::new(
            Sharing::R,
            Element::Ring(Width::of::<u32>()),
            len,
        ));
        for component in 0..2 {
            let mut bytes = vec![0; 4 * len];
            Prg::new(madrigal_kernels::Block::new(4, component as u64)).fill(&mut bytes);
            let place = value.component_mut::<u32>(component).iter_mut();
            let words = bytes.chunks_exact(4);
            place
                .zip(words)
                .for_each(|(to, from)| *to = Ring::read(from));
        }
        let grid = |start, axes: &[(usize, isize)]| Layout::Grid {
            start,
            axes: axes.to_vec(),
        };
        let picked: Vec<u32> = (0..100_000).map(|i| i * 7919 % len as u32).collect();
        let layouts = [
            grid(0, &[(400, 1), (500, 400)]),
            grid(len - 1, &[(1, 9), (len, -1)]),
            grid(5, &[(300, 0), (100, 3)]),
            grid(0, &[(0, 1), (5, 1)]),
            grid(7, &[]),
            Layout::Picked(picked.into()),
        ];
        let both = |shares: &Shares| [0, 1].map(|one| shares.component::<u32>(one).to_vec());
        for layout in layouts {
            let rearrange = Rearrange::new(layout);
            let of = |threads| {
                let crew = Crew::new(threads).expect("threads");
                both(&crew.at_work(|| rearrange.of(&value)))
            };
            let alone = of(1);
            assert_eq!(alone[0].len(), rearrange.0.len());
            for threads in [2, 5] {
                assert!(of(threads) == alone, "{rearrange:?} on {threads} threads");
            }
        }
        let pieces = [0..70_000, 70_000..70_000, 70_000..len].map(|range| value.slice(range));
        let whole = Crew::new(3)
            .expect("threads")
            .at_work(|| Shares::concat(&pieces.each_ref()));
        assert!(both(&whole) == both(&value));
    }
}
