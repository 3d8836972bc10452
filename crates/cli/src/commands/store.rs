//! `store`: what a store of correlations holds.

use madrigal_correlations_store as store;
use serde::Serialize;

use crate::args::{StoreCommand, StoreStatus};
use crate::exit::Result;
use crate::figures::{print, print_json};
use crate::numbers::{bytes, count, table};
use crate::stores::StoreFiles;

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Answer {
    /// Whether the store can be used.
    usable: bool,
    /// Sentence that says why not, or `null`. What it prevents from being known is `null` below.
    problem: Option<String>,
    /// Name of the store, the same at all parties of one `precompute`.
    id: Option<String>,
    /// Party that the store belongs to.
    party: Option<usize>,
    /// Number of parties.
    parties: Option<usize>,
    /// Bytes on the disk.
    data_bytes: Option<u64>,
    /// Whether all of it was read and found intact (`--verify`).
    verified: bool,
    /// Kinds of correlations; none with a problem.
    kinds: Vec<Kind>,
}

#[derive(Serialize)]
struct Kind {
    /// Kind of correlation, as `precompute --triples` names it.
    kind: String,
    /// Correlations that were made.
    made: u64,
    /// Correlations that are used.
    used: u64,
    /// Correlations that are left.
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
