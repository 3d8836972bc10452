//! Secure multi-party computation without a middleman: several parties compute on data that none of
//! them shows.
//!
//! **Put these lines into the `Cargo.toml` of your program** (of its workspace, if it is part of one). Without
//! them `cargo run` and `cargo test` build this crate and all cryptography below it without optimisation, and
//! protocols take 20 to 30 times as long; `--release` needs no lines.
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! A program that runs without them is told so once, on standard error, when its first session begins;
//! [`net::on_warning`] has it told elsewhere, or not at all.
//!
//! This is the small public API in one place. Computations on numbers are written as [`program`]s on typed
//! secrets, which choose circuits and conversions by themselves, or in C for the compiler HyCC ([`hycc`]);
//! an [`app::App`] makes a command of one, as the files of `examples/` do. Trained networks (ONNX) are read and made
//! programs by `madrigal::nn`, with the feature `nn`. The computation of one circuit takes five things:
//!
//! 1. a [`circuit`]: read from a Bristol or ABY file, or built in code ([`circuit::Builder`]);
//! 2. a [`Plan`], made of a [`CircuitJob`]: who owns which input, who gets the output, how many
//!    lanes, in which protocol. The plan is the same at all parties and knows the cost before anything is sent;
//! 3. a [`net::Session`] with the other parties, over a [transport](net::transport): memory, TCP,
//!    TLS with pinned keys, or your own;
//! 4. this party's inputs, as [`circuit::Rows`]: a row of lanes for each bit;
//! 5. [`run_rows`], which gives an [`Outcome`] with the output and what was spent, or one
//!    [error](RunError) that says who is at fault and what to do.
//!
//! # Example
//! Do both of us want to? Only if so, we want to know. Three questions at once, in three *lanes*;
//! both parties run in this one process.
//! ```
//! use std::sync::Arc;
//!
//! use madrigal::circuit::{Limits, Netlist, values};
//! use madrigal::net::{Session, SessionConfig, block_on, transport};
//! use madrigal::{Circuit, CircuitJob, Party, Plan};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // One AND gate: wire 0 is party 0's, wire 1 is party 1's.
//! let netlist = Netlist::read("both", b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n", &Limits::default())?;
//! let job = CircuitJob {
//!     lanes: 3,
//!     ..CircuitJob::new(Arc::new(Circuit::new(&netlist)), 2)
//! };
//! let plan = Plan::new(job.spec()?)?;
//! assert_eq!(plan.cost(Party::new(0)).online.rounds, 2); // the AND, the opening
//!
//! let party = |me, transport, wishes: &str| {
//!     block_on(async {
//!         let session = Session::new(SessionConfig::new(Party::new(me), 2), transport);
//!         session.greet().await?;
//!         let inputs = values::read("my wishes", wishes.as_bytes(), &[1], &Default::default())?;
//!         let report = madrigal::run_rows(&session, 1, &plan, inputs, None, &|_| {}).await?;
//!         session.close().await;
//!         let output = report.outputs.ok_or("we are a receiver")?;
//!         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(values::write(&output, &[1])?)
//!     })
//! };
//! let [alice, bob] = transport::mesh(2).try_into().map_err(|_| "two ends")?;
//! let (a, b) = std::thread::scope(|scope| {
//!     let alice = scope.spawn(|| party(0, alice, "1\n1\n0\n"));
//!     let bob = scope.spawn(|| party(1, bob, "1\n0\n1\n"));
//!     (alice.join(), bob.join())
//! });
//! for answer in [a, b] {
//!     let answer = answer.map_err(|_| "a party panicked")?.map_err(|error| error.to_string())?;
//!     assert_eq!(answer, b"1\n0\n0\n");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! An example over TCP and TLS, with keys, is `examples/over_tls.rs`. A [`Precomputation`] makes correlations
//! ahead; they are opened as a [`correlations::store::Store`] and brought along with the inputs
//! ([`Brought`]).
//!
//! # Threads and runtimes
//! [`run_rows`] works on the thread that awaits it, and on others if the plan says so. Its future is not
//! `Send`: give each party a thread with [`net::block_on`] or a runtime's `block_on`, or spawn it as a
//! local task. TCP and TLS need a tokio runtime ([`net::transport::connect`]), nothing else does.
//!
//! # Security
//! Semi-honest, static corruption: of all parties but one in protocols A, B and Y, of one of two in Y2, alpha and beta,
//! of one of three in R. What that leaves out is in the project's `SECURITY.md`; read it before you use this with
//! real data.

#[cfg(feature = "app")]
pub use madrigal_app as app;
pub use madrigal_circuit as circuit;
pub use madrigal_clients as clients;
pub use madrigal_hycc as hycc;
pub use madrigal_net as net;
#[cfg(feature = "nn")]
pub use madrigal_nn as nn;
pub use madrigal_program as program;
pub use madrigal_program_file as program_file;
pub use madrigal_tables as tables;

pub use madrigal_core::{Cost, MAX_PARTIES, Party, PartyError, Phase, PhaseCost, Ring};
pub use madrigal_engine::{
    Choice, Extension, Given, MAX_THREADS, Matrices, Means, Opening, Origin, Outcome, PhaseReport,
    Phases, Plan, PlanError, PlanSpec, Precomputation, Progress, RunError, StoreReport, StoreSpec,
    TRIPLE_MEMORY, run_program, serve,
};
pub use madrigal_operations::{
    Backend, Brought, Circuit, CircuitJob, JobError, RowsOutput, evaluate_rows, run_rows,
    run_shared_rows,
};

/// Graphs of operations, planned and run; the [operations](engine::operations) themselves; jobs of one circuit.
pub mod engine {
    pub use madrigal_engine::*;
    pub use madrigal_operations as operations;
    pub use madrigal_operations::{
        Brought, Circuit, CircuitJob, JobError, RowsOutput, evaluate_rows, run_rows,
        run_shared_rows,
    };
}

/// Correlated randomness: kinds, needs and stock, what makes correlations, and stores of them.
pub mod correlations {
    pub use madrigal_correlations::*;
    pub use madrigal_correlations_make::*;
    pub use madrigal_correlations_store as store;
}

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles and runs what the guide shows.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rust.md")]
struct Guide;
