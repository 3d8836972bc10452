//! Sessions, jobs, contexts and frames over interchangeable transports.
