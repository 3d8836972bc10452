//! Sums along an axis, which every sharing has without a message.

use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_engine::{Element, Local, Mismatch, Shares, Sort};
use madrigal_kernels::{crew, rings};

use crate::shared::only;

/// Elements to be summed up that are worth a thread's attention.
const SHARED: usize = 1 << 15;

/// Sums along the middle one of three axes: of ring elements, or of bits, modulo 2 each.
#[derive(Debug)]
pub struct SumAxis {
    /// Elements of the middle axis.
    pub count: usize,
    /// Elements of the innermost axis.
    pub inner: usize,
    /// Not one sum, but those of the first element, the first two, and so on.
    pub prefixes: bool,
}

impl SumAxis {
    fn of(&self, value: &Shares) -> Shares {
        let len = self.results(value.len());
        let mut out = value.blank(len);
        let each = self.count * self.inner;
        let made = if self.prefixes { each } else { self.inner };
        if value.sort().sharing.has_labels() {
            self.xor_labels(value, &mut out, each, made);
            return out;
        }
        let width = match value.sort().element {
            Element::Ring(width) => width,
            Element::Bits(planes) => {
                self.xor(value, &mut out, planes);
                return out;
            }
        };
        crate::with_ring!(width, T => {
            for component in 0..value.sort().sharing.components() {
                let from = value.component::<T>(component);
                let to = out.component_mut::<T>(component);
                let sum = |to: &mut [T], from: &[T]| {
                    if self.prefixes {
                        to.copy_from_slice(from);
                        for next in self.inner..each {
                            to[next] = to[next].add(to[next - self.inner]);
                        }
                    } else if self.inner == 1 {
                        to[0] = from.iter().fold(T::ZERO, |sum, x| sum.add(*x));
                    } else {
                        let rows = from.chunks_exact(self.inner);
                        rows.for_each(|row| rings::add_into(to, row));
                    }
                };
                let sums = to.len() / made;
                if !self.prefixes && sums < crew::threads() {
                    // Few long sums: their parts are summed up side by side.
                    for (to, from) in to.chunks_exact_mut(made).zip(from.chunks_exact(each)) {
                        let parts = crew::ranges(self.count, 1, SHARED / self.inner);
                        let parts = crew::map(parts, |rows| {
                            let mut part = Zeroizing::zeros(self.inner);
                            sum(&mut part, &from[rows.start * self.inner..rows.end * self.inner]);
                            part
                        });
                        parts.iter().for_each(|part| rings::add_into(to, part));
                    }
                    continue;
                }
                let parts = crew::slices(to, made, SHARED * made / each);
                crew::each(parts, |(first, to)| {
                    let from = from[first / made * each..].chunks_exact(each);
                    to.chunks_exact_mut(made).zip(from).for_each(|(to, from)| sum(to, from));
                });
            }
        });
        out
    }

    fn results(&self, len: usize) -> usize {
        if self.prefixes { len } else { len / self.count }
    }

    /// Free XOR.
    fn xor_labels(&self, value: &Shares, out: &mut Shares, each: usize, made: usize) {
        let planes = value.sort().element.bits();
        let rows =
            (0..planes).flat_map(|plane| (0..value.label_rows()).map(move |row| (plane, row)));
        for (plane, row) in rows {
            let from = value.label_row(plane, row).chunks_exact(each);
            let to = out.label_row_mut(plane, row).chunks_exact_mut(made);
            for (to, from) in to.zip(from) {
                for (place, &label) in from.iter().enumerate() {
                    if self.prefixes {
                        to[place] = label;
                        if let Some(before) = place.checked_sub(self.inner) {
                            let before = to[before];
                            to[place] ^= before;
                        }
                    } else {
                        let sum = &mut to[place % self.inner];
                        *sum ^= label;
                    }
                }
            }
        }
    }

    fn xor(&self, value: &Shares, out: &mut Shares, planes: usize) {
        let each = self.count * self.inner;
        for plane in 0..planes {
            for component in 0..value.sort().sharing.components() {
                let from = value.plane(plane, component);
                let to = out.plane_mut(plane, component);
                for place in 0..value.len() {
                    let (before, after) = (place / each, place % self.inner);
                    let result = before * self.inner + after;
                    let bit = from[place / 8] >> (place % 8) & 1;
                    to[result / 8] ^= bit << (result % 8);
                }
            }
        }
    }
}

impl Local for SumAxis {
    fn name(&self) -> String {
        let what = if self.prefixes { "prefix-sums" } else { "sum" };
        format!("{what}/1 of {} with {} inside", self.count, self.inner)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        let bits = matches!(value.element, Element::Bits(_));
        if value.sharing.is_clear() || bits && self.prefixes {
            return Err(Mismatch::new(format!("{value} is not shared in a ring")));
        }
        let each = self.count.checked_mul(self.inner).filter(|&each| each > 0);
        match each {
            Some(each) if value.len.is_multiple_of(each) => {
                Ok(vec![value.of_len(self.results(value.len))])
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
        2 * inputs[0].bytes() as u64
    }

    fn shares(&self, inputs: &[&Shares], _: Party) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![self.of(inputs[0])])
    }
}

#[cfg(test)]
mod tests {
    use madrigal_correlations::Width;
    use madrigal_engine::Sharing;
    use madrigal_kernels::Prg;
    use madrigal_kernels::crew::Crew;

    use super::*;

    /// Long sums, many short ones, and prefix sums are the same for every number of threads.
    #[test]
    fn threads_change_nothing() {
        for (count, inner, before) in [(300_000, 1, 1), (7, 20_000, 2), (5, 3, 40_000), (4, 1, 0)] {
            let len = before * count * inner;
            let mut value = Shares::zeros(Sort::new(
                Sharing::R,
                Element::Ring(Width::of::<u64>()),
                len,
            ));
            for component in 0..2 {
                let place = value.component_mut::<u64>(component);
                Prg::new(madrigal_kernels::Block::new(3, component as u64)).fill_words(place);
            }
            for prefixes in [false, true] {
                let sums = SumAxis {
                    count,
                    inner,
                    prefixes,
                };
                let of = |threads| {
                    let sums = Crew::new(threads)
                        .expect("threads")
                        .at_work(|| sums.of(&value));
                    [0, 1].map(|component| sums.component::<u64>(component).to_vec())
                };
                let alone = of(1);
                if !prefixes && before > 0 {
                    let first = (0..count).fold(0_u64, |sum, row| {
                        sum.wrapping_add(value.component::<u64>(0)[row * inner])
                    });
                    assert_eq!(alone[0][0], first);
                }
                for threads in [2, 5] {
                    assert!(of(threads) == alone, "{sums:?} on {threads} threads");
                }
            }
        }
    }
}
