//! `share`: a client's value, cut up for the servers.

use std::path::{Path, PathBuf};

use madrigal_app::failure::Fault;
use madrigal_app::read::read_file;
use madrigal_app::share_files::{ClientValue, Naming, write};
use madrigal_clients::Named;
use madrigal_core::Zeroizing;
use madrigal_models::data::{ends, is_csv, read_table};
use madrigal_net::roster::Roster;
use madrigal_program::{Array, Shape, TextError, Type};

use crate::args::Share;
use crate::arrays::npy_text;
use crate::exit::{Result, Status};
use crate::figures::print;

/// A value that cannot be shared.
#[derive(Debug, thiserror::Error)]
enum Unshared {
    #[error("{}: {error}; it is to have elements of type {element}", path.display())]
    Text {
        path: PathBuf,
        element: Type,
        error: TextError,
    },
    #[error("{}: this is no text, and its name does not end as that of an array (.npy): give a file of --input's kinds", path.display())]
    Bytes { path: PathBuf },
}

impl Fault for Unshared {
    fn status(&self) -> Status {
        Status::File
    }
}

pub fn run(args: Share) -> Result<()> {
    let roster = Roster::load(&args.roster)?;
    let value = read_array(&args.input, args.element, args.shape.as_ref())?;
    let form = match args.bits {
        true => args.protocol.kept_bits(args.element),
        false => args.protocol.kept_form(args.element),
    };
    let value = ClientValue {
        named: Named {
            job: args.job,
            name: args.name,
            client: args.client,
            element_type: args.element.to_string(),
            shape: value.shape().axes().to_vec(),
        },
        place: 0,
        value,
        form,
    };
    let written = write(&[value], (&args.roster, &roster), &args.out, Naming::Value)?;
    let header = &written.headers[0];
    let mut told = format!(
        "# Shared {}{} as {} of job `{}`, submission {}.\n# Give each server its file:\n",
        args.element,
        Shape::checked(&header.named().shape).unwrap_or_default(),
        header.in_words(),
        header.named().job,
        header.submission(),
    );
    for path in written.paths {
        told += &format!("{}\n", path.display());
    }
    print(told.as_bytes())
}

/// Reads a value of any kind of file. Its elements go through text, which is exact for integers of every width.
pub(super) fn read_array(path: &Path, element: Type, shape: Option<&Shape>) -> Result<Array> {
    let bytes = Zeroizing::new(read_file("read the value", path)?);
    let utf8 = || {
        let text = std::str::from_utf8(&bytes).ok();
        let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
        text.ok_or_else(|| Unshared::Bytes { path: path.into() })
    };
    let own;
    let (text, found) = if ends(path, "npy") {
        let shape;
        (own, shape) = npy_text(&bytes, path)?;
        (own.as_str(), Shape::checked(&shape))
    } else if is_csv(path) {
        let table = read_table(&bytes, path)?;
        (utf8()?, Shape::checked(&[table.lines(), table.columns()]))
    } else {
        (utf8()?, None)
    };
    let read = Array::read(element, shape.or(found.as_ref()), text);
    let unshared = |error| Unshared::Text {
        path: path.to_owned(),
        element,
        error,
    };
    Ok(read.map_err(unshared)?)
}
