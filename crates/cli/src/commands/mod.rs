//! One module for each command.

mod bench;
mod circuit;
mod combine;
mod costs;
mod dealer;
mod demo;
mod doctor;
mod explain;
mod hycc;
mod keygen;
mod pages;
mod peers;
mod precompute;
mod program;
mod run;
mod share;
mod stats;
mod store;
mod submit;

pub use self::submit::of_client;
use crate::args::Command;
use crate::exit::Result;

/// Does what a command says.
pub fn run(command: Command) -> Result<()> {
    match command {
        Command::Run(args) => run::run(*args),
        Command::Infer(args) => madrigal_models::infer::run(&args),
        Command::Program(args) => program::run(args),
        Command::Stats(args) => stats::run(*args),
        Command::Psi(args) => madrigal_matching::psi::run(&args),
        Command::Circuit(args) => circuit::run(args),
        Command::Model(args) => madrigal_models::model::run(&args),
        Command::Explain(args) => explain::run(args),
        Command::Keygen(args) => keygen::run(args),
        Command::Share(args) => share::run(args),
        Command::Submit(args) => submit::run(*args),
        Command::Serve(args) => madrigal_service::serve::run(&args),
        Command::Combine(args) => combine::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Dealer(args) => dealer::run(args),
        Command::Bench { arguments } => bench::run(&arguments),
        Command::Sql { arguments } => bench::sql(&arguments),
        Command::Precompute(args) => precompute::run(*args),
        Command::Store(args) => store::run(args),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { directory } => pages::man(&directory),
    }
}
