//! The kernels of Madrigal: AES-128, PRG, hash, transpose and row operations, each with run-time dispatch and a portable oracle.
