//! Clients, who bring and get values and compute nothing: in every mix, by real protocols, against the oracle; what servers
//! see; what is refused.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_circuit::Goal;
use madrigal_engine::{Element, Given, Shares, Sharing, Sort, evaluate_program};
use madrigal_kernels::meter::unmetered;
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Error, Session, SessionConfig, block_on};
use madrigal_program::lower::Mix;
use madrigal_program::{
    Client, Computation, Everyone, Fault, Fixed, Holder, InputError, InputShare, Inputs, Party,
    Plain, Program, Receivers, Rounding, StageError, Stages,
};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::{RUNS, must_agree, must_see_a_leak, ones_of};

use crate::running::{MIXES, runs};

type Price = Fixed<i64, 16>;

fn fixed(value: f64) -> Price {
    Price::from_f64(value).unwrap()
}

fn clinic() -> Client {
    Client::new("clinic")
}

/// Every kind of element and shape of two clients and a party; results to all kinds of receivers.
fn of_all_types(parties: usize) -> (Computation, Inputs) {
    let registry = Client::new("registry");
    let mut p = Program::new(parties);
    let flags = p.input_named::<bool>("flags", clinic(), [9]);
    let bytes = p.input::<u8>(&registry, [3]);
    let table = p.input_named::<i16>("table", clinic(), [2, 3]);
    let wide = p.input::<u128>(clinic(), ());
    let price = p.input::<Price>(&registry, [3]);
    let own = p.input::<Price>(Party::new(parties - 1), [3]);
    let none = p.input::<u32>(clinic(), [0]);
    p.open_named("flags", (!&flags, flags.any(0)), (Everyone, clinic()));
    p.open(bytes.gt(7u8), &registry);
    p.open(&table * &table + 1, clinic());
    p.open(
        table.least(1),
        [Holder::from(Party::new(0)), clinic().into()],
    );
    p.open(&wide + 1u128, Everyone);
    p.open_named("wide", &wide, &registry);
    p.open(price.dot(&own), (Party::new(1), (&registry, clinic())));
    p.open(&none, clinic());
    // What all know, and what a party brings, as it is.
    let public = p.constant([3u32, 4]);
    p.open(public, clinic());
    p.open(own, clinic());
    let inputs = Inputs::new()
        .with([true, false, true, true, false, false, false, true, true])
        .with([0u8, 255, 7])
        .with([[i16::MIN, -1, 0], [1, i16::MAX, 77]])
        .with(u128::MAX)
        .with([1.5, -2.25, 0.0].map(fixed))
        .with([3.0, -1.0, 0.5].map(fixed))
        .with(Vec::<u32>::new());
    (p.finish().unwrap(), inputs)
}

#[test]
fn clients_bring_and_get_every_type_in_every_mix() {
    for (mix, parties) in MIXES {
        let (program, inputs) = of_all_types(parties);
        for goal in [Goal::Size, Goal::Depth] {
            runs(&program, &inputs, mix, goal, "values of clients");
        }
    }
}

/// A client makes shares without a plan: the form that it takes is the one that the plan asks for.
#[test]
fn the_form_of_shares_follows_from_type_and_mix() {
    for (mix, parties) in MIXES {
        let (program, _) = of_all_types(parties);
        let executable = program.executable(mix, Goal::Size).unwrap();
        let graph = executable.graph();
        let shared = graph.inputs().iter().map(|&value| *graph.sort(value));
        let shared: Vec<Sort> = shared.filter(|sort| !sort.sharing.is_clear()).collect();
        let clients = program
            .inputs()
            .iter()
            .filter(|port| port.owner.client().is_some());
        let forms = clients.map(|port| {
            let (sharing, element) = mix.kept_form(port.tensor_type.element);
            Sort::new(sharing, element, port.tensor_type.shape.elements())
        });
        assert_eq!(shared, forms.collect::<Vec<_>>(), "{mix}");
        let kept = [Sharing::A, Sharing::B, Sharing::R];
        assert!(
            shared.iter().all(|sort| kept.contains(&sort.sharing)),
            "{mix}"
        );
        let bits = |sort: &&Sort| matches!(sort.element, Element::Bits(_));
        let expected = if mix.arithmetic_is_in_a_ring() { 1 } else { 6 };
        assert_eq!(shared.iter().filter(bits).count(), expected, "{mix}");
    }
}

