//! TODO
use crate::args::Bench;
use crate::exit::Result;

pub fn run(_args: Bench) -> Result<()> {
    Ok(())
}
