//! Operations that every sharing has without a message: elements in another order, or of a smaller ring.

use std::ops::Range;
use std::sync::Arc;

use madrigal_core::{Digest256, Party, Ring, domains};
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

/// Bits that are worth the attention of several threads.
const SHARED_BITS: usize = 1 << 18;

/// 64 bits from bit `at` on, or those that there are.
fn word_at(words: &[u64], at: usize) -> u64 {
    let (index, shift) = (at / 64, at % 64);
    let low = u64::from_le(words[index]) >> shift;
    match words.get(index + 1) {
        Some(&next) if shift > 0 => low | u64::from_le(next) << (64 - shift),
        _ => low,
    }
}

/// The 32 bits of a word at even places.
fn even(word: u64) -> u64 {
    const HALVES: [(u32, u64); 5] = [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ];
    let even = word & 0x5555_5555_5555_5555;
    HALVES
        .into_iter()
        .fold(even, |word, (by, mask)| (word | word >> by) & mask)
}

/// `count` bits, 1 to 64 of them, of which each is `stride` places from the one before.
fn gathered(words: &[u64], at: usize, stride: isize, count: usize) -> u64 {
    let word = match stride {
        // One bit again and again, of a value that all lanes have.
        0 => (u64::from_le(words[at / 64]) >> (at % 64) & 1).wrapping_neg(),
        1 => word_at(words, at),
        // Windows that move by two, of images.
        2 if count > 32 => even(word_at(words, at)) | even(word_at(words, at + 64)) << 32,
        2 => even(word_at(words, at)),
        _ => {
            let (mut word, mut at) = (0, at as isize);
            for place in 0..count {
                let bit = u64::from_le(words[at as usize / 64]) >> (at as usize % 64) & 1;
                word |= bit << place;
                at += stride;
            }
            word
        }
    };
    word & (u64::MAX >> (64 - count))
}

/// Writes bits one after the other, a word at a time: bits of one byte would wait for each other in memory.
struct BitWriter<'a> {
    to: core::slice::IterMut<'a, u64>,
    word: u64,
    filled: usize,
}

impl<'a> BitWriter<'a> {
    fn new(to: &'a mut [u64]) -> Self {
        Self {
            to: to.iter_mut(),
            word: 0,
            filled: 0,
        }
    }

    /// Writes the lowest `count` bits, 1 to 64; the others are 0.
    fn push(&mut self, bits: u64, count: usize) {
        self.word |= bits << self.filled;
        let before = 64 - self.filled;
        if count < before {
            self.filled += count;
            return;
        }
        self.write();
        self.word = bits.checked_shr(before as u32).unwrap_or(0);
        self.filled = count - before;
    }

    fn write(&mut self) {
        if let Some(to) = self.to.next() {
            *to = self.word.to_le();
        }
    }

