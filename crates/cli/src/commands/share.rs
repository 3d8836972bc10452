//! `share`: a client's value, cut up for the servers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use madrigal_app::failure::Fault;
use madrigal_app::files::Pending;
use madrigal_app::read::read_file;
use madrigal_clients::{Named, ShareFault, ShareFile, deal, private_generator};
use madrigal_core::Zeroizing;
use madrigal_models::data::{ends, is_csv, read_table};
use madrigal_net::roster::Roster;
use madrigal_net::sealing::PublicSealingKey;
use madrigal_program::{Array, Shape, TextError, Type};

use crate::args::Share;
use crate::arrays::npy_text;
use crate::exit::{Failure, Result, Status};
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
    #[error("{fault} (--job, --name, --client, --protocol, --parties)")]
    Fault { fault: ShareFault },
}

impl Fault for Unshared {
    fn status(&self) -> Status {
        match self {
            Self::Fault { .. } => Status::Usage,
            Self::Text { .. } | Self::Bytes { .. } => Status::File,
        }
    }
}

pub fn run(args: Share) -> Result<()> {
    let roster = Roster::load(&args.roster)?;
    let keys = roster
        .sealing_keys()
        .map_err(|error| madrigal_net::roster::RosterError {
            file: Some(args.roster.clone()),
            ..error
        })?;
    let value = read_array(&args.input, args.element, args.shape.as_ref())?;
    let form = match args.bits {
        true => args.protocol.kept_bits(args.element),
        false => args.protocol.kept_form(args.element),
    };
    let (sharing, element) = form;
    let names = Named {
        job: args.job,
        name: args.name,
        client: args.client,
        element_type: args.element.to_string(),
        shape: value.shape().axes().to_vec(),
    };
    let unshared = |fault| Unshared::Fault { fault };
    let mut rng = private_generator().map_err(unshared)?;
    let value = value.to_shares(element);
    let files = deal(names, &value, sharing, roster.len(), &mut rng).map_err(unshared)?;
    fs::create_dir_all(&args.out).map_err(Failure::file("make the directory", &args.out))?;
    let servers = roster.parties().iter().map(|party| party.name.as_str());
    let mut paths = Vec::new();
    let mut pending = Vec::new();
    // All are written before any is in its place: servers never see files of two submissions.
    for ((file, key), server) in files.iter().zip(&keys).zip(servers) {
        let path = args.out.join(file.file_name(server));
        pending.push(write(&path, file, key)?);
        paths.push(path);
    }
    for (file, path) in pending.into_iter().zip(&paths) {
        file.finish()
            .map_err(Failure::file("write the share", path))?;
    }
    let header = files[0].header();
    let mut told = format!(
        "# Shared {}{} as {} of job `{}`, submission {}.\n# Give each server its file:\n",
        args.element,
        Shape::checked(&header.named().shape).unwrap_or_default(),
        header.in_words(),
        header.named().job,
        header.submission(),
    );
    for path in paths {
        told += &format!("{}\n", path.display());
    }
    print(told.as_bytes())
}

fn write(path: &Path, file: &ShareFile, key: &PublicSealingKey) -> Result<Pending> {
    let written = Pending::new(path, &|to| {
        let written = file.write(to, Some(key));
        written.map_err(|fault| match fault {
            ShareFault::File(error) => error.into(),
            other => io::Error::other(other),
        })
    });
    written.map_err(Failure::file("write the share", path))
}

/// Reads a value of any kind of file. Its elements go through text, which is exact for integers of every width.
fn read_array(path: &Path, element: Type, shape: Option<&Shape>) -> Result<Array> {
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
