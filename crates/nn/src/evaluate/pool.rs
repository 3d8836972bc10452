//! The greatest elements and the means under a kernel.

use super::elementwise::cast;
use super::strided::{split, strides};
use crate::graph::{Type, Window};
use crate::tensor::{Data, Element, Tensor};

/// Elements under the kernel at one place.
#[derive(Default)]
struct Under {
    /// Places of the elements in a channel.
    offsets: Vec<usize>,
    /// Number of elements that a mean is of.
    counted: usize,
}

impl Under {
    /// Sets the elements under the kernel at the place with these indices. Memory follows the data, however large the kernel.
    fn set(
        &mut self,
        window: &Window,
        counted: Option<&Vec<usize>>,
        data: &[usize],
        place: &[usize],
    ) {
        self.offsets.clear();
        self.offsets.push(0);
        let steps = strides(data);
        let mut declared = 1usize;
        for axis in 0..data.len() {
            let (kernel, dilation) = (window.kernel[axis], window.dilations[axis].max(1));
            let (before, start) = (window.before[axis], place[axis] * window.strides[axis]);
            // Elements of the kernel that lie before `end`, counted from where the padding begins.
            let until = |end: usize| end.saturating_sub(start).div_ceil(dilation).min(kernel);
            let (first, end) = (until(before), until(before + data[axis]));
            if let Some(after) = counted {
                declared = declared.saturating_mul(until(before + data[axis] + after[axis]));
            }
            let outer = std::mem::take(&mut self.offsets);
            for offset in outer {
                let inside = first..end;
                self.offsets.extend(inside.map(|element| {
                    let at = start + element * dilation - before;
                    offset + at * steps[axis] as usize
                }));
            }
        }
        self.counted = match counted {
            Some(_) => declared,
            None => self.offsets.len(),
        };
    }
}

/// Calls `combine` with the elements under each place of each channel, and how many are counted.
fn each<T: Copy>(
    values: &[T],
    (window, counted): (&Window, Option<&Vec<usize>>),
    (data, made): (&[usize], &[usize]),
    start: T,
    combine: impl Fn(&mut dyn Iterator<Item = T>, usize) -> T,
) -> Vec<T> {
    let plane: usize = data.iter().product();
    let places: usize = made.iter().product();
    let planes = values.len().checked_div(plane).unwrap_or(0);
    let mut found = vec![start; planes * places];
    let mut under = Under::default();
    for place in 0..places {
        under.set(window, counted, data, &split(place, made));
        for (channel, values) in values.chunks(plane.max(1)).enumerate() {
            let mut seen = under.offsets.iter().map(|&at| values[at]);
            found[channel * places + place] = combine(&mut seen, under.counted);
        }
    }
    found
}

/// The greatest elements; with `counted`, the means (as in [`crate::Op::AveragePool`]).
pub(super) fn pool(
    window: &Window,
    counted: Option<&Option<Vec<usize>>>,
    input: &Tensor,
    output: &Type,
) -> Tensor {
    let shapes = (&input.shape()[2..], &output.shape[2..]);
    let shape = output.shape.clone();
    if input.is_empty() {
        return Tensor::filled(output.element, shape, 0.0);
    }
    if let Some(counted) = counted {
        let way = (window, counted.as_ref());
        let means = each(&input.to_f64(), way, shapes, 0.0, |under, count| {
            under.sum::<f64>() / count as f64
        });
        let means = Tensor::made(Element::F64, shape, Data::F64(means));
        return cast(&means, output);
    }
    let way = (window, None);
    let data = match input.data() {
        Data::F32(values) => Data::F32(each(values, way, shapes, 0.0, |under, _| {
            let greatest = |a: f32, b: f32| if a.is_nan() || a > b { a } else { b };
            under.fold(f32::NEG_INFINITY, greatest)
        })),
        Data::F64(values) => Data::F64(each(values, way, shapes, 0.0, |under, _| {
            let greatest = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
            under.fold(f64::NEG_INFINITY, greatest)
        })),
        Data::Int(values) => {
            let least = input.element().range().0 as i64;
            let of_u64 = input.element() == Element::U64;
            let greatest = |a: i64, b: i64| match of_u64 {
                true => (a as u64).max(b as u64) as i64,
                false => a.max(b),
            };
            Data::Int(each(values, way, shapes, 0, |under, _| {
                under.fold(least, greatest)
            }))
        }
        Data::Bool(_) => unreachable!("pooling is of numbers"),
    };
    Tensor::made(output.element, shape, data)
}
