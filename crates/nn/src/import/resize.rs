//! Resampling: along each axis a choice of places, or a product with a matrix of weights.

use super::builder::Builder;
use super::indexing::named_axes;
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, required};
use crate::error::Fault;
use crate::graph::{Op, ValueId};
use crate::tensor::{Data, Element, Tensor};

pub(super) const TABLE: Table = &[("Resize", resize), ("Upsample", upsample)];

/// One axis: its sizes, and their ratio, which may not be exact.
struct Axis {
    old: usize,
    new: usize,
    scale: f64,
    /// The part of the old axis that the new one shows, from 0 to 1.
    region: (f64, f64),
}

/// Method by which places are chosen and weighted.
struct Method {
    mode: String,
    places: String,
    rounding: String,
    /// Coefficient of cubic interpolation.
    cubic: f64,
    exclude_outside: bool,
    antialias: bool,
}

impl Method {
    /// The old place, between elements, of which a new one is made.
    fn source(&self, axis: &Axis, new: usize) -> f64 {
        let x = new as f64;
        let length = axis.scale * axis.old as f64;
        let last = axis.old as f64 - 1.0;
        let half_pixel = (x + 0.5) / axis.scale - 0.5;
        match &self.places[..] {
            "asymmetric" => x / axis.scale,
            "align_corners" if length == 1.0 => 0.0,
            "align_corners" => x * last / (length - 1.0),
            "pytorch_half_pixel" if length == 1.0 => -0.5,
            "tf_half_pixel_for_nn" => (x + 0.5) / axis.scale,
            "half_pixel_symmetric" => {
                let offset = axis.old as f64 / 2.0 * (1.0 - axis.new as f64 / length);
                offset + half_pixel
            }
            "tf_crop_and_resize" => {
                let (start, end) = axis.region;
                match axis.new {
                    1 => (start + end) / 2.0 * last,
                    new => start * last + x * (end - start) * last / (new as f64 - 1.0),
                }
            }
            _ => half_pixel,
        }
    }

    /// The nearest element.
    fn nearest(&self, axis: &Axis, source: f64) -> usize {
        let place = match &self.rounding[..] {
            "floor" => source.floor(),
            "ceil" => source.ceil(),
            "round_prefer_ceil" => (source + 0.5).floor(),
            _ => (source - 0.5).ceil(),
        };
        place.clamp(0.0, axis.old as f64 - 1.0) as usize
    }

    /// The elements around an old place and their weights.
    fn weights(&self, axis: &Axis, source: f64) -> Vec<(usize, f64)> {
        let (reach, a) = if self.mode == "cubic" {
            (2.0, self.cubic)
        } else {
            (1.0, 0.0)
        };
        // Beyond the edge all elements are that at the edge.
        let size = axis.old as f64;
        let source = source.clamp(-size - 2.0, 2.0 * size + 2.0);
        // Where it shrinks, a wider kernel looks at all elements.
        let scale = if self.antialias {
            axis.scale.min(1.0)
        } else {
            1.0
        };
        let first = (source - reach / scale).floor() + 1.0;
        let last = (source + reach / scale).ceil() - 1.0;
        let kernel = |x: f64| {
            let x = x.abs();
            match reach == 1.0 {
                true => (1.0 - x).max(0.0),
                false if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
                false if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
                false => 0.0,
            }
        };
        let end = axis.old as f64 - 1.0;
        let mut found = Vec::new();
        let mut place = first;
        while place <= last {
            let weight = kernel((place - source) * scale);
            if !(self.exclude_outside && (place < 0.0 || place > end)) {
                found.push((place.clamp(0.0, end) as usize, weight));
            }
            place += 1.0;
        }
        let sum: f64 = found.iter().map(|(_, weight)| weight).sum();
        found.iter_mut().for_each(|(_, weight)| *weight /= sum);
        found
    }
}

/// Attributes, with those values that are supported.
fn method(v: &View<'_>) -> Result<Method, Fault> {
    let (places, rounding) = match v.opset < 11 {
        true => ("asymmetric", "floor"),
        false => ("half_pixel", "round_prefer_floor"),
    };
    Ok(Method {
        mode: v.choice("mode", "nearest", "nearest, linear, cubic")?,
        places: v.choice(
            "coordinate_transformation_mode",
            places,
            "half_pixel, asymmetric, align_corners, pytorch_half_pixel, tf_half_pixel_for_nn, \
             half_pixel_symmetric, tf_crop_and_resize",
        )?,
        rounding: v.choice(
            "nearest_mode",
            rounding,
            "round_prefer_floor, round_prefer_ceil, floor, ceil",
        )?,
        cubic: v.float("cubic_coeff_a", -0.75)?,
        exclude_outside: v.flag("exclude_outside", false)?,
        antialias: v.flag("antialias", false)?,
    })
}

/// Scales are an attribute in version 7, and an input since version 9; before there is one for rows and one for columns.
fn upsample(b: &mut Builder, v: &View<'_>) -> Imported {
    let scales = match v.opset {
        ..7 => {
            let scale = |name| Ok::<_, Fault>(required(name, v.maybe_float(name))? as f32);
            vec![1.0, 1.0, scale("height_scale")?, scale("width_scale")?]
        }
        7 | 8 => required("scales", v.floats("scales"))?,
        _ => numbers(b, v, 1, "scales")?
            .iter()
            .map(|&s| s as f32)
            .collect(),
    };
    let mut method = method(v)?;
    (method.places, method.rounding) = ("asymmetric".into(), "floor".into());
    let scales = scales.into_iter().map(f64::from).collect::<Vec<_>>();
    let all: Vec<usize> = (0..b.shape(v.input(0)?).len()).collect();
    let axes = axes(b, v, (&all, &scales), None, &[])?;
    resample(b, v, &method, &axes)
}

