//! `keygen`: a party's key and certificate.

use std::fs;

use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::{RosterEntry, is_name};

use crate::args::Keygen;
use crate::exit::{Failure, Result, Usage};
use crate::figures::print;
use crate::remote::identity_files;

pub fn run(args: Keygen) -> Result<()> {
    let told = if args.renew {
        renew(&args)?
    } else {
        make(args)?
    };
    print(told.as_bytes())
}

/// The key stays, so there is nothing for `parties.toml`.
fn renew(args: &Keygen) -> Result<String> {
    let files = identity_files(&args.out);
    let identity = Identity::renew_from_key(&files.key, Validity::days(args.days)?)?;
    identity.save_certificate(&files.certificate)?;
    Ok(format!(
        "# Renewed the certificate, valid {}.\n\
         #   {}\n\
         # The key is the one that all parties know: no parties.toml changes.\n",
        identity.validity(),
        files.certificate.display(),
    ))
}

fn make(args: Keygen) -> Result<String> {
    let name = args.out.file_name().unwrap_or_default().to_string_lossy();
    if !is_name(&name) {
        return Err(Usage::PartyName { base: args.out }.into());
    }
    let name = name.into_owned();
    let files = identity_files(&args.out);
    let directory = files.key.parent();
    if let Some(directory) = directory.filter(|path| !path.as_os_str().is_empty()) {
        fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    }
    let identity = Identity::generate(Validity::days(args.days)?)?;
    identity.save(&files)?;
    let section = match args.address {
        Some(address) => RosterEntry {
            name,
            address,
            key: identity.fingerprint(),
        }
        .to_toml(),
        None => format!(
            "[[party]]\nname = \"{name}\"\naddress = \"HOST:PORT\" # where the other parties reach this one\nkey = \"{}\"\n",
            identity.fingerprint()
        ),
    };
    Ok(format!(
        "# Made a key and certificate, valid {}.\n\
         #   {}  secret: it stays on this machine\n\
         #   {}\n\
         # Give this section to all parties, over a channel where nobody can change it. Each puts\n\
         # all sections into its parties.toml, in the same order: the first is party 0.\n\n{section}",
        identity.validity(),
        files.key.display(),
        files.certificate.display(),
    ))
}
