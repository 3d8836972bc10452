//! The commands.

mod args;
mod failure;
mod query;
mod schema;
mod share;
mod told;
mod tpch;

use madrigal_app::failure::Result;

use args::{Cli, Command};

pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Run(mut args) => query::run(&mut args),
        Command::Share(args) => share::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Tpch(args) => tpch::run(&args),
        Command::TpchParty => tpch::take_part(),
    }
}