fn resize(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let method = method(v)?;
    let named = named_axes(b, x, v.ints("axes")?)?;
    let region = match v.optional(1) {
        Some(_) if method.places == "tf_crop_and_resize" => numbers(b, v, 1, "roi")?,
        _ => Vec::new(),
    };
    let scales_at = if v.opset < 11 { 1 } else { 2 };
    let sizes = match v.optional(3) {
        Some(_) => numbers(b, v, 3, "sizes")?,
        None => Vec::new(),
    };
    if sizes.is_empty() {
        let scales = numbers(b, v, scales_at, "scales")?;
        let axes = axes(b, v, (&named, &scales), None, &region)?;
        return resample(b, v, &method, &axes);
    }
    let policy = v.string("keep_aspect_ratio_policy", "stretch")?;
    let shape = b.shape(x);
    let ratios = named
        .iter()
        .zip(&sizes)
        .map(|(&axis, &size)| size / shape[axis] as f64);
    let ratios: Vec<f64> = ratios.collect();
    let common = match &policy[..] {
        "not_larger" => Some(ratios.iter().copied().fold(f64::INFINITY, f64::min)),
        "not_smaller" => Some(ratios.iter().copied().fold(0.0, f64::max)),
        _ => None,
    };
    let (scales, sizes) = match common {
        None => (ratios, sizes),
        Some(ratio) => {
            let sizes = named
                .iter()
                .map(|&axis| (ratio * shape[axis] as f64 + 0.5).floor());
            (vec![ratio; named.len()], sizes.collect())
        }
    };
    let axes = axes(b, v, (&named, &scales), Some(&sizes), &region)?;
    resample(b, v, &method, &axes)
}

/// Numbers that must be known beforehand.
fn numbers(b: &Builder, v: &View<'_>, index: usize, what: &'static str) -> Result<Vec<f64>, Fault> {
    v.constant(b, index, what).map(|tensor| tensor.to_f64())
}

/// All axes of the operand, of which some are resampled.
fn axes(
    b: &Builder,
    v: &View<'_>,
    (named, scales): (&[usize], &[f64]),
    sizes: Option<&[f64]>,
    region: &[f64],
) -> Result<Vec<Axis>, Fault> {
    let x = v.input(0)?;
    let count = named.len();
    if scales.len() != count || !(region.is_empty() || region.len() == 2 * count) {
        return Err(of_rank(
            b,
            x,
            &format!("{} dimensions to resize", scales.len()),
        ));
    }
    let whole = |&old: &usize| Axis {
        old,
        new: old,
        scale: 1.0,
        region: (0.0, 1.0),
    };
    let mut axes: Vec<Axis> = b.shape(x).iter().map(whole).collect();
    for (number, &at) in named.iter().enumerate() {
        let axis = &mut axes[at];
        axis.scale = scales[number];
        let size = match sizes {
            Some(sizes) => sizes[number],
            None => (axis.old as f64 * axis.scale).floor(),
        };
        let fits = axis.scale > 0.0 && axis.old > 0 && (1.0..2e9).contains(&size);
        if !fits {
            return Err(of_rank(
                b,
                x,
                "a new size of at least 1, by a scale above 0",
            ));
        }
        axis.new = size as usize;
        if let (Some(&start), Some(&end)) = (region.get(number), region.get(number + count)) {
            axis.region = (start, end);
        }
    }
    Ok(axes)
}

fn resample(b: &mut Builder, v: &View<'_>, method: &Method, axes: &[Axis]) -> Imported {
    let mut x = v.input(0)?;
    let rank = axes.len();
    let crops = method.places == "tf_crop_and_resize";
    let mut outside: Option<ValueId> = None;
    for (at, axis) in axes.iter().enumerate() {
        if axis.old == axis.new && axis.scale == 1.0 && axis.region == (0.0, 1.0) {
            continue;
        }
        b.allow(&[axis.new])?;
        let sources: Vec<f64> = (0..axis.new).map(|new| method.source(axis, new)).collect();
        if crops {
            let last = axis.old as f64 - 1.0;
            let beyond = sources.iter().map(|&x| x < 0.0 || x > last).collect();
            let mut shape = vec![1; rank];
            shape[at] = axis.new;
            let mask = b.mask(shape, beyond);
            outside = Some(match outside {
                None => mask,
                Some(others) => b.binary(crate::graph::Binary::Or, others, mask)?,
            });
        }
        if method.mode == "nearest" {
            let places = sources.iter().map(|&source| method.nearest(axis, source));
            x = b.gather(x, at, places.collect())?;
            continue;
        }
        b.allow(&[axis.old, axis.new])?;
        let mut weights = vec![0.0; axis.old * axis.new];
        for (new, &source) in sources.iter().enumerate() {
            for (old, weight) in method.weights(axis, source) {
                weights[old * axis.new + new] += weight;
            }
        }
        let matrix = Tensor::made(Element::F64, vec![axis.old, axis.new], Data::F64(weights));
        let matrix = b.constant(matrix);
        let matrix = b.cast(matrix, b.element(x))?;
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(at, rank - 1);
        x = b.transpose(x, order.clone())?;
        x = b.push(Op::MatMul, &[x, matrix])?;
        x = b.transpose(x, order)?;
    }
    if let Some(outside) = outside {
        let value = b.scalar(x, v.float("extrapolation_value", 0.0)?);
        x = b.push(Op::Select, &[outside, value, x])?;
    }
    Ok(vec![x])
}
