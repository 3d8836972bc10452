//! The program `madrigal`.

use std::process::ExitCode;

use madrigal_app::start;

fn main() -> ExitCode {
    ExitCode::from(madrigal_cli::run(&start::arguments()))
}
