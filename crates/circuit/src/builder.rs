//! Netlists made by programs.

use crate::netlist::{Assembler, Format, Gate, MAX_WIRES, Netlist};

/// A wire of a [`Builder`]; of no use with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wire(u32);

/// Makes a netlist gate by gate. Numbers are slices of wires, least significant bit first, and
/// arithmetic costs one AND per bit, in a chain.
///
/// ```
/// use madrigal_circuit::Builder;
/// let mut builder = Builder::new("add8");
/// let (a, b) = (builder.input(8), builder.input(8));
/// let sum = builder.add(&a, &b);
/// builder.output(&sum);
/// assert_eq!(builder.finish().stats().and, 7);
/// ```
///
/// # Panics
/// Operations on two numbers panic if their widths differ, all panic beyond 2^30 wires.
#[derive(Debug, Default)]
pub struct Builder {
    name: String,
    wires: u32,
    inputs: Vec<Vec<Wire>>,
    outputs: Vec<Vec<Wire>>,
    gates: Vec<Gate>,
}

impl Builder {
    /// An empty netlist; `name` is for messages.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The next input value, `width` bits.
    pub fn input(&mut self, width: u32) -> Vec<Wire> {
        let wires: Vec<_> = (0..width).map(|_| self.wire()).collect();
        self.inputs.push(wires.clone());
        wires
    }

    /// The next output value. Any wires will do: inputs, and the same one again.
    pub fn output(&mut self, bits: &[Wire]) {
        self.outputs.push(bits.to_vec());
    }

    /// A constant bit.
    pub fn constant(&mut self, bit: bool) -> Wire {
        self.gate(|out| Gate::Const { bit, out })
    }

