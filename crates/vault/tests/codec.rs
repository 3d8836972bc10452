//! Messages about batches, as bytes and in frames.

use std::sync::Arc;

use madrigal_core::Digest256;
use madrigal_vault::Id;
use madrigal_vault::agreement::{
    Assembler, Bits, Chosen, FRAME_BYTES, FrameError, Hello, MAX_IDS, MAX_OVERDUE, MAX_REASON,
    Message, Outcome, Preparation, frames, shortened,
};

use crate::random::Random;

fn ids(count: usize) -> Arc<[Id]> {
    let id = |i: usize| {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&(i as u64).to_be_bytes());
        id
    };
    (0..count).map(id).collect()
}

fn bits(random: &mut Random, count: usize) -> Bits {
    let bits: Vec<bool> = (0..count).map(|_| random.one_in(2)).collect();
    Bits::new(bits.into_iter())
}

/// One message of each kind, with random contents.
fn messages(random: &mut Random) -> Vec<Message> {
    let count = random.below(20);
    let n = 1 + random.word() % 1000;
    let attempt = random.word();
    let digest = Digest256(std::array::from_fn(|_| random.word() as u8));
    let reason = "wörter ".repeat(random.below(100));
    let reason = shortened(&reason);
    let failed = Outcome::Failed {
        reason: reason.clone(),
    };
    let run = 1 + random.below(100) as u32;
    let counted = Outcome::Final { run };
    let refused = random.one_in(2).then(|| reason.clone());
    vec![
        Message::Hello(Hello::default()),
        Message::Hello(Hello {
            ended: Some((n, digest, failed.clone())),
            prepared: Some(Preparation {
                n: n + 1,
                digest,
                refused,
                done: run - 1,
            }),
        }),
        Message::Propose {
            attempt,
            n,
            ids: ids(count),
            overdue: bits(random, count),
        },
        Message::Have {
            attempt,
            n,
            least: random.word(),
            have: bits(random, count),
            overdue: ids(count).to_vec(),
        },
        Message::Barred {
            ids: ids(count).to_vec(),
        },
        Message::Prepare {
            n,
            digest,
            chosen: Chosen::Of {
                attempt,
                bits: bits(random, count),
            },
        },
        Message::Prepare {
            n,
            digest,
            chosen: Chosen::Ids(ids(count)),
        },
        Message::Prepared { n, digest },
        Message::Refused {
            n,
            digest,
            reason: reason.clone(),
        },
        Message::Run { n, run },
        Message::Done { n, run },
        Message::Broken {
            n,
            run,
            reason: reason.clone(),
        },
        Message::End {
            n,
            digest,
            outcome: failed,
        },
        Message::End {
            n,
            digest,
            outcome: counted,
        },
        Message::Ended { n },
        Message::Halted { reason },
    ]
}

#[test]
fn messages_are_read_as_they_were_written() {
    let mut random = Random::new(madrigal_testkit::seed());
    for _ in 0..50 {
        for message in messages(&mut random) {
            let bytes = message.encode();
            assert_eq!(Message::decode(&bytes), Ok(message.clone()));
            for end in 0..bytes.len() {
                assert!(Message::decode(&bytes[..end]).is_err(), "{message:?}");
            }
            let longer = [&bytes[..], &[0]].concat();
            assert!(Message::decode(&longer).is_err());
            // Changed anywhere, it is refused, or another message with these very bytes.
            let mut changed = bytes.clone();
            let at = random.below(bytes.len());
            changed[at] ^= 1 << random.below(8);
            if let Ok(other) = Message::decode(&changed) {
                assert_eq!(other.encode(), changed);
            }
        }
    }
}

#[test]
fn numbers_that_nothing_has_are_refused() {
    for n in [0, u64::MAX] {
        assert!(Message::decode(&Message::Ended { n }.encode()).is_err());
    }
    for run in [0, u32::MAX] {
        assert!(Message::decode(&Message::Run { n: 1, run }.encode()).is_err());
    }
    let n = u64::MAX - 1;
    assert!(Message::decode(&Message::Ended { n }.encode()).is_ok());
    let twice = [[1; 32], [1; 32]];
    for ids in [&twice[..], &[[2; 32], [1; 32]]] {
        let overdue = Bits::new([false, true].into_iter());
        let message = Message::Propose {
            attempt: 0,
            n: 1,
            ids: ids.into(),
            overdue,
        };
        assert!(Message::decode(&message.encode()).is_err());
    }
}

/// What is announced takes no memory before it is there.
#[test]
fn lengths_are_bounded_at_their_ends() {
    let barred = |count| {
        Message::Barred {
            ids: ids(count).to_vec(),
        }
        .encode()
    };
    assert!(Message::decode(&barred(MAX_OVERDUE)).is_ok());
    assert!(Message::decode(&barred(MAX_OVERDUE + 1)).is_err());
    let mut announced = Message::Barred { ids: Vec::new() }.encode();
    announced[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(Message::decode(&announced).is_err());
    let reason = |length| Message::Halted {
        reason: "x".repeat(length),
    };
    assert_eq!(
        Message::decode(&reason(MAX_REASON).encode()),
        Ok(reason(MAX_REASON))
    );
    // What is too long is cut when it is written.
    let cut = Message::decode(&reason(MAX_REASON + 1).encode());
    assert_eq!(cut, Ok(reason(MAX_REASON)));
    assert_eq!(shortened(&"é".repeat(MAX_REASON)).len(), MAX_REASON);
    assert_eq!(
        shortened(&format!("x{}", "é".repeat(MAX_REASON))).len(),
        MAX_REASON - 1
    );
}

#[test]
fn the_longest_proposal_fits_its_frames() {
    let overdue = Bits::new((0..MAX_IDS).map(|i| i % 3 == 0));
    let message = Message::Propose {
        attempt: 1,
        n: 1,
        ids: ids(MAX_IDS),
        overdue,
    };
    let frames = frames(&message);
    assert_eq!(frames.len(), 31);
    assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES));
    let mut assembler = Assembler::new();
    let (last, first) = frames.split_last().unwrap();
    for frame in first {
        assert_eq!(assembler.frame(frame), Ok(None));
    }
    assert_eq!(assembler.frame(last), Ok(Some(message)));
    let small = Message::Ended { n: 1 };
    let frames = madrigal_vault::agreement::frames(&small);
    assert_eq!(assembler.frame(&frames[0]), Ok(Some(small)));
}

#[test]
fn frames_without_end_are_refused() {
    let mut assembler = Assembler::new();
    let mut whole = vec![0; FRAME_BYTES];
    let taken = (0..100).find(|_| assembler.frame(&whole).is_err());
    assert_eq!(taken, Some(30));
    for frame in [&[][..], &[0], &[1], &[2, 0], &[0, 1, 2]] {
        assert_eq!(assembler.frame(frame), Err(FrameError::Damaged));
    }
    whole.push(0);
    assert_eq!(
        assembler.frame(&whole),
        Err(FrameError::Long(FRAME_BYTES + 1))
    );
}
