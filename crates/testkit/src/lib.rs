//! N parties in one process, faults and cost checks, for Madrigal's own tests.
