//! The tests of this crate, in one executable: linking many takes longer than running them.

mod band;
mod bmr;
mod crc;
mod crew;
mod garble;
mod levels;
mod meter;
mod ntt;
mod parts;
mod products;
mod silent;
mod vectors;