/// Sums and comparisons of what two clients bring, to both of them and the last party.
fn compared(parties: usize) -> Computation {
    let (clinic, registry) = (clinic(), Client::new("registry"));
    let mut p = Program::new(parties);
    let x = p.input::<u16>(&clinic, ());
    let y = p.input::<u16>(&registry, ());
    let more = x.gt(&y).select(&x, &y);
    p.open(&x * &y, clinic);
    p.open(more, (registry, Party::new(parties - 1)));
    p.finish().unwrap()
}

/// The bits of what a server sees when clients bring these: messages that it receives, and its shares.
fn view(mix: Mix, parties: usize, server: Party, [x, y]: [u16; 2], seed: u64) -> Vec<u32> {
    let program = compared(parties);
    let planned = program.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
    let inputs = Inputs::new().with(x).with(y);
    let (program, planned, inputs) = (&program, &planned, &inputs);
    ones_of(parties, server, seed, async |context, run| {
        let me = context.me();
        let mut random = Prg::new(Block::new(seed, run));
        let dealt = unmetered(|| program.deal(inputs, mix, &mut random)).unwrap();
        let inputs = planned
            .executable
            .given(program, &dealt[me.index()], me)
            .unwrap();
        let shares: Vec<Shares> = inputs.clone();
        let given = Given {
            inputs,
            ..Given::default()
        };
        let ended = evaluate_program(&context, &planned.plan, given, &|_| {}).await;
        ended.map_err(|error| Error::bug(error.to_string()))?;
        Ok(shares.iter().flat_map(bytes_of).collect())
    })
}

/// The messages that a server receives and its shares, whatever clients bring: but for what it is to learn.
#[test]
fn what_a_server_sees_is_independent_of_what_clients_bring() {
    let seed = seed();
    must_see_a_leak();
    for (at, (mix, parties)) in MIXES.into_iter().enumerate() {
        // The last party learns the maximum, which is the same.
        let server = Party::new([0, parties - 1][(at + seed as usize) % 2]);
        let a = view(mix, parties, server, [7, 0xfff0], seed);
        let b = view(mix, parties, server, [0xfff0, 0x8009], !seed);
        must_agree(
            &a,
            &b,
            &format!("{mix}, {parties} parties, {server}, seed {seed}"),
        );
    }
}

/// All components of a share.
pub(crate) fn bytes_of(shares: &Shares) -> Vec<u8> {
    match shares.sort().element {
        Element::Bits(_) => shares.plane_bytes().to_vec(),
        Element::Ring(width) => madrigal_engine::with_ring!(width, T => {
            let components = 0..shares.sort().sharing.components();
            let bytes = components
                .flat_map(|component| madrigal_kernels::rings::as_bytes(shares.component::<T>(component)).to_vec());
            bytes.collect()
        }),
    }
}

/// Two parties cut bits off their shares by themselves: a client would see from these which bits were lost.
#[test]
fn a_client_learns_nothing_of_bits_that_were_cut_off() {
    let seed = seed();
    let mut p = Program::new(2).with_rounding(Rounding::Probabilistic);
    let x = p.input::<Price>(clinic(), ());
    p.open(&x * &x, clinic());
    let program = p.finish().unwrap();
    let planned = program.plan(Mix::AB, Some(Goal::Size), &|_| {}).unwrap();
    // 2^-16 has the square 0 and 2^-32 that is cut off.
    let views = [0, 1].map(|raw| {
        let inputs = Inputs::new().with(Price::from_raw(raw));
        let mut ones = vec![0u32; 64];
        for run in 0..RUNS {
            let mut random = Prg::new(Block::new(seed, run + 1000 * raw as u64));
            let dealt = program.deal(&inputs, Mix::AB, &mut random).unwrap();
            let ended = session_of(2, async |session, me| {
                let given = planned.given(&program, &dealt[me.index()], me).unwrap();
                planned
                    .run(session, 1, given, None, &|_| {})
                    .await
                    .unwrap()
                    .outputs
            });
            let shares: Vec<Shares> = ended
                .iter()
                .map(|one| one.shares().next().unwrap().unwrap().clone())
                .collect();
            let share = shares[0].component::<u64>(0)[0];
            (0..64).for_each(|bit| ones[bit] += (share >> bit & 1) as u32);
        }
        ones
    });
    must_agree(&views[0], &views[1], &format!("seed {seed}"));
}