    /// Writes what is left.
    fn end(mut self) {
        if self.filled > 0 {
            self.write();
        }
    }
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
                let (shape, source) = (out.shape(), value.shape());
                let rows = out.words_mut().chunks_mut(shape.stride.max(1));
                let is_long = planes * shape.components * self.0.len() >= SHARED_BITS;
                let gather = |(row, to): (usize, &mut [u64])| {
                    let (plane, component) = (row / shape.components, row % shape.components);
                    let from = &value.words()[source.place(plane as u32, component)];
                    let mut to = BitWriter::new(to);
                    self.0.runs(|start, stride, count| {
                        let mut at = start as isize;
                        for first in (0..count).step_by(64) {
                            let some = (count - first).min(64);
                            to.push(gathered(from, at as usize, stride, some), some);
                            at += 64 * stride;
                        }
                    });
                    to.end();
                };
                match is_long {
                    true => crew::each(rows.enumerate(), gather),
                    false => rows.enumerate().for_each(gather),
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
        Shares::concat_rows(values, self.rows)
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
    use madrigal_core::Zeroizing;
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
            let all =
                |len: usize| (0..3).flat_map(move |plane| (0..len).map(move |at| (plane, at)));
            for (plane, at) in all(len) {
                assert_eq!(bit(&turns, plane, 2 * at), bit(&one, plane, at));
                assert_eq!(bit(&turns, plane, 2 * at + 1), bit(&other, plane, at));
            }
            for start in 0..2 {
                let axes = vec![(len - start, 2)];
                let taken = Rearrange(Layout::Grid { start, axes }).of(&turns);
                for (plane, at) in all(taken.len()) {
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

    /// Bits of a value that are nobody's secret.
    fn random_bits(planes: usize, len: usize, seed: u64) -> Shares {
        let mut value = Shares::zeros(Sort::new(Sharing::R, Element::Bits(planes), len));
        Prg::new(madrigal_kernels::Block::new(seed, len as u64)).fill(value.plane_bytes_mut());
        value
    }

    fn bit(value: &Shares, row: (usize, usize), at: usize) -> bool {
        value.plane(row.0, row.1)[at / 8] >> (at % 8) & 1 == 1
    }

    /// Bits in another order are those that the layout names, and beyond them there are zeros, for every stride, at each end of
    /// a word and for every number of threads.
    #[test]
    fn bits_are_gathered_one_by_one_or_many_at_once() {
        const PLANES: usize = 3;
        let axes = |start: usize, axes: &[(usize, isize)]| Layout::Grid {
            start,
            axes: axes.to_vec(),
        };
        let mut layouts = Vec::new();
        for (len, count) in [
            (1, 1),
            (64, 32),
            (65, 33),
            (130, 64),
            (700, 65),
            (60_000, 20_001),
        ] {
            for stride in [1, 2, 3, 0, -1, -2] {
                let far = (count - 1) as isize * stride;
                if far.unsigned_abs() >= len {
                    continue;
                }
                let last = len - 1 - far.unsigned_abs();
                for start in [0, last / 2, last] {
                    let start = start + (-far).max(0) as usize;
                    layouts.push((len, axes(start, &[(count, stride)])));
                }
            }
        }
        for columns in [1, 7, 31, 32, 33, 56, 64, 100] {
            let len = 2 * 5 * 2 * columns;
            layouts.push((
                len,
                axes(1, &[(2, 10 * columns as isize), (5, 2), (columns, 2)]),
            ));
            layouts.push((len, axes(0, &[(columns, 3), (7, 1)])));
        }
        let picked: Vec<u32> = (0..50_000).map(|i| i * 7919 % 60_000).collect();
        layouts.push((60_000, Layout::Picked(picked.into())));
        layouts.push((10, Layout::Picked([].into())));
        for (number, (len, layout)) in layouts.into_iter().enumerate() {
            let value = random_bits(PLANES, len, number as u64);
            let mut wanted = Vec::new();
            layout.runs(|start, stride, count| {
                wanted.extend(
                    (0..count as isize).map(|step| (start as isize + step * stride) as usize),
                );
            });
            let rearrange = Rearrange::new(layout);
            for threads in [1, 3] {
                let crew = Crew::new(threads).expect("threads");
                let found = crew.at_work(|| rearrange.of(&value));
                assert_eq!(found.len(), wanted.len());
                for row in (0..PLANES).flat_map(|plane| [(plane, 0), (plane, 1)]) {
                    let bits = |(to, &from): (usize, &usize)| {
                        bit(&found, row, to) == bit(&value, row, from)
                    };
                    assert!(
                        wanted.iter().enumerate().all(bits),
                        "{rearrange:?} on {threads}"
                    );
                    let beyond = found.len()..8 * found.plane(row.0, row.1).len();
                    assert!(
                        beyond.into_iter().all(|at| !bit(&found, row, at)),
                        "{rearrange:?}"
                    );
                }
            }
        }
    }

    /// Rows of values are joined one after the other, of bits, whether or not they begin at bytes, and of numbers.
    #[test]
    fn rows_are_joined_in_order() {
        const PLANES: usize = 2;
        for (rows, lengths) in [
            (1, vec![3, 0, 64, 7]),
            (3, vec![3, 8, 13]),
            (5, vec![9_000, 17_003]),
            (4, vec![0, 0]),
            (300, vec![1, 2]),
        ] {
            let bits: Vec<Shares> = (0..)
                .zip(&lengths)
                .map(|(seed, each)| random_bits(PLANES, rows * each, seed))
                .collect();
            let numbers: Vec<Shares> = (0_usize..)
                .zip(&lengths)
                .map(|(seed, each)| {
                    let component = |one: usize| {
                        let number = move |at| (at + 1_000_000 * (2 * seed + one)) as u32;
                        Zeroizing::new((0..rows * each).map(number).collect::<Vec<u32>>())
                    };
                    Shares::ring(Sharing::R, [0, 1].map(component).into())
                })
                .collect();
            let mut order = Vec::new();
            for row in 0..rows {
                for (piece, each) in lengths.iter().enumerate() {
                    order.extend((row * each..(row + 1) * each).map(|at| (piece, at)));
                }
            }
            for threads in [1, 3] {
                let join = |values: &[Shares]| {
                    let values: Vec<_> = values.iter().collect();
                    let crew = Crew::new(threads).expect("threads");
                    crew.at_work(|| Concat { rows }.of(&values))
                };
                let (joined, found) = (join(&bits), join(&numbers));
                assert_eq!([joined.len(), found.len()], [order.len(); 2]);
                for (to, &(piece, from)) in order.iter().enumerate() {
                    for row in (0..PLANES).flat_map(|plane| [(plane, 0), (plane, 1)]) {
                        assert_eq!(bit(&joined, row, to), bit(&bits[piece], row, from));
                    }
                    for component in [0, 1] {
                        let number = numbers[piece].component::<u32>(component)[from];
                        assert_eq!(found.component::<u32>(component)[to], number);
                    }
                }
            }
        }
    }
}
