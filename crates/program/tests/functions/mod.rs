//! Functions of networks: against the system's real functions, in the clear, and run by all parties.

mod bounds;
mod formats;
mod quotients;
mod real;
mod rounding;
mod rows;
mod running;
