//! `keygen`: a party's key and certificate.

use std::fs;

use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::RosterEntry;

use crate::args::Keygen;
use crate::exit::{Failure, Result};
use crate::remote::identity_files;
use crate::stats::print;

pub fn run(args: Keygen) -> Result<()> {
    let files = identity_files(&args.out);
    let validity = Validity::days(args.days)?;
    let identity = if args.renew {
        let identity = Identity::renew_from_key(&files.key, validity)?;
        identity.save_certificate(&files.certificate)?;
        identity
    } else {
        if let Some(directory) = files
            .key
            .parent()
            .filter(|path| !path.as_os_str().is_empty())
        {
            fs::create_dir_all(directory)
                .map_err(Failure::file("make the directory", directory))?;
        }
        let identity = Identity::generate(validity)?;
        identity.save(&files)?;
        identity
    };
    let name = args
        .out
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
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
    let did = if args.renew {
        "Renewed the certificate"
    } else {
        "Made a key and certificate"
    };
    print(
        format!(
            "# {did}, valid {}.\n\
             #   {}  secret: it stays on this machine\n\
             #   {}\n\
             # Give this section to all parties, over a channel where nobody can change it. Each puts\n\
             # all sections into its parties.toml, in the same order: the first is party 0.\n\n{section}",
            identity.validity(),
            files.key.display(),
            files.certificate.display(),
        )
        .as_bytes(),
    )
}
