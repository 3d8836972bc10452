//! `keygen`: a party's key, certificate and sealing key; a client's sealing key.

use std::fs;
use std::path::Path;

use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::{RosterEntry, is_name};
use madrigal_net::sealing::SealingKey;

use crate::args::Keygen;
use crate::exit::{Failure, Result, Usage};
use crate::figures::print;
use crate::remote::{identity_files, sealing_file};

pub fn run(args: Keygen) -> Result<()> {
    let told = match (args.renew, args.sealing) {
        (true, _) => renew(&args)?,
        (_, true) => seal(args)?,
        _ => make(args)?,
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

/// A party adds the line to its section of `parties.toml`; a client gives it to whoever starts the servers.
fn seal(args: Keygen) -> Result<String> {
    let path = sealing_file(&args.out);
    directory_of(&path)?;
    let key = SealingKey::generate()?;
    key.save(&path)?;
    Ok(format!(
        "# Made a sealing key.\n\
         #   {}  secret: it stays on this machine\n\
         # A party adds this line to its section of everybody's parties.toml; a client gives it to the servers.\n\
         sealing = \"{}\"\n",
        path.display(),
        key.public(),
    ))
}

fn directory_of(file: &Path) -> Result<()> {
    let directory = file.parent();
    match directory.filter(|path| !path.as_os_str().is_empty()) {
        Some(directory) => {
            fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))
        }
        None => Ok(()),
    }
}

fn make(args: Keygen) -> Result<String> {
    let name = args.out.file_name().unwrap_or_default().to_string_lossy();
    if !is_name(&name) {
        return Err(Usage::PartyName { base: args.out }.into());
    }
    let name = name.into_owned();
    let files = identity_files(&args.out);
    let sealing_file = sealing_file(&args.out);
    directory_of(&files.key)?;
    let identity = Identity::generate(Validity::days(args.days)?)?;
    let sealing = SealingKey::generate()?;
    identity.save(&files)?;
    let saved = sealing.save(&sealing_file);
    saved.inspect_err(|_| {
        // They are ours, and nobody knows them yet: all three files are made, or none.
        let _ = fs::remove_file(&files.key);
        let _ = fs::remove_file(&files.certificate);
    })?;
    let sealing = sealing.public();
    let section = match args.address {
        Some(address) => RosterEntry {
            name,
            address,
            key: identity.fingerprint(),
            sealing: Some(sealing),
        }
        .to_toml(),
        None => format!(
            "[[party]]\nname = \"{name}\"\naddress = \"HOST:PORT\" # where the other parties reach this one\nkey = \"{}\"\nsealing = \"{sealing}\"\n",
            identity.fingerprint()
        ),
    };
    Ok(format!(
        "# Made a key and certificate, valid {}, and a key that clients seal shares for.\n\
         #   {}  secret: it stays on this machine\n\
         #   {}  secret: it stays on this machine\n\
         #   {}\n\
         # Give this section to all parties, over a channel where nobody can change it. Each puts\n\
         # all sections into its parties.toml, in the same order: the first is party 0.\n\n{section}",
        identity.validity(),
        files.key.display(),
        sealing_file.display(),
        files.certificate.display(),
    ))
}
