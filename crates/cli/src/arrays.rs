//! Values of programs as files: arrays of NumPy and tables.

use std::path::{Path, PathBuf};

use madrigal_app::failure::Fault;
use madrigal_core::Zeroizing;
use madrigal_models::data::{ends, read_array};
use madrigal_nn::{Data, Element, Tensor, csv, npy};
use madrigal_program::{Array, Type};

use crate::exit::{Result, Status};

/// A value that a file of this kind cannot hold.
#[derive(Debug, thiserror::Error)]
#[error("{}: an array of numpy.save has no elements of type {element}: give a name that ends in .csv", path.display())]
struct Unwritable {
    path: PathBuf,
    element: Type,
}

impl Fault for Unwritable {
    fn status(&self) -> Status {
        Status::Usage
    }
}

/// The elements of an array of NumPy as text, and its shape. Text is exact for integers of every width, and for all floats.
pub fn npy_text(bytes: &[u8], path: &Path) -> Result<(Zeroizing<String>, Vec<usize>)> {
    let tensor = read_array(bytes, path)?;
    let text = match tensor.element().is_float() {
        true => {
            let numbers = tensor.to_f64();
            let texts = numbers.iter().map(|number| format!("{number}\n"));
            texts.collect()
        }
        false => csv::write(&tensor),
    };
    Ok((Zeroizing::new(text), tensor.shape().to_vec()))
}

/// The bytes of a file of this name: an array of NumPy if it ends so, else a table.
pub fn file_of(array: &Array, path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    Ok(Zeroizing::new(match ends(path, "npy") {
        true => npy::write(&tensor(array, path)?),
        false => table(array).as_bytes().to_vec(),
    }))
}

/// The elements, a line for each place along the first axis.
pub fn table(array: &Array) -> Zeroizing<String> {
    let axes = array.shape().axes();
    let columns: usize = axes.get(1..).unwrap_or(&[]).iter().product();
    let mut text = Zeroizing::new(String::new());
    for (place, element) in array.texts().enumerate() {
        if place > 0 {
            text.push(if place % columns.max(1) == 0 {
                '\n'
            } else {
                ','
            });
        }
        text.push_str(&element);
    }
    text.push('\n');
    text
}

/// The elements as NumPy has them: numbers with a fixed point as `float64`.
fn tensor(array: &Array, path: &Path) -> Result<Tensor> {
    let element = array.element();
    let integer = match (element.bits(), element.is_signed()) {
        (8, false) => Element::U8,
        (16, false) => Element::U16,
        (32, false) => Element::U32,
        (64, false) => Element::U64,
        (8, true) => Element::I8,
        (16, true) => Element::I16,
        (32, true) => Element::I32,
        _ => Element::I64,
    };
    let (element, data) = match element {
        _ if element.is_bool() => {
            let bits = array.codes().map(|code| code == 1);
            (Element::Bool, Data::Bool(bits.collect()))
        }
        _ if element.fraction() > 0 => (Element::F64, Data::F64(array.to_f64())),
        _ if element.bits() > 64 => {
            let path = path.to_owned();
            return Err(Unwritable { path, element }.into());
        }
        _ => {
            let unused = 64 - element.bits();
            let signed = |code: u128| match element.is_signed() {
                true => (code as i64) << unused >> unused,
                false => code as i64,
            };
            (integer, Data::Int(array.codes().map(signed).collect()))
        }
    };
    let shape = array.shape().axes().to_vec();
    let tensor = Tensor::new(element, shape, data);
    tensor.map_err(crate::exit::Failure::bug)
}
