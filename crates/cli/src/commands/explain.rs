//! `explain`: what a run will cost.

use crate::args::Explain;
use crate::exit::Result;

pub fn run(_args: Explain) -> Result<()> {
    Ok(())
}
