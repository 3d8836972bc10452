//! Values without I/O: parties, phases, bit vectors, costs.
