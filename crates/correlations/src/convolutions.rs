//! The text of a convolution: `IMAGESxCHANNELSxROWSxCOLUMNS-FILTERSxROWSxCOLUMNS`, then, where they are not the usual
//! ones and in this order, `-strideAxB`, `-dilationAxB`, `-paddingTOPxBOTTOMxLEFTxRIGHT` and `-groupsN`.

use std::fmt;

use madrigal_core::{Convolution, Product};

use crate::text::{MAX_SIDE, number};

pub(crate) fn write(convolution: &Convolution, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Convolution {
        images,
        groups,
        channels,
        image: [height, width],
        filters,
        filter: [rows, columns],
        stride: [down, right],
        dilation,
        padding: [[top, bottom], [left, after]],
    } = *convolution;
    write!(
        f,
        "{images}x{channels}x{height}x{width}-{filters}x{rows}x{columns}"
    )?;
    if [down, right] != [1, 1] {
        write!(f, "-stride{down}x{right}")?;
    }
    if dilation != [1, 1] {
        write!(f, "-dilation{}x{}", dilation[0], dilation[1])?;
    }
    if [top, bottom, left, after] != [0; 4] {
        write!(f, "-padding{top}x{bottom}x{left}x{after}")?;
    }
    match groups {
        1 => Ok(()),
        _ => write!(f, "-groups{groups}"),
    }
}

struct Text<'a>(&'a Convolution);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.0, f)
    }
}

/// None for what [`write`] does not write.
pub(crate) fn read(text: &str) -> Option<Convolution> {
    let mut parts = text.split('-');
    let [images, channels, height, width] = numbers(parts.next()?)?;
    let [filters, rows, columns] = numbers(parts.next()?)?;
    let mut convolution = Convolution {
        images,
        ..Convolution::new(channels, [height, width], filters, [rows, columns])
    };
    for part in parts {
        if let Some(stride) = part.strip_prefix("stride") {
            convolution.stride = numbers(stride)?;
        } else if let Some(dilation) = part.strip_prefix("dilation") {
            convolution.dilation = numbers(dilation)?;
        } else if let Some(padding) = part.strip_prefix("padding") {
            let [top, bottom, left, right] = numbers(padding)?;
            convolution.padding = [[top, bottom], [left, right]];
        } else {
            [convolution.groups] = numbers(part.strip_prefix("groups")?)?;
        }
    }
    let product = Product::Convolution(convolution);
    product.checked_lengths()?;
    // One convolution has one text.
    let known = product.multiplications() > 0 && Text(&convolution).to_string() == text;
    known.then_some(convolution)
}

fn numbers<const K: usize>(text: &str) -> Option<[usize; K]> {
    let of = |text: &str| match text {
        "0" => Some(0),
        _ => number(text).filter(|&number| number <= MAX_SIDE),
    };
    let all: Option<Vec<usize>> = text.split('x').map(of).collect();
    all?.try_into().ok()
}
