//! `bench`: what this machine makes of known work, beside what it can do at most.

mod branches;
mod circuits;
mod garbling;
mod lines;
mod measured;
mod ot;
mod paper;
mod programs;
mod r3;
mod tensors;

use crate::args::Bench;
use crate::exit::Result;
use crate::source::Source;

pub fn run(args: Bench) -> Result<()> {
    match args {
        Bench::Aes(args) => circuits::run(*args, Source::Aes),
        Bench::Sha256(args) => circuits::run(*args, Source::Sha256),
        Bench::Ot(args) => ot::run(&args),
        Bench::Garbling(args) => garbling::run(&args),
        Bench::R3(args) => r3::run(&args),
        Bench::Programs(args) => programs::run(&args),
        Bench::Tensors(args) => tensors::run(&args),
        Bench::Branches(args) => branches::run(&args),
        Bench::Paper(args) => paper::run(&args),
        Bench::Lines(args) => lines::run(&args),
    }
}
