//! `combine`: output shares of all servers, put together.

use std::path::{Path, PathBuf};

use madrigal_app::failure::Fault;
use madrigal_app::files::{Output, check, named, write_result};
use madrigal_clients::{Expected, Purpose, Received, ShareFileError, combine, read_file};
use madrigal_core::Zeroizing;
use madrigal_net::sealing::SealingKey;
use madrigal_nn::{Data, Element, Tensor, npy};
use madrigal_program::{Array, Shape, Type};

use crate::args::Combine;
use crate::data::ends;
use crate::exit::{Result, Status};
use crate::figures::print;

/// Shares that give no value.
#[derive(Debug, thiserror::Error)]
enum Uncombined {
    #[error(transparent)]
    File(#[from] ShareFileError),
    #[error("{}: its type `{}` is none that this program knows: use the version that the servers use", file.display(), found.escape_debug())]
    Type { file: PathBuf, found: String },
    #[error("--out {}: an array of numpy.save has no elements of type {element}: give a name that ends in .csv", path.display())]
    Wide { path: PathBuf, element: Type },
}

impl Fault for Uncombined {
    fn status(&self) -> Status {
        match self {
            Self::File(_) | Self::Type { .. } => Status::File,
            Self::Wide { .. } => Status::Usage,
        }
    }
}

pub fn run(args: Combine) -> Result<()> {
    let out = Output {
        flag: "--out",
        action: "write the value",
        path: args.out.as_deref(),
    };
    check(
        args.files.iter().chain(&args.key).map(PathBuf::as_path),
        &[out],
    )?;
    let key = args
        .key
        .as_deref()
        .map(|path| SealingKey::load(path, args.key_mode.into()));
    let key = key.transpose()?;
    let read = |file: &PathBuf| -> Result<Received, Uncombined> {
        let share = read_file(file, key.as_ref())?;
        Expected::any(Purpose::Output)
            .check(&share)
            .map_err(|fault| ShareFileError {
                value: Some(share.header().in_words()),
                file: file.clone(),
                fault: Box::new(fault),
            })?;
        let file = file.clone();
        Ok(Received { file, share })
    };
    let files: Vec<Received> = args.files.iter().map(read).collect::<Result<_, _>>()?;
    let (header, value) = combine(files).map_err(Uncombined::from)?;
    let names = header.named();
    let shape = Shape::checked(&names.shape);
    let element = names.element_type.parse::<Type>().ok();
    let array = element
        .zip(shape)
        .and_then(|(element, shape)| Array::from_shares(element, &shape, &value));
    let array = array.ok_or_else(|| Uncombined::Type {
        file: args.files[0].clone(),
        found: names.element_type.clone(),
    })?;
    match named(args.out.as_deref()) {
        None => print(table(&array).as_bytes()),
        Some(path) if ends(path, "npy") => {
            let bytes = Zeroizing::new(npy::write(&tensor(&array, path)?));
            write_result(path, &|to| to.write_all(&bytes))
        }
        Some(path) => {
            let text = table(&array);
            write_result(path, &|to| to.write_all(text.as_bytes()))
        }
    }
}

/// The elements, a line for each place along the first axis.
fn table(array: &Array) -> Zeroizing<String> {
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
            return Err(Uncombined::Wide { path, element }.into());
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
