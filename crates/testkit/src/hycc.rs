//! Modules of HyCC's format, written byte by byte: for tests of what reads them.

/// Opcodes of gates.
#[allow(missing_docs, reason = "the names are the gates'")]
pub mod op {
    pub const AND: u8 = 0x01;
    pub const OR: u8 = 0x02;
    pub const XOR: u8 = 0x03;
    pub const NOT: u8 = 0x04;
    pub const ONE: u8 = 0x05;
    pub const ADD: u8 = 0xc1;
    pub const SUB: u8 = 0xc2;
    pub const NEG: u8 = 0xc3;
    pub const MUL: u8 = 0xc4;
    pub const CONST: u8 = 0xc5;
    pub const SPLIT: u8 = 0xe0;
}

/// A type, as its bytes, and its bits.
#[derive(Debug, Clone)]
pub struct HyccType {
    bytes: Vec<u8>,
    bits: u64,
}

impl HyccType {
    /// A signed integer.
    pub fn int(bits: u64) -> Self {
        Self {
            bytes: [vec![1], var(bits)].concat(),
            bits,
        }
    }

    /// A bit.
    pub fn bool() -> Self {
        Self {
            bytes: vec![5, 1],
            bits: 1,
        }
    }

    /// Elements of this type.
    #[must_use]
    pub fn array(&self, len: u64) -> Self {
        Self {
            bytes: [vec![3], var(len), self.bytes.clone()].concat(),
            bits: len * self.bits,
        }
    }

    /// A struct.
    pub fn members(members: &[(&str, Self)]) -> Self {
        let mut bytes = [vec![4], var(members.len() as u64)].concat();
        for (name, member) in members {
            put_name(&mut bytes, name);
            bytes.extend(&member.bytes);
        }
        let bits = members.iter().map(|(_, member)| member.bits).sum();
        Self { bytes, bits }
    }
}

/// A module in the making: first its inputs and the returns of its calls, then gates, then outputs and the
/// arguments of calls.
#[derive(Debug, Clone, Default)]
pub struct HyccModule {
    name: String,
    inputs: Vec<u8>,
    outputs: Vec<(String, HyccType, Vec<u32>)>,
    calls: Vec<Call>,
    partition: Vec<u8>,
    counts: [u32; 4],
    gates: Vec<u8>,
    wires: u32,
}

#[derive(Debug, Clone)]
struct Call {
    callee: String,
    returns: Vec<(String, HyccType)>,
    arguments: Vec<(String, HyccType, Vec<u32>)>,
}

impl HyccModule {
    /// A module of this name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// An input, in pins of this width; their wires.
    pub fn input(&mut self, name: &str, owner: u8, ty: &HyccType, pin: u8) -> Vec<u32> {
        assert!(self.calls.is_empty(), "inputs come first");
        put_name(&mut self.inputs, name);
        self.inputs.push(owner);
        self.inputs.extend(&ty.bytes);
        self.counts[0] += 1;
        self.pins(ty, pin)
    }

    /// A call, and its returns in pins of this width; their wires.
    pub fn call(&mut self, callee: &str, returns: &[(&str, HyccType)], pin: u8) -> Vec<Vec<u32>> {
        let wires = returns.iter().map(|(_, ty)| self.pins(ty, pin)).collect();
        self.calls.push(Call {
            callee: callee.into(),
            returns: returns
                .iter()
                .map(|(n, ty)| ((*n).into(), ty.clone()))
                .collect(),
            arguments: Vec::new(),
        });
        wires
    }

    fn pins(&mut self, ty: &HyccType, pin: u8) -> Vec<u32> {
        let count = (ty.bits / u64::from(pin)) as u32;
        self.partition.push(0x40);
        self.partition.extend(var(count.into()));
        self.partition.push(0);
        self.partition.extend(var(pin.into()));
        self.counts[1] += 1;
        self.counts[2] += count;
        self.wires += count;
        (self.wires - count..self.wires).collect()
    }

    /// A gate of one wire.
    pub fn gate(&mut self, opcode: u8, operands: &[u32]) -> u32 {
        self.put_gate(opcode, operands, 1)[0]
    }

    /// The bits of a word of this width.
    pub fn split(&mut self, word: u32, width: u32) -> Vec<u32> {
        self.put_gate(op::SPLIT, &[word], width)
    }

    /// A word of bits.
    pub fn combine(&mut self, bits: &[u32]) -> u32 {
        self.gate(0x40 | (bits.len() - 1) as u8, bits)
    }

    /// A constant word.
    pub fn constant(&mut self, width: u64, value: u64) -> u32 {
        let wire = self.gate(op::CONST, &[]);
        self.gates.extend(var(width));
        self.gates.extend(var(value));
        wire
    }

    fn put_gate(&mut self, opcode: u8, operands: &[u32], wires: u32) -> Vec<u32> {
        self.gates.push(opcode);
        for operand in operands {
            self.gates.extend(operand.to_le_bytes());
        }
        self.counts[3] += 1;
        self.wires += wires;
        (self.wires - wires..self.wires).collect()
    }

    /// An output from these wires.
    pub fn output(&mut self, name: &str, ty: &HyccType, from: &[u32]) {
        self.outputs.push((name.into(), ty.clone(), from.to_vec()));
    }

    /// An argument of the call of this number.
    pub fn argument(&mut self, call: usize, name: &str, ty: &HyccType, from: &[u32]) {
        let arguments = &mut self.calls[call].arguments;
        arguments.push((name.into(), ty.clone(), from.to_vec()));
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let arguments = self.calls.iter().flat_map(|call| &call.arguments);
        let fan_ins = self.outputs.iter().chain(arguments);
        let fan_ins: Vec<u32> = fan_ins.flat_map(|(_, _, from)| from).copied().collect();
        let mut bytes = vec![0x6c, 0xc0, 0x11, 0xcb, 5];
        for count in [
            self.counts[3],
            self.counts[2],
            fan_ins.len() as u32,
            self.counts[0],
            self.outputs.len() as u32,
            self.calls.len() as u32,
        ] {
            bytes.extend(count.to_le_bytes());
        }
        put_name(&mut bytes, &self.name);
        bytes.push(0);
        bytes.extend(&self.inputs);
        for (name, ty, _) in &self.outputs {
            put_name(&mut bytes, name);
            bytes.extend(&ty.bytes);
        }
        for call in &self.calls {
            put_name(&mut bytes, &call.callee);
            bytes.extend((call.arguments.len() as u32).to_le_bytes());
            bytes.extend((call.returns.len() as u32).to_le_bytes());
            for (name, ty) in &call.returns {
                put_name(&mut bytes, name);
                bytes.extend(&ty.bytes);
            }
            for (name, ty, _) in &call.arguments {
                put_name(&mut bytes, name);
                bytes.extend(&ty.bytes);
            }
        }
        bytes.push(0x80);
        bytes.extend(var(self.counts[1].into()));
        bytes.extend(&self.partition);
        bytes.extend(&self.gates);
        fan_ins
            .iter()
            .for_each(|wire| bytes.extend(wire.to_le_bytes()));
        bytes
    }
}

/// Seven bits in each byte, the lowest first.
fn var(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn put_name(bytes: &mut Vec<u8>, name: &str) {
    bytes.extend(name.as_bytes());
    bytes.push(0);
}
