//! The program `madrigal-lab`: what this machine makes of known work, beside what it can do at most, and beside
//! what papers report.

// A program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod args;
mod branches;
mod circuits;
mod exit;
mod garbling;
mod graphs;
mod known;
mod lines;
mod measured;
mod ot;
mod paper;
mod programs;
mod psi;
mod r3;
mod scaling;
mod serve;
mod tables;
mod tensors;

use std::process::ExitCode;

use madrigal_app::{
    everyone, figures, files, jobs, machine, numbers, progress, rates, reach, spread, start, stores,
};

use args::{Bench, Cli};
use exit::Result;
use known::Known;

fn main() -> ExitCode {
    let status = start::program("madrigal-lab", &start::arguments(), |cli: Cli| {
        run(cli.bench)
    });
    ExitCode::from(status)
}

fn run(bench: Bench) -> Result<()> {
    match bench {
        Bench::Aes(args) => circuits::run(*args, Known::Aes),
        Bench::Sha256(args) => circuits::run(*args, Known::Sha256),
        Bench::Ot(args) => ot::run(&args),
        Bench::Garbling(args) => garbling::run(&args),
        Bench::R3(args) => r3::run(&args),
        Bench::Programs(args) => programs::run(&args),
        Bench::Tensors(args) => tensors::run(&args),
        Bench::Branches(args) => branches::run(&args),
        Bench::Paper(args) => paper::run(&args),
        Bench::Lines(args) => lines::run(&args),
        Bench::Tables(args) => tables::run(&args),
        Bench::Psi(args) => psi::run(&args),
        Bench::PsiParty => psi::take_part(),
        Bench::Serve(args) => serve::run(&args),
        Bench::ServeParty { config } => serve::take_part(config),
        Bench::ServeFlood {
            service,
            server,
            attack,
        } => serve::attack(service, server, attack),
        Bench::Scaling(args) => scaling::run(&args),
        Bench::ScalingParty => scaling::take_part(),
    }
}
