//! Files and questions that are wrong.
