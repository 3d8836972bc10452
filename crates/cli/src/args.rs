//! Every flag of every command: this one definition gives parsing, `--help`, completions and man
//! pages.

mod circuit;
mod clients;
mod demo;
mod party;
mod program;
mod run;
mod stats;
mod store;
mod submit;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};

pub use circuit::{Circuit, FormatArg};
pub use clients::{Combine, Share};
pub use demo::{AesCtr, Demo};
use madrigal_app::failure::EXIT_STATUS;
pub use madrigal_app::flags::{Among, Net, TransportArg, Who};
pub use madrigal_app::jobs::flags::{
    BranchesArg, BroadcastArg, CorrelationsArg, How, PhasesArg, ProtocolArg, StoreMatricesArg,
};
pub use madrigal_app::memory::MemoryArg;
pub use madrigal_app::over::Over;
pub use madrigal_app::receivers::Receivers;
pub use madrigal_app::show::Show;
pub use madrigal_matching::args::Psi;
pub use madrigal_models::args::{Infer, Model};
pub use madrigal_service::args::Serve;
pub use party::{Dealer, Doctor, Keygen};
pub use program::{Holding, Length, OfCircuit, OfFile, Program};
pub use run::{ComputationFlags, Explain, RunFlags};
pub use stats::{Names, Stats, told};
pub use store::{Precompute, StoreCommand, StoreStatus};
pub use submit::{NamedFile, Submit};
pub use values::{HexBlock, InputFile};

/// Secure multi-party computation: several parties compute on data that none of them shows.
#[derive(Parser, Debug)]
#[command(name = "madrigal", version, after_help = EXIT_STATUS, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compute a circuit, with all parties on this machine or as one real party
    Run(Box<RunFlags>),
    /// Compute a trained network on data that nobody shows, with all parties on this machine or as one real party
    Infer(Box<Infer>),
    /// Compute a program on secrets from a file, say what it costs, or what it means
    #[command(subcommand)]
    Program(Program),
    /// Statistics of tables that several parties hold, without any of them showing its own
    Stats(Box<Stats>),
    /// Match the lists of two parties: which keys, such as addresses of customers, both have
    Psi(Box<Psi>),
    /// Show, convert or evaluate a circuit in the clear
    #[command(subcommand)]
    Circuit(Circuit),
    /// Show what a trained network (ONNX) consists of
    #[command(subcommand)]
    Model(Model),
    /// Say what a run will cost, before it runs
    Explain(Explain),
    /// Make a party's key and certificate, and print its section of parties.toml
    Keygen(Keygen),
    /// Cut a client's value into one sealed file for each server
    Share(Share),
    /// Be a server that stays up: clients bring shares, and the servers compute what its kinds of jobs say
    Serve(Box<Serve>),
    /// Bring values to a service, or get its results
    Submit(Box<Submit>),
    /// Put the servers' shares of an output together, at the client that it is for
    Combine(Combine),
    /// Examine this machine and, with --peers, the connections to the other parties
    Doctor(Doctor),
    /// Ready-made jobs
    #[command(subcommand)]
    Demo(Demo),
    /// Act as the dealer of parties.toml: make correlations for the parties' jobs
    Dealer(Dealer),
    /// Run benchmarks on this machine: the program madrigal-lab, with all that follows
    #[command(after_help = EXIT_STATUS, disable_help_flag = true)]
    Bench {
        /// Arguments of madrigal-lab, or after `tpch` of madrigal-sql; `--help` lists them
        #[arg(
            value_name = "ARGUMENTS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<OsString>,
    },
    /// Queries in SQL on tables that several parties hold: the program madrigal-sql, with all that follows
    #[command(after_help = EXIT_STATUS, disable_help_flag = true)]
    Sql {
        /// Arguments of madrigal-sql; `--help` lists them
        #[arg(
            value_name = "ARGUMENTS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<OsString>,
    },
    /// Make correlations ahead of time, all parties together, for later runs with --store
    Precompute(Box<Precompute>),
    /// Inspect stores that `precompute` has made
    #[command(subcommand)]
    Store(StoreCommand),
    /// Print a completion script for a shell
    #[command(after_help = EXIT_STATUS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the man pages
    #[command(after_help = EXIT_STATUS)]
    Man {
        /// Directory to write them to; created if it does not exist
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    fn help_of(path: &[&str]) -> String {
        let mut command = Cli::command();
        for name in path {
            command = command.find_subcommand(name).unwrap().clone();
        }
        command.render_long_help().to_string()
    }

    #[test]
    fn every_help_tells_the_exit_statuses() {
        fn check(command: &clap::Command, path: &str) {
            for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
                let path = format!("{path} {}", one.get_name());
                let help = one.clone().render_help().to_string();
                assert!(help.contains("Exit status"), "{path}");
                check(one, &path);
            }
        }
        check(&Cli::command(), "madrigal");
    }

    /// Each with what it stands for. Of several names of one network, the first will do.
    #[test]
    fn networks_are_named_where_they_are_asked_for() {
        use madrigal_net::transport::Profile;
        for path in [&["run"][..], &["explain"]] {
            let help = help_of(path);
            for (name, _) in Profile::presets() {
                let profile = Profile::parse(name).unwrap();
                let told = help.lines().any(|line| {
                    let mut words = line.split_whitespace();
                    words.next().and_then(|name| Profile::parse(name).ok()) == Some(profile)
                        && line.contains(&profile.to_string())
                });
                assert!(told, "{name} is not in the help of {path:?}");
            }
        }
    }
}
