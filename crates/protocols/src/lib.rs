//! The MPC protocols, one module each, with declared cost.
