//! `combine`: output shares of all servers, put together.

use std::path::PathBuf;

use madrigal_app::failure::Fault;
use madrigal_app::files::{Output, check, named, write_result};
use madrigal_clients::{Expected, Purpose, Received, ShareFileError, combine, read_file};
use madrigal_net::sealing::SealingKey;
use madrigal_program::{Array, Shape, Type};

use crate::args::Combine;
use crate::arrays::{file_of, table};
use crate::exit::{Result, Status};
use crate::figures::print;

/// Shares that give no value.
#[derive(Debug, thiserror::Error)]
enum Uncombined {
    #[error(transparent)]
    File(#[from] ShareFileError),
    #[error("{}: its type `{}` is none that this program knows: use the version that the servers use", file.display(), found.escape_debug())]
    Type { file: PathBuf, found: String },
}

impl Fault for Uncombined {
    fn status(&self) -> Status {
        Status::File
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
        Some(path) => {
            let bytes = file_of(&array, path)?;
            write_result(path, &|to| to.write_all(&bytes))
        }
    }
}
