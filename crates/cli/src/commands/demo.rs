//! TODO
use crate::args::Demo;
use crate::exit::Result;

pub fn run(_args: Demo) -> Result<()> {
    Ok(())
}
pub fn counter_mode(aes: &madrigal_circuit::Netlist) -> madrigal_circuit::Netlist {
    aes.clone()
}