/// Runs all parties of a session, each in a thread.
fn session_of<T: Send>(parties: usize, work: impl AsyncFn(&Session, Party) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = Party::all(parties)
            .zip(mesh(parties))
            .map(|(me, transport)| {
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(SessionConfig::new(me, parties), transport);
                        session.greet().await.unwrap();
                        let done = work(&session, me).await;
                        session.close().await;
                        done
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Parties with shares of two submissions learn of which input, before anything is computed.
#[test]
fn shares_of_different_submissions_are_refused_by_the_inputs_name() {
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::R, 3),
        (Mix::ALPHA_BETA, 2),
        (Mix::AY, 3),
    ] {
        let mut p = Program::new(parties);
        let x = p.input_named::<u32>("pay", clinic(), [2]);
        p.open(x.sum(0), Everyone);
        let program = p.finish().unwrap();
        let planned = program.plan(mix, None, &|_| {}).unwrap();
        let (sharing, element) = mix.kept_form(u32::TYPE);
        let share = |me: Party| InputShare {
            shares: Shares::zeros(Sort::new(sharing, element, 2)),
            submission: format!("submission {}", usize::from(me.index() == 1)),
        };
        let errors = session_of(parties, async |session, me| {
            let inputs = Inputs::new().with_share(Some("pay"), share(me));
            let given = planned.given(&program, &inputs, me).unwrap();
            planned
                .run(session, 1, given, None, &|_| {})
                .await
                .unwrap_err()
                .to_string()
        });
        for error in errors {
            let named = error.contains("submission of input 0 (\"pay\")");
            assert!(named && error.contains("submission 1"), "{mix}: {error}");
        }
    }
}

#[test]
fn wrong_shares_are_refused_before_anything_is_sent() {
    let (program, inputs) = of_all_types(2);
    let planned = program.plan(Mix::AB, None, &|_| {}).unwrap();
    let mut random = Prg::new(Block::new(seed(), 3));
    let me = Party::new(1);
    let refused = |inputs: &Inputs| planned.given(&program, inputs, me).unwrap_err();
    // Values of clients in the clear, where each party has a share.
    let error = refused(&inputs);
    assert!(matches!(error, InputError::NotShared { .. }), "{error}");
    assert!(
        error.to_string().contains("input 0 (\"flags\")")
            && error.to_string().contains("client clinic"),
        "{error}"
    );
    let zeros = |sharing, element, len| InputShare {
        shares: Shares::zeros(Sort::new(sharing, element, len)),
        submission: String::new(),
    };
    let dealt = program.deal(&inputs, Mix::AB, &mut random).unwrap();
    let with = |name: &str, share| dealt[1].clone().with_share(Some(name), share);
    for (share, why) in [
        (zeros(Sharing::B, Element::Bits(1), 8), "another shape"),
        (zeros(Sharing::R, Element::Bits(1), 9), "another sharing"),
        (zeros(Sharing::B, Element::Bits(2), 9), "another type"),
    ] {
        let error = refused(&with("flags", share));
        assert!(matches!(error, InputError::Share { .. }), "{why}: {error}");
    }
    let bits = zeros(Sharing::B, Element::Bits(1), 9);
    let error = refused(&with("other", bits.clone()));
    assert_eq!(
        error,
        InputError::Name {
            name: "other".into()
        }
    );
    let mut p = Program::new(2);
    let own = p.input_named::<bool>("own", me, [9]);
    p.open(own, clinic());
    let program = p.finish().unwrap();
    let planned = program.plan(Mix::AB, None, &|_| {}).unwrap();
    let inputs = Inputs::new().with([true; 9]).with_share(Some("own"), bits);
    let error = planned.given(&program, &inputs, me).unwrap_err();
    assert!(matches!(error, InputError::ShareOfPartys { .. }), "{error}");
}

#[test]
fn names_of_clients_and_single_parties_are_checked() {
    let long = "x".repeat(Client::LONGEST + 1);
    for name in ["", "a b", "a\nb", "caf\u{e9}", "a/b", &long] {
        let mut p = Program::new(2);
        let _ = p.input::<u8>(Client::new(name), ());
        let error = p.finish().unwrap_err();
        assert!(matches!(error.fault, Fault::ClientName { .. }), "{error}");
        let mut p = Program::new(2);
        let x = p.input::<u8>(Party::new(0), ());
        p.open(x, Client::new(name));
        assert!(matches!(
            p.finish().unwrap_err().fault,
            Fault::ClientName { .. }
        ));
    }
    let mut p = Program::new(1);
    let _ = p.input::<u8>(clinic(), ());
    assert_eq!(p.finish().unwrap_err().fault, Fault::OneParty);
    let longest = "y".repeat(Client::LONGEST);
    let mut p = Program::new(2);
    let x = p.input::<u8>(Client::new(&longest), ());
    p.open(x, Everyone);
    assert!(p.finish().is_ok());
}

#[test]
fn receivers_are_there_once_and_in_order() {
    let zero = Holder::from(Party::new(0));
    let twice = (clinic(), (Everyone, [clinic(), Client::new("a")]));
    let found = twice.receivers(2);
    let expected = [
        zero.clone(),
        Party::new(1).into(),
        Client::new("a").into(),
        clinic().into(),
    ];
    assert_eq!(found, expected);
    assert_eq!(vec![zero.clone(), zero.clone()].receivers(2), [zero]);
}

/// Two programs that differ in a client's name alone are different programs.
#[test]
fn clients_are_part_of_a_programs_digest() {
    let with = |owner: Holder, to: Holder| {
        let mut p = Program::new(2);
        let x = p.input::<u8>(owner, ());
        p.open(x, to);
        p.finish().unwrap()
    };
    let party = Holder::from(Party::new(0));
    let clients = ["a", "b"].map(|name| Holder::from(Client::new(name)));
    let all = [
        with(party.clone(), party.clone()),
        with(clients[0].clone(), party.clone()),
        with(clients[1].clone(), party.clone()),
        with(party.clone(), clients[0].clone()),
        with(party, clients[1].clone()),
    ];
    let mut digests: Vec<_> = all.iter().map(Computation::digest).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), all.len());
    assert!(
        all[1].describe()[1].ends_with("u8 of client a"),
        "{:?}",
        all[1].describe()
    );
}

