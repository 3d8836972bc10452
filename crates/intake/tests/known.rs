//! Digests, computed by other code (Python's hashlib) from the words of `schema/SERVICE.md`.

pub(crate) const ANSWERS: [&str; 5] = [
    "4f52500d7025f1d8bd9fd8c869c60fc61a65f9664644a3ffaf112fc1f1306b33",
    "d49cd4db66890283e9cf35d82cdef0b85e7fe3830992f5f245af37cfacba42ed",
    "f4a8471e68701b4541977ccad832ae323b385aa47af0426895eb84918435099b",
    "6f4847cbfb4c97ff8234c6758a174c0d90a7444eeb071cd9b6e368d248d60e82",
    "4413ea644f7f72b9aa1b2707e1782e1991fbdd6dbe4634a6b406857535f74f4b",
];
