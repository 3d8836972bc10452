//! `share`: tables of a client, cut up for the parties that compute a query.

use std::fmt::Write as _;
use std::io::Write as _;

use madrigal_app::failure::Result;
use madrigal_app::figures::print;
use madrigal_app::holders::HolderArg;
use madrigal_app::share_files::{ClientValue, Naming, write};
use madrigal_app::terminal::stderr;
use madrigal_net::roster::Roster;

use super::args::Share;
use super::failure::Unfit;
use super::query::Asked;

pub fn run(args: &Share) -> Result<()> {
    let roster = Roster::load(&args.roster)?;
    let asked = Asked::new(&args.ask)?;
    let me = HolderArg::Client(args.client.clone());
    if asked.tables.iter().all(|table| table.owner != me) {
        let client = args.client.clone();
        return Err(Unfit::NoTable { client }.into());
    }
    let query = asked.query(roster.len())?;
    let _ = write!(stderr(), "{}", asked.learnt(&query));
    let data = asked.values(roster.len(), |owner| *owner == me)?;
    let inputs = query.inputs(data.iter().map(|(name, data)| (*name, data)));
    let (program, job) = (query.computation(), asked.job(&query));
    let mix = args.mix.unwrap_or(program.mix());
    let values = ClientValue::all(program, &inputs, (&args.client, &job), mix)?;
    let written = write(&values, (&args.roster, &roster), &args.out, Naming::Query)?;
    let mut told = format!(
        "# Shared in {mix} for job `{job}`. Give each party its files, those that end in its name and .share:\n"
    );
    for path in written.paths {
        let _ = writeln!(told, "{}", path.display());
    }
    print(told.as_bytes())
}
