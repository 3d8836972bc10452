//! One module for each command.

pub mod bench;
pub mod circuit;
mod costs;
pub mod dealer;
pub mod demo;
pub mod doctor;
pub mod explain;
mod html;
pub mod hycc;
pub mod infer;
pub mod keygen;
pub mod model;
pub mod pages;
mod peers;
pub mod precompute;
pub mod run;
pub mod store;
