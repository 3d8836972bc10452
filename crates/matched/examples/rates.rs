//! Times of programs on matched bins on this machine: `cargo run --release -p madrigal-matched --example rates [BINS] [WAYS...]`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;

use madrigal_correlations_make::Extension;
use madrigal_engine::{Matrices, Origin, Phases};
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party, Program};

const R: Party = Party::new(0);
const S: Party = Party::new(1);

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 31).wrapping_mul(0x7fb5_d329_728e_a185);
    let x = (x ^ x >> 27).wrapping_mul(0x81da_def4_bc2d_d44d);
    x ^ x >> 33
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let m: usize = args[0].parse()?;
    let way = &args[1];
    let k = &args[2];
    let mixed: Mix = args[3].parse()?;
    let a: Vec<u64> = (0..m as u64).map(mix).collect();
    let t: Vec<u64> = (0..m as u64).map(|i| if i % 3 == 0 { mix(i) } else { mix(i + 1 << 40) }).collect();
    let z: Vec<u64> = (0..m as u64).map(|i| mix(i ^ 77 << 50)).collect();
    let w: Vec<u64> = (0..m as u64).map(|i| z[i as usize].wrapping_sub(i)).collect();
    let mut p = Program::new(2);
    let (pa, pt) = (p.input::<u64>(R, [m]), p.input::<u64>(S, [m]));
    let mut inputs = Inputs::new().with(a).with(t);
    let member = pa.eq(&pt);
    match way.as_str() {
        "count" => {
            p.open(member.cast::<u64>().sum(0), Everyone);
        }
        "sum" => {
            let (pz, pw) = (p.input::<u64>(R, [m]), p.input::<u64>(S, [m]));
            inputs = inputs.with(z).with(w);
            let zero = p.constant(0u64);
            p.open(member.select(pz - pw, zero).sum(0), Everyone);
        }
        "sum2" => {
            let (pz, pw) = (p.input::<u64>(R, [m]), p.input::<u64>(S, [m]));
            inputs = inputs.with(z).with(w);
            p.open((member.cast::<u64>() * pz).sum(0) - (member.cast::<u64>() * pw).sum(0), Everyone);
        }
        "sum3" => {
            let (pz, pw) = (p.input::<u64>(R, [m]), p.input::<u64>(S, [m]));
            inputs = inputs.with(z).with(w);
            let zero = p.constant(0u64);
            p.open(member.select(pz, &zero).sum(0) - member.select(pw, &zero).sum(0), Everyone);
        }
        _ => panic!("way"),
    }
    let program = p.finish()?;
    let extension = match k.as_str() { "silent" => Extension::Silent, k => Extension::SoftSpoken(madrigal_ot::softspoken::FieldBits::new(k.parse()?)?) };
    let planned = program.plan(mixed, None, &|spec| {
        spec.memory = 3 << 30;
        if std::env::var("SEQ").is_ok() { spec.phases = Some(Phases::Sequential); }
        let matrices = Matrices::Ot;
        spec.origin = Origin::Ot { extension, threads: 1, matrices };
    })?;
    println!("{planned}");
    if std::env::var("OPS").is_ok() { for line in planned.plan.spec().graph.describe() { println!("   {line}"); } }
    let expected = program.simulate(&inputs)?;
    for _ in 0..3 {
        let ended = planned.run_locally(&program, &inputs)?;
        for party in &ended {
            let o = &party.outcome;
            println!("total {:.3} base {:.3} setup {:.3} online {:.3} bytes {} + {}", o.total.as_secs_f64(), o.opening.as_secs_f64(), o.setup.time.as_secs_f64(), o.online.time.as_secs_f64(), o.setup.spent.bytes_sent, o.online.spent.bytes_sent);
            let codes = |outputs: &madrigal_program::Outputs| outputs.arrays().map(|a| a.map(|a| a.codes().collect::<Vec<_>>())).collect::<Vec<_>>();
            assert_eq!(codes(&party.outputs), codes(&expected));
        }
    }
    Ok(())
}
