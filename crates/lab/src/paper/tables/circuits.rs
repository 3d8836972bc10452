//! Table 4: AES-128 and SHA-256.

use madrigal_engine::Sharing;

use super::bench::{Bench, Row};
use crate::args::{BenchCircuit, How, ProtocolArg, TransportArg};
use crate::circuits::measure;
use crate::exit::Result;
use crate::known::Known;

struct Circuit {
    name: &'static str,
    known: fn() -> Known,
    protocol: ProtocolArg,
    lanes: u64,
}

/// Milliseconds of one evaluation, total and online, with 2, 3 and 5 parties, LAN and WAN.
const PAPER: [(&str, [[[f64; 2]; 3]; 2]); 4] = [
    (
        "AES^B",
        [
            [[1.9, 0.4], [2.5, 0.5], [3.8, 0.8]],
            [[13.8, 7.3], [14.9, 7.7], [18.9, 8.1]],
        ],
    ),
    (
        "AES^Y",
        [
            [[4.7, 0.2], [8.0, 0.2], [17.1, 0.4]],
            [[61.1, 0.5], [87.8, 0.7], [141.7, 0.9]],
        ],
    ),
    (
        "SHA^B",
        [
            [[8.3, 2.7], [10.8, 3.2], [16.0, 4.5]],
            [[500.2, 479.6], [572.4, 547.9], [614.1, 538.4]],
        ],
    ),
    (
        "SHA^Y",
        [
            [[19.0, 1.3], [29.6, 1.6], [61.8, 1.8]],
            [[201.9, 1.4], [279.3, 2.1], [492.6, 2.7]],
        ],
    ),
];

/// The paper's figures in seconds, where it has any.
fn paper(name: &str, network: &str, parties: usize) -> Option<[f64; 2]> {
    let (_, rows) = PAPER.iter().find(|(row, _)| *row == name)?;
    let rows = &rows[["lan", "wan"].iter().position(|known| *known == network)?];
    let place = [2, 3, 5].iter().position(|known| *known == parties)?;
    Some(rows[place].map(|milliseconds| milliseconds * 1e-3))
}

fn circuits(parties: usize) -> Vec<Circuit> {
    let mut all = Vec::new();
    let mut add = |name, protocol| {
        let (known, lanes): (fn() -> Known, _) = match name {
            "AES^B" | "AES^Y" | "AES^Y2" => (|| Known::Aes, 512),
            _ => (|| Known::Sha256, 256),
        };
        all.push(Circuit {
            name,
            known,
            protocol,
            lanes,
        });
    };
    for (of_b, of_y, of_y2) in [("AES^B", "AES^Y", "AES^Y2"), ("SHA^B", "SHA^Y", "SHA^Y2")] {
        add(of_b, ProtocolArg::of(Sharing::B));
        add(of_y, ProtocolArg::of(Sharing::Y));
        if parties == 2 {
            add(of_y2, ProtocolArg::of(Sharing::Y2));
        }
    }
    all
}

pub(super) fn rows(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    bench.everywhere(|parties, network, _| {
        for circuit in bench.wanted(circuits(parties), |circuit| circuit.name)? {
            let name = circuit.name;
            bench.steps.name(&format!("{name} of {parties}, {network}"));
            let args = BenchCircuit {
                parties,
                lanes: circuit.lanes,
                repeat: bench.args.repeat,
                transport: TransportArg::Tcp,
                network: network.to_owned(),
                how: How::of(circuit.protocol),
                json: true,
            };
            let measured = measure(args, (circuit.known)())?;
            let paper = paper(name, network, parties);
            let total = measured.total / circuit.lanes as f64;
            let row = Row {
                ops: circuit.lanes as usize,
                online_seconds: Some(measured.online / circuit.lanes as f64),
                paper_seconds: paper.map(|paper| paper[0]),
                paper_online_seconds: paper.map(|paper| paper[1]),
                faster: paper.map(|paper| paper[0] / total),
                ..bench.row(name.to_owned(), parties, network, total)
            };
            bench.tell(&mut rows, row)?;
        }
        Ok(())
    })?;
    Ok(rows)
}
