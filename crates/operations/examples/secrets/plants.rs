//! Leaks on purpose: if these are not found, nothing is.

use std::hint::black_box;

use madrigal_core::Party;
use madrigal_kernels::marks;

use crate::{Outcome, Path, drawn, world};

/// The names say which function the report has to name.
pub(crate) const PATHS: &[Path] = &[
    ("plant:branch_on_a_bit", || {
        black_box(branch_on_a_bit(&drawn(1, 16)));
        Ok(())
    }),
    ("plant:table_by_a_byte", || {
        black_box(table_by_a_byte(&[7; 256], &drawn(2, 16)));
        Ok(())
    }),
    ("plant:branch_on_a_received_share", received),
    ("plant:none", || {
        let mut declared = drawn(3, 16);
        marks::public(declared.as_mut_slice());
        black_box(branch_on_a_bit(&declared));
        black_box(table_by_a_byte(&[7; 256], &declared));
        Ok(())
    }),
];

#[inline(never)]
fn branch_on_a_bit(secret: &[u8]) -> u64 {
    if secret[3] >> 5 & 1 == 1 {
        black_box(1)
    } else {
        black_box(2)
    }
}

#[inline(never)]
fn table_by_a_byte(table: &[u8; 256], secret: &[u8]) -> u8 {
    table[usize::from(secret[9])]
}

#[inline(never)]
fn branch_on_a_received_share(share: &[u8]) -> u64 {
    if share.contains(&black_box(17)) {
        black_box(1)
    } else {
        black_box(2)
    }
}

/// The marks go along with a generator's output through a message.
fn received() -> Outcome {
    world(2).run(|context| async move {
        let step = context.step("share");
        let mut channel = step.channel(Party::new(1 - context.me().index()))?;
        let mut share = vec![0; 32];
        context.private_prg().fill(&mut share);
        channel.send(share).await?;
        let received = channel.recv(32).await?;
        Ok(branch_on_a_received_share(&received))
    });
    Ok(())
}
