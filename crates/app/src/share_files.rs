//! Share files in a directory: what a client writes for all servers, and what a server finds there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use madrigal_clients::{
    Header, Named, ShareFault, ShareFile, deal_with, file_name, nonce, private_generator,
};
use madrigal_core::{Digest256, domains};
use madrigal_engine::{Element, Sharing};
use madrigal_net::Fact;
use madrigal_net::roster::{Roster, RosterError};
use madrigal_net::sealing::PublicSealingKey;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Computation, Inputs};
use sha2::{Digest as _, Sha256};

use crate::failure::{Failure, Fault, Result, Status};
use crate::files::Pending;

/// A value that a client cuts up.
#[derive(Debug)]
pub struct ClientValue {
    /// Names, type and shape.
    pub named: Named,
    /// Place of the input among those of its program, by which files are told apart whose names would be the same.
    pub place: usize,
    /// The value.
    pub value: Array,
    /// Sharing and element of the shares.
    pub form: (Sharing, Element),
}

/// Files that a client has written.
#[derive(Debug)]
pub struct Written {
    /// Their paths: for each value one for each server.
    pub paths: Vec<PathBuf>,
    /// Headers of each value, which all of its files have.
    pub headers: Vec<Header>,
}

/// A value that cannot be shared.
#[derive(Debug, thiserror::Error)]
#[error("{value}: {fault} ({})", self.flags)]
struct Unshared {
    value: String,
    /// Flags that mend it.
    flags: &'static str,
    fault: Box<ShareFault>,
}

impl Fault for Unshared {
    fn status(&self) -> Status {
        Status::Usage
    }
}

impl ClientValue {
    /// Values that `client` brings to a program for a job, of those among `inputs`, in the form that a mix takes.
    ///
    /// # Errors
    /// [`Failure`]: a value that is not among them.
    pub fn all(
        program: &Computation,
        inputs: &Inputs,
        (client, job): (&str, &str),
        mix: Mix,
    ) -> Result<Vec<Self>> {
        let ports = program.inputs();
        let own = ports.iter().enumerate().filter(|(_, port)| {
            let owner = port.owner.client();
            owner.is_some_and(|owner| owner.name() == client)
        });
        let value = |(place, port): (usize, &madrigal_program::InputPort)| {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let element = port.tensor_type.element;
            let value = inputs.value(ports, place);
            let value = value.ok_or_else(|| Failure::bug(format!("no value of input {name}")))?;
            Ok(Self {
                named: Named {
                    job: job.to_owned(),
                    name,
                    client: client.to_owned(),
                    element_type: element.to_string(),
                    shape: port.tensor_type.shape.axes().to_vec(),
                },
                place,
                value: Array::clone(&value),
                form: mix.kept_form(element),
            })
        };
        own.map(value).collect()
    }
}

/// Names of a client's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// By the value, the client and the server.
    Value,
    /// By the first eight digits of the job's digest, the place of the input, the client and the server: values have names of any length
    /// and kind, and files of several queries may be in one directory.
    Query,
}

/// Cuts up values into a file for each of them and each server of a list, which only this server can open, in a directory. All values have
/// one nonce. All are written before any is in its place, so that whoever waits for files does not find a part of them. Where files of an
/// earlier call are there, some may be replaced and others not yet; their nonces tell.
///
/// # Errors
/// [`Failure`]: a list without sealing keys, values and names that cannot be shared, and files that cannot be written.
pub fn write(
    values: &[ClientValue],
    (list, roster): (&Path, &Roster),
    out: &Path,
    naming: Naming,
) -> Result<Written> {
    let keys = roster.sealing_keys().map_err(|error| RosterError {
        file: Some(list.to_owned()),
        ..error
    })?;
    let (mut names, mut pending) = (Names::default(), Vec::new());
    let mut written = Written {
        paths: Vec::new(),
        headers: Vec::new(),
    };
    let mut together = None;
    for one in values {
        let unshared = |fault| Unshared {
            value: format!("input {} of client {}", one.named.name, one.named.client),
            flags: match naming {
                Naming::Value => {
                    "--client, --parties, --protocol, --job, and --name, which names the value"
                }
                Naming::Query => "--client, --parties, --mix, and the names of --table",
            },
            fault: Box::new(fault),
        };
        let mut random = private_generator().map_err(unshared)?;
        let nonce = *together.get_or_insert_with(|| nonce(&mut random));
        let (sharing, element) = one.form;
        let shares = one.value.to_shares(element);
        let files = deal_with(
            one.named.clone(),
            &shares,
            sharing,
            roster.len(),
            nonce,
            &mut random,
        );
        let files = files.map_err(unshared)?;
        fs::create_dir_all(out).map_err(Failure::file("make the directory", out))?;
        let own = names.of(one.place, &one.named.name, &one.named.client);
        for ((file, key), server) in files.iter().zip(&keys).zip(roster.parties()) {
            let path = out.join(match naming {
                Naming::Value => own(&server.name),
                Naming::Query => {
                    query_file_name(&one.named.job, one.place, &one.named.client, &server.name)
                }
            });
            pending.push(
                written_to(&path, file, Some(key))
                    .map_err(Failure::file("write the share", &path))?,
            );
            written.paths.push(path);
        }
        written
            .headers
            .extend(files.first().map(|file| file.header().clone()));
    }
    for (file, path) in pending.into_iter().zip(&written.paths) {
        let placed = file.finish();
        placed.map_err(Failure::file("write the share", path))?;
    }
    Ok(written)
}

/// A file that is written, and not in its place yet.
pub(crate) fn written_to(
    path: &Path,
    file: &ShareFile,
    key: Option<&PublicSealingKey>,
) -> io::Result<Pending> {
    Pending::new(path, &|to| {
        let written = file.write(to, key);
        written.map_err(|fault| match fault {
            ShareFault::File(error) => error.into(),
            other => io::Error::other(other),
        })
    })
}

/// Name of the file with a server's share of an input of a query: the first eight digits of the job's digest, the input's place, the client
/// and the server. An input is of one client, so no two files of a query are named alike, whatever points are in names.
pub(crate) fn query_file_name(job: &str, place: usize, client: &str, server: &str) -> String {
    let digest = job.rsplit_once('-').map_or(job, |(_, digest)| digest);
    let digits: String = digest.chars().take(8).collect();
    format!("{digits}.{place}.{client}.{server}.share")
}

/// Names of files in a directory. Values whose names differ may be alike as names of files: later ones have their place before.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// Names of the files of a client's value, by the servers' names. All who name files ask in the order of the program's inputs.
    pub(crate) fn of<'a>(
        &mut self,
        place: usize,
        value: &'a str,
        client: &'a str,
    ) -> impl Fn(&str) -> String + use<'a> {
        let is_new = self.0.insert(file_name(value, client, ""));
        move |server| {
            let name = file_name(value, client, server);
            match is_new {
                true => name,
                false => format!("{place}.{name}"),
            }
        }
    }
}

/// Name of a job for which clients' shares are made: of these facts and no others, so that servers use them for nothing else.
pub fn job_of(name: &str, facts: &[Fact]) -> String {
    let mut hash = Sha256::new_with_prefix(domains::CLIENTS_JOB);
    for text in facts.iter().flat_map(|(name, value)| [name, value]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let digest: Digest256 = hash.finalize().into();
    format!("{name}-{digest}")
}
