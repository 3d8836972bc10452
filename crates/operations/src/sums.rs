//! Sums along an axis, which every sharing has without a message.

use madrigal_core::{Party, Ring};
use madrigal_engine::{Element, Local, Mismatch, Shares, Sort};

use crate::shared::only;

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
                let from = value.component::<T>(component).chunks_exact(each);
                let to = out.component_mut::<T>(component).chunks_exact_mut(made);
                for (to, from) in to.zip(from) {
                    if self.prefixes {
                        to.copy_from_slice(from);
                        for next in self.inner..each {
                            to[next] = to[next].add(to[next - self.inner]);
                        }
                    } else if self.inner == 1 {
                        to[0] = from.iter().fold(T::ZERO, |sum, x| sum.add(*x));
                    } else {
                        let rows = from.chunks_exact(self.inner);
                        rows.for_each(|row| madrigal_kernels::rings::add_into(to, row));
                    }
                }
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