    /// `a ^ b`
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(|out| Gate::Xor {
            a: a.0,
            b: b.0,
            out,
        })
    }

    /// `a & b`
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(|out| Gate::And {
            a: a.0,
            b: b.0,
            out,
        })
    }

    /// `a | b`; one AND.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(|out| Gate::Or {
            a: a.0,
            b: b.0,
            out,
        })
    }

    /// `!a`
    pub fn not(&mut self, a: Wire) -> Wire {
        self.gate(|out| Gate::Inv { a: a.0, out })
    }

    /// `a + b` modulo 2^width; width - 1 ANDs.
    pub fn add(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        self.sum(a, b, None)
    }

    /// `a - b` modulo 2^width; width - 1 ANDs.
    pub fn sub(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let b: Vec<_> = b.iter().map(|&bit| self.not(bit)).collect();
        let one = self.constant(true);
        self.sum(a, &b, Some(one))
    }

    /// `a < b`, both unsigned; width ANDs, in a chain.
    pub fn less(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        same_width(a, b);
        // Borrow of a - b, by a + !b + 1: no carry leaves it exactly if a < b.
        let mut carry = self.constant(true);
        for (&a, &b) in a.iter().zip(b) {
            let b = self.not(b);
            carry = self.majority(a, b, carry);
        }
        self.not(carry)
    }

    /// `a == b`; width - 1 ANDs, in a tree.
    pub fn equal(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        same_width(a, b);
        let mut level: Vec<_> = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| (a, b))
            .map(|(a, b)| self.xor(a, b))
            .collect();
        level = level.into_iter().map(|bit| self.not(bit)).collect();
        while level.len() > 1 {
            let pairs: Vec<_> = level.chunks(2).map(<[_]>::to_vec).collect();
            level = pairs
                .into_iter()
                .map(|p| {
                    if let [a, b] = p[..] {
                        self.and(a, b)
                    } else {
                        p[0]
                    }
                })
                .collect();
        }
        level.pop().unwrap_or_else(|| self.constant(true))
    }

    /// `a` where `condition` is 1, else `b`; width ANDs, all at once.
    pub fn select(&mut self, condition: Wire, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        same_width(a, b);
        let mut bit = |(&a, &b): (&Wire, &Wire)| {
            let differ = self.xor(a, b);
            let change = self.and(condition, differ);
            self.xor(change, b)
        };
        a.iter().zip(b).map(&mut bit).collect()
    }

    /// The netlist. Inputs get the first wires and outputs the last ones, by way of a copy where an
    /// output is an input or stands there twice.
    pub fn finish(mut self) -> Netlist {
        const FREE: u32 = u32::MAX;
        let copies = self.copies();
        let mut number = vec![FREE; self.wires as usize];
        let mut inputs = 0;
        for wire in self.inputs.iter().flatten() {
            number[wire.0 as usize] = inputs;
            inputs += 1;
        }
        let outputs = self.outputs.iter().map(Vec::len).sum::<usize>() as u32;
        let wires = self.wires;
        for (at, wire) in self.outputs.iter().flatten().enumerate() {
            number[wire.0 as usize] = wires - outputs + at as u32;
        }
        let between = number.iter_mut().filter(|number| **number == FREE);
        (inputs..)
            .zip(between)
            .for_each(|(next, number)| *number = next);
        let widths = |values: &[Vec<Wire>]| values.iter().map(|value| value.len() as u32).collect();
        let (inputs, outputs) = (widths(&self.inputs), widths(&self.outputs));
        let at = |wire: u32| number[wire as usize];
        let valid = "the builder assigns each wire once, before it can be read";
        let mut assembler =
            Assembler::new(&self.name, Format::BristolFashion, wires, inputs, outputs)
                .expect(valid);
        for gate in self.gates.into_iter().chain(copies) {
            let gate = match gate {
                Gate::Xor { a, b, out } => Gate::Xor {
                    a: at(a),
                    b: at(b),
                    out: at(out),
                },
                Gate::And { a, b, out } => Gate::And {
                    a: at(a),
                    b: at(b),
                    out: at(out),
                },
                Gate::Or { a, b, out } => Gate::Or {
                    a: at(a),
                    b: at(b),
                    out: at(out),
                },
                Gate::Inv { a, out } => Gate::Inv {
                    a: at(a),
                    out: at(out),
                },
                Gate::Copy { a, out } => Gate::Copy {
                    a: at(a),
                    out: at(out),
                },
                Gate::Const { bit, out } => Gate::Const { bit, out: at(out) },
                Gate::Mand(_) => unreachable!("the builder makes no MAND"),
            };
            assembler.gate(gate).expect(valid);
        }
        assembler.finish().expect(valid)
    }

    /// Gives each output that is an input or another output a wire of its own.
    fn copies(&mut self) -> Vec<Gate> {
        let mut taken = vec![false; self.wires as usize];
        self.inputs
            .iter()
            .flatten()
            .for_each(|wire| taken[wire.0 as usize] = true);
        let mut outputs = std::mem::take(&mut self.outputs);
        let mut copies = Vec::new();
        for wire in outputs.iter_mut().flatten() {
            if std::mem::replace(&mut taken[wire.0 as usize], true) {
                let out = self.wire();
                copies.push(Gate::Copy {
                    a: wire.0,
                    out: out.0,
                });
                *wire = out;
            }
        }
        self.outputs = outputs;
        copies
    }

    /// `a + b + carry` modulo 2^width; the carry out of the last bit is not made.
    fn sum(&mut self, a: &[Wire], b: &[Wire], mut carry: Option<Wire>) -> Vec<Wire> {
        same_width(a, b);
        let width = a.len();
        let mut sum = Vec::with_capacity(width);
        for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
            let half = self.xor(a, b);
            sum.push(carry.map_or(half, |carry| self.xor(half, carry)));
            if i + 1 < width {
                carry = Some(match carry {
                    None => self.and(a, b),
                    Some(carry) => self.majority(a, b, carry),
                });
            }
        }
        sum
    }

    /// At least two of three; one AND.
    fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let (ac, bc) = (self.xor(a, c), self.xor(b, c));
        let both = self.and(ac, bc);
        self.xor(both, c)
    }

    fn gate(&mut self, gate: impl FnOnce(u32) -> Gate) -> Wire {
        let out = self.wire();
        self.gates.push(gate(out.0));
        out
    }

    fn wire(&mut self) -> Wire {
        assert!(
            self.wires < MAX_WIRES,
            "a netlist has at most {MAX_WIRES} wires"
        );
        self.wires += 1;
        Wire(self.wires - 1)
    }
}

fn same_width(a: &[Wire], b: &[Wire]) {
    assert_eq!(
        a.len(),
        b.len(),
        "both numbers must have the same width in bits"
    );
}
