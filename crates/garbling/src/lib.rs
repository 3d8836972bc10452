//! Garbled circuits, for two parties over any channel: bytes in, bytes out.
//!
//! The garbler has two labels for each wire, `x` for 0 and `x ^ R` for 1, and makes a *table* for each
//! AND; the evaluator has one label for each wire and computes with the tables, seeing nothing but
//! labels. XOR and NOT are free (Kolesnikov and Schneider, ICALP 2008). ANDs are garbled by half-gates
//! (Zahur, Rosulek and Evans, Eurocrypt 2015) or three halves (Rosulek and Roy, Crypto 2021); see
//! [`Scheme`], and for the hash and what it takes to break it `crates/kernels/src/garble.rs`.
//!
//! Security: against semi-honest parties; a garbler who deviates can make the evaluator compute something
//! else. A party that has both labels of a wire has `R` and all inputs, so the evaluator's input labels come by
//! oblivious transfer: correlated OTs whose offset is `R` give the garbler `x` and the evaluator
//! `x ^ bit R`, which are the labels themselves.
//!
//! # The order of things
//! Both sides go through a compiled circuit in the same [chunks](Program::chunks), which tell how long
//! each table is.
//! A table can be evaluated as soon as it is there, and be forgotten then. Only this stays in memory: the
//! labels of the wires that are alive, and of one layer's ANDs. Lanes are independent: a wide job is
//! cut into blocks of [`Shape::lanes_in_cache`] lanes that go through the circuit one after the
//! other, each with piece numbers of its own ([`Shape::pieces_of`]).
//!
//! ```
//! use madrigal_circuit::{Layered, Limits, Netlist};
//! use madrigal_garbling::*;
//! use madrigal_kernels::Prg;
//!
//! let text = b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
//! let circuit = Layered::compile(&Netlist::read("and.txt", text, &Limits::default()).unwrap());
//! let program = Program::new(&circuit);
//! let instance = Instance { session: [7; 32], garbler: 0, evaluator: 1, stream: 0 };
//! let shape = Shape { scheme: Scheme::ThreeHalves, rows: circuit.rows(), lanes: 4 };
//!
//! // The garbler's, secret; from the operating system in earnest.
//! # let mut random = Prg::new(Block::new(1, 2));
//! let offset = Offset::random(&mut random);
//! let mut garbler = Garbler::new(instance, shape, 0, &offset, random.next_block());
//! let mut evaluator = Evaluator::new(instance, shape, 0);
//!
//! // Four lanes: all pairs of bits. Labels of the evaluator's own inputs would come by OT.
//! for (row, bits) in [(0, [0b1010]), (1, [0b1100])] {
//!     let zero: [Block; 4] = std::array::from_fn(|_| random.next_block());
//!     let mut labels = [Block::ZERO; 4];
//!     offset.encode(&zero, &bits, &mut labels);
//!     garbler.set(row, &zero)?;
//!     evaluator.set(row, &labels)?;
//! }
//! for chunk in program.chunks(shape, 1 << 16) {
//!     let mut table = vec![0; shape.table_bytes(chunk.ands.len())];
//!     garbler.garble(&chunk, &mut table)?; // garbler -> evaluator: table
//!     evaluator.evaluate(&chunk, &table)?;
//! }
//! // Opened to whom the other tells its colours.
//! let row = circuit.outputs()[0] as usize;
//! let (mut ours, mut theirs) = ([0], [0]);
//! colours(garbler.labels(row), &mut ours);
//! colours(evaluator.labels(row), &mut theirs);
//! assert_eq!(ours[0] ^ theirs[0], 0b1000);
//! # Ok::<(), GarblingError>(())
//! ```

mod arena;
pub mod bmr;
mod chunk;
mod error;
mod evaluator;
mod fused;
mod garbler;
mod instance;
mod label;
mod numbers;
mod shape;

pub use chunk::{Chunk, Program, Walk};
pub use error::{Fault, GarblingError};
pub use evaluator::Evaluator;
pub use garbler::Garbler;
pub use instance::Instance;
pub use label::{Offset, colours};
pub use madrigal_kernels::{Block, LabelOps, Scheme};
pub use numbers::Planes;
pub use shape::Shape;
