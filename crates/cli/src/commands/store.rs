//! `store`: what a store of correlations holds.

use madrigal_correlations::store;
use serde::Serialize;

use crate::args::{StoreCommand, StoreStatus};
use crate::exit::Result;
use crate::numbers::{bytes, count, table};
use crate::stats::{print, print_json};
use crate::stores::StoreFiles;

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Answer {
    usable: bool,
    /// Why not.
    problem: Option<String>,
    id: Option<String>,
    party: Option<usize>,
    parties: Option<usize>,
    data_bytes: Option<u64>,
    /// Whether all of it was read.
    verified: bool,
    kinds: Vec<Kind>,
}

#[derive(Serialize)]
struct Kind {
    kind: String,
    made: u64,
    used: u64,
    left: u64,
}

pub fn run(command: StoreCommand) -> Result<()> {
    let StoreCommand::Status(args) = command;
    let found = status(&args);
    if args.json {
        print_json(&Answer::new(&found, args.verify))?;
        return found.map(drop);
    }
    let status = found?;
    let mut kinds = table(&["kind", "made", "used", "left"]);
    for holding in &status.holdings {
        kinds.add_row([
            holding.kind.to_string(),
            count(holding.made),
            count(holding.used),
            count(holding.left()),
        ]);
    }
    let whole = if args.verify {
        "all of it is whole"
    } else {
        "--verify reads all of it"
    };
    print(
        format!(
            "Store {}, of party {} of {}; {}, {whole}.\n\n{kinds}\n",
            status.id,
            status.party,
            status.parties,
            bytes(status.bytes)
        )
        .as_bytes(),
    )
}

fn status(args: &StoreStatus) -> Result<store::StoreStatus> {
    let (key, identity) = (args.store_key.as_deref(), args.identity.as_deref());
    let files = StoreFiles::remote(&args.store, key, identity);
    let key = files.load_key()?;
    store::status(&files.directory, &key, args.verify).map_err(files.failed())
}

impl Answer {
    fn new(found: &Result<store::StoreStatus>, verified: bool) -> Self {
        let status = found.as_ref().ok();
        let kinds = status.iter().flat_map(|status| &status.holdings);
        Self {
            usable: status.is_some(),
            problem: found.as_ref().err().map(ToString::to_string),
            id: status.map(|status| status.id.to_string()),
            party: status.map(|status| status.party),
            parties: status.map(|status| status.parties),
            data_bytes: status.map(|status| status.bytes),
            verified: verified && status.is_some(),
            kinds: kinds
                .map(|holding| Kind {
                    kind: holding.kind.to_string(),
                    made: holding.made,
                    used: holding.used,
                    left: holding.left(),
                })
                .collect(),
        }
    }
}