/// A stage takes what a client brings, decides by what is opened, and hands out what the next stage makes.
#[test]
fn stages_take_and_give_values_of_clients() {
    let mut dealing = Program::new(3);
    let x = dealing.input::<u32>(clinic(), [3]);
    dealing.open(x, Everyone);
    let dealing = dealing.finish().unwrap();
    let inputs = Inputs::new().with([5u32, 90, 20]);
    for mix in [Mix::AB, Mix::R, Mix::AY] {
        let mut random = Prg::new(Block::new(seed(), 5));
        let dealt = dealing.deal(&inputs, mix, &mut random).unwrap();
        let drive = |inputs: Inputs| {
            async move |stages: &mut Stages<'_>| {
                let mut p = stages.program().with_default(mix);
                let x = p.input::<u32>(clinic(), [3]);
                let large = p.open(x.gt(50u32).any(0), Everyone);
                p.open(&x + 1, clinic());
                let kept = p.keep(&x);
                let outputs = stages.run_with(p, &inputs).await.unwrap();
                assert_eq!(outputs.get(large), [true]);
                let mut p = stages.program().with_default(mix);
                let x = p.kept(&kept);
                p.open(x.greatest(0), clinic());
                let last = p.finish().unwrap();
                let mut again = stages.program().with_default(mix);
                let x = again.kept(&kept);
                again.open(x.greatest(0), clinic());
                (outputs, stages.run(again).await.unwrap(), last)
            }
        };
        let ended = session_of(3, async |session, me| {
            let mut stages = Stages::over(session, 3, 1, None, &|_| {});
            drive(dealt[me.index()].clone())(&mut stages).await
        });
        let last = &ended[0].2;
        let seconds: Vec<_> = ended.iter().map(|(_, second, _)| second.clone()).collect();
        let most = last.put_together(&seconds).unwrap();
        let most: Vec<_> = most
            .arrays()
            .flatten()
            .flat_map(|array| array.texts())
            .collect();
        assert_eq!(most, ["90"], "{mix}");
        for (_, outputs, _) in &ended {
            assert!(
                outputs.arrays().all(|array| array.is_none()),
                "only the client learns it"
            );
        }
        let clear = block_on(drive(inputs.clone())(&mut Stages::simulated(3)));
        assert!(clear.1.arrays().all(|array| array.is_some()));
    }
}

