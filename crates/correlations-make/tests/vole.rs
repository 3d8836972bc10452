//! VOLE between two parties of a session: values and tags fit the keys, and cost is declared. Checked instances end where a party deviates.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use std::task::Context as Task;

use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_correlations_make::{
    Security, VOLE_ANSWER_BYTES, VOLE_CHALLENGE_BYTES, VoleBase, VoleCosts, VoleKeys, VoleValues,
};
use madrigal_kernels::{Block, Element, Kernels};
use madrigal_net::transport::{Closing, Inbox, Packet, Transport, mesh};
use madrigal_net::{Context, Error, Result};
use madrigal_ot::softspoken::check;
use madrigal_testkit::{World, seed};

/// One side's outcome: Delta and keys, or values and tags.
type Side<V> = (Option<Block>, Vec<V>, Vec<Block>);

fn is_bug<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Bug { .. }))
}

async fn side<V: Element>(
    context: Context,
    calls: &[usize],
    total: u64,
    security: Security,
) -> Result<Side<V>> {
    let context = context.enter(Phase::Setup, "vole");
    let base = VoleBase::new(&context).await?;
    let m = calls.iter().sum();
    let (mut values, mut tags) = (vec![V::default(); m], vec![Block::ZERO; m]);
    let peer = Party::new(1 - context.me().index());
    let checks = context.step("checks");
    let mut channel = checks.channel(peer)?;
    let mut at = 0;
    if context.me() == Party::new(0) {
        let mut keys = VoleKeys::<V>::new(&context, &base, (peer, 3), total, security).await?;
        for &call in calls {
            let made = &mut tags[at..at + call];
            keys.extend(made).await?;
            if security == Security::Malicious {
                let challenge = channel.recv(VOLE_CHALLENGE_BYTES).await?;
                channel
                    .send(keys.answer(&challenge, made)?.to_vec())
                    .await?;
                checks.flush();
            }
            at += call;
        }
        let other = match security {
            Security::SemiHonest => Security::Malicious,
            Security::Malicious => Security::SemiHonest,
        };
        let mixed = VoleKeys::<V>::new(&context, &base, (peer, 4), total, other).await;
        assert!(is_bug(mixed));
        assert!(is_bug(keys.answer(&[0; VOLE_CHALLENGE_BYTES], &tags)));
        return Ok((Some(*keys.delta()), values, tags));
    }
    let mut made = VoleValues::<V>::new(&context, &base, (peer, 3), total, security).await?;
    for &call in calls {
        let (values, tags) = (&mut values[at..at + call], &mut tags[at..at + call]);
        made.extend(values, tags).await?;
        if security == Security::Malicious {
            assert!(is_bug(made.extend(values, tags).await), "no challenge yet");
            let (challenge, expected) = made.challenge(values, tags)?;
            channel.send(challenge).await?;
            checks.flush();
            let mut answer = channel.recv(VOLE_ANSWER_BYTES).await?.to_vec();
            assert!(expected.check(&answer));
            answer[call % VOLE_ANSWER_BYTES] ^= 1;
            assert!(!expected.check(&answer));
        }
        at += call;
    }
    assert!(is_bug(made.challenge(&values, &tags)));
    Ok((None, values, tags))
}

fn check<V: Element>(calls: &[usize], total: u64, security: Security) {
    let world = World::light(2, seed());
    let sides = world.run(|context| side::<V>(context, calls, total, security));
    let [(first, first_cost), (second, second_cost)] = <[_; 2]>::try_from(sides).ok().unwrap();
    let (delta, _, mut keys) = first;
    let (_, values, tags) = second;
    Kernels::detect().field_multiply_add(delta.unwrap(), &values, &mut keys);
    assert!(keys == tags, "tags of {} values", values.len());

    let mut costs = VoleCosts::<V>::new(total, security);
    let (mut at_keys, mut at_values) = (VoleBase::cost(), VoleBase::cost());
    let start = costs.start();
    at_keys += start.keys;
    at_values += start.values;
    for &call in calls {
        let one = costs.extend(call);
        at_keys += one.keys;
        at_values += one.values;
        if security == Security::Malicious {
            let (challenge, answer) = (VOLE_CHALLENGE_BYTES as u64, VOLE_ANSWER_BYTES as u64);
            let check = costs.check(call);
            let message = |sent, received| PhaseCost {
                rounds: 2,
                bytes_sent: sent,
                bytes_received: received,
                messages: 1,
                aes_blocks: 0,
            };
            at_keys += check.keys;
            at_keys += message(answer, challenge);
            at_values += check.values;
            at_values += message(challenge, answer);
        }
    }
    // Elements travel with the message of the beginning: a party that sends alone waits for nobody.
    let strip = |cost: PhaseCost| PhaseCost { rounds: 0, ..cost };
    assert_eq!(strip(first_cost.setup), strip(at_keys));
    assert_eq!(strip(second_cost.setup), strip(at_values));
    assert_eq!(
        first_cost.setup.rounds.max(second_cost.setup.rounds),
        at_keys.rounds
    );
}

#[test]
fn values_and_tags_fit_the_keys() {
    check::<u64>(&[1, 1000, 0, 37], 2000, Security::SemiHonest);
    check::<Block>(&[1000], 1000, Security::SemiHonest);
    // More elements than in one piece, and than announced.
    check::<u64>(&[(1 << 20) + 5], 1 << 20, Security::SemiHonest);
}

#[test]
fn checked_elements_fit_the_keys() {
    check::<u64>(&[1, 1000, 0, 37], 2000, Security::Malicious);
    check::<Block>(&[1000, 3], 1000, Security::Malicious);
    check::<u64>(&[(1 << 20) + 5], 1 << 20, Security::Malicious);
}

/// Changes the first bit of each message of this length.
struct Tampering<T> {
    inner: T,
    length: usize,
}

impl<T: Transport> Transport for Tampering<T> {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }

    fn send(&self, to: Party, mut packet: Packet) {
        for frame in &mut packet.frames {
            if frame.payload.len() == self.length {
                let mut payload = frame.payload.to_vec();
                payload[0] ^= 1;
                frame.payload = payload.into();
            }
        }
        self.inner.send(to, packet);
    }

    fn close(&self) {
        self.inner.close();
    }

    fn closing(&self, task: &mut Task<'_>) -> Closing {
        self.inner.closing(task)
    }
}

/// The party with Delta ends with an error that names the other one, before it has sent anything that depends on Delta.
#[test]
fn a_wrong_answer_to_the_check_of_columns_ends_the_job() {
    let length = check::ANSWER_BYTES;
    let transports = mesh(2).into_iter();
    let transports = transports.map(|inner| Tampering { inner, length });
    let world = World::light(2, seed());
    let results = world.run_over(transports.collect(), |context| {
        side::<u64>(context, &[100], 100, Security::Malicious)
    });
    let errors: Vec<Error> = results.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0].culprit(), Some(Party::new(1)));
    let text = errors[0].to_string();
    assert!(text.contains("does not fit what it sent before"), "{text}");
}
