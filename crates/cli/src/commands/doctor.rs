//! TODO
use crate::args::Doctor;
use crate::exit::Result;

pub fn run(_args: Doctor) -> Result<()> {
    Ok(())
}