/// On trial, stages are given clients' values in the clear, in some stages and not in others, and deal shares themselves.
#[test]
fn stages_on_trial_deal_values_of_clients() {
    for (mix, parties) in [(Mix::AB, 2), (Mix::R, 3), (Mix::Y, 5)] {
        let drive = async |mut stages: Stages<'_>| {
            let first = Party::new(0);
            let mut p = stages.program().with_default(mix);
            let (x, y) = (p.input::<u32>(clinic(), [3]), p.input::<u32>(first, ()));
            let large = p.open(x.gt(&y).any(0), Everyone);
            let kept = p.keep(&x);
            let inputs = Inputs::new().with([5u32, 90, 20]).with(50u32);
            let large = stages.run_with(p, &inputs).await?.get(large);
            let mut p = stages.program().with_default(mix);
            let (x, z) = (p.kept(&kept), p.input_named::<u32>("z", clinic(), ()));
            let sum = p.open(x.sum(0) + z, Everyone);
            let inputs = Inputs::new().with_named("z", 7u32);
            let sum = stages.run_with(p, &inputs).await?.get(sum);
            let mut p = stages.program().with_default(mix);
            let x = p.input::<u32>(clinic(), ());
            p.open(x, Everyone);
            let missing = stages.run_with(p, &Inputs::new()).await;
            assert!(matches!(missing, Err(StageError::Inputs(_))), "{mix}");
            Ok::<_, StageError>((large, sum))
        };
        let expected = (vec![true], vec![122]);
        for ended in Stages::locally(parties, drive).unwrap() {
            assert_eq!(ended, expected, "{mix}");
        }
    }
}

/// Any shares in A and B are a sharing of some value: a client that deals what it likes has brought that value.
#[test]
fn any_shares_are_some_value_in_a_and_b() {
    let seed = seed();
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::AB, 3),
        (Mix::B, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::AY, 5),
    ] {
        let mut p = Program::new(parties);
        let x = p.input::<u64>(clinic(), [4]);
        let result = p.open((&x * 3u64, x.lt(1u64 << 40)), Everyone);
        let program = p.finish().unwrap();
        let planned = program.plan(mix, None, &|_| {}).unwrap();
        let (sharing, element) = mix.kept_form(u64::TYPE);
        let mut random = Prg::new(Block::new(seed, 7));
        let mut any = || {
            let mut shares = Shares::zeros(Sort::new(sharing, element, 4));
            match element {
                Element::Bits(_) => random.fill(shares.plane_bytes_mut()),
                Element::Ring(_) => random.fill(madrigal_kernels::rings::as_bytes_mut(
                    shares.component_mut::<u64>(0),
                )),
            }
            shares
        };
        let shares: Vec<Shares> = Party::all(parties).map(|_| any()).collect();
        let value = madrigal_operations::Backend::of(sharing)
            .kept
            .combine(&shares)
            .unwrap();
        let value: Vec<u64> = match element {
            Element::Bits(_) => value.to_numbers::<u64>().unwrap().to_vec(),
            Element::Ring(_) => value.component::<u64>(0).to_vec(),
        };
        let ended = session_of(parties, async |session, me| {
            let share = InputShare {
                shares: shares[me.index()].clone(),
                submission: "any".into(),
            };
            let inputs = Inputs::new().with_share(None, share);
            let given = planned.given(&program, &inputs, me).unwrap();
            planned
                .run(session, 1, given, None, &|_| {})
                .await
                .unwrap()
                .outputs
        });
        for outputs in ended {
            let tripled: Vec<u64> = value.iter().map(|x| x.wrapping_mul(3)).collect();
            assert_eq!(outputs.get(result.0), tripled, "{mix}, seed {seed}");
            let small: Vec<bool> = value.iter().map(|&x| x < 1 << 40).collect();
            assert_eq!(outputs.get(result.1), small, "{mix}, seed {seed}");
        }
    }
}

#[test]
fn handing_out_costs_no_message() {
    for (mix, parties) in MIXES {
        let mut p = Program::new(parties);
        let x = p.input::<u32>(clinic(), [100]);
        p.open(&x + 1, clinic());
        let planned = p.finish().unwrap().plan(mix, Some(Goal::Size), &|_| {});
        let plan = planned.unwrap().plan;
        for me in Party::all(parties) {
            let operations = plan.operations(me).into_iter();
            let handing = operations.filter(|one| one.name.as_deref() == Some("hand out/1"));
            let costs: Vec<_> = handing.map(|one| one.online).collect();
            assert_eq!(costs.len(), 1, "{mix}");
            assert_eq!((costs[0].bytes_sent, costs[0].messages), (0, 0), "{mix}");
            assert!(costs[0].aes_blocks >= 25 * (parties as u64 - 1), "{mix}");
        }
    }
}
