//! Files that are read again while servers are at work: clients and kinds come, change and go.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use madrigal_core::Party;
use madrigal_intake::{Code, FromServer, State};
use madrigal_net::transport::{Closing, Inbox, Packet, Transport};
use madrigal_service::{Checked, ServeError, Server, Trial};
use madrigal_service_client::{ServiceClient, ServiceConfig};
use madrigal_testkit::seed;
use madrigal_vault::agreement::Message;
use tokio::time::{sleep, timeout};

use crate::common::{Client, Line, Prepared, Service, statistics};
use crate::jobs::runtime;
use crate::random::Random;
use crate::tap::{Taps, change_message};
use crate::upgrades::{all_ready, scalar, start};

const SOON: Duration = Duration::from_secs(60);

/// Changes a server's file.
fn edit(service: &Service, at: usize, from: &str, to: &str) {
    let file = service.file(at);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    fs::write(&file, text.replace(from, to)).unwrap();
}

/// Has a server read its file again.
async fn reload(service: &Service, at: usize) -> Result<Vec<String>, ServeError> {
    let server = service.servers[at].as_ref().unwrap();
    server.reload(&service.file(at)).await
}

/// Changes the files of all servers, one after the other, and has them read again.
async fn change_all(service: &Service, from: &str, to: &str) {
    for at in 0..service.servers.len() {
        edit(service, at, from, to);
        assert!(reload(service, at).await.unwrap().is_empty());
    }
}

/// Numbers of sessions that each server had.
fn sessions(service: &Service) -> Vec<u64> {
    let servers = service.servers.iter().flatten();
    servers
        .map(|server| server.meters().sessions.get())
        .collect()
}

fn health(service: &Service, at: usize) -> String {
    let server = service.servers[at].as_ref().unwrap();
    server.health().in_words()
}

/// Waits until a server's health says something.
async fn says(service: &Service, at: usize, what: &str) {
    let told = async {
        while !health(service, at).contains(what) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let told = timeout(SOON, told).await;
    assert!(told.is_ok(), "not `{what}`: {}", health(service, at));
}

/// A second kind, as files have it.
fn second(name: &str) -> String {
    let all = statistics(2, 2, "1h");
    let kind = all.split("[[kinds]]").nth(1).unwrap();
    format!(
        "[[kinds]]{}",
        kind.replace("\"ages\"", &format!("\"{name}\""))
    )
}

/// Brings ages to a kind by a client of the library, and gives the sum that the analyst learns of its first batch.
async fn sum(service: &Service, kind: &str, ages: &[u32]) -> u32 {
    let mut config = ServiceConfig::new((*service.roster).clone());
    let client = ServiceClient::connect(config.clone()).await.unwrap();
    let all = ages.iter().enumerate().map(|(at, &age)| {
        let input = vec![("age".to_owned(), scalar(age))];
        (format!("member-{at}"), input)
    });
    let made = client.many(kind, all, 10, |at, result, _| {
        assert!(result.is_ok(), "submission {at}: {}", result.unwrap_err());
        true
    });
    made.await.unwrap();
    config.token = Some(b"secret of ann".to_vec().into());
    let ann = ServiceClient::connect(config).await.unwrap();
    let outputs = timeout(SOON, ann.wait_after(kind, 0)).await;
    let outputs = outputs.expect("a batch in time").unwrap();
    outputs.values[0].1.component::<u32>(0)[0]
}

/// The answer to a submission at one server.
async fn answered(
    client: &mut Client,
    at: usize,
    prepared: &Prepared,
) -> Result<(), (Code, String)> {
    use madrigal_core::chain::Chain;
    let line = &mut client.lines[at];
    let (headers, body) = (
        prepared.headers.clone().freeze(),
        prepared.bodies[at].clone(),
    );
    let digest = Chain::digest(&headers, &body);
    let sent = (line.connection).whole(0, (prepared.id, headers, digest), body.into());
    sent.unwrap();
    match line.told().await {
        FromServer::Accepted { .. } => Ok(()),
        FromServer::Refused(refused) => Err((refused.code, refused.text)),
        other => panic!("{other:?}"),
    }
}

/// A kind that all files get is ready once the last server has read its own, in the session that is there; in whichever order they do.
#[test]
fn a_new_kind_is_ready_once_all_have_it() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        runtime().block_on(async {
            let mut service = Service::new(3, &statistics(2, 2, "1h"));
            service.start_all().await;
            all_ready(&service).await;
            for (done, at) in order.into_iter().enumerate() {
                let file = service.file(at);
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, text + &second("more")).unwrap();
                assert!(reload(&service, at).await.unwrap().is_empty());
                if done < 2 {
                    says(&service, at, "kind more: party").await;
                }
            }
            all_ready(&service).await;
            assert_eq!(sum(&service, "more", &[31, 44]).await, 75);
            assert_eq!(sum(&service, "ages", &[1, 2]).await, 3);
            assert_eq!(sessions(&service), [1; 3]);
            service.stop_all().await;
        });
    }
}

/// Where one server speaks the old version of the notes, the servers meet again to tell their kinds.
#[test]
fn beside_an_old_server_a_new_kind_takes_another_session() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(2, 2, "1h"));
        for at in 0..3 {
            start(&mut service, at, at == 1).await;
        }
        all_ready(&service).await;
        for at in 0..3 {
            let file = service.file(at);
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text + &second("more")).unwrap();
            reload(&service, at).await.unwrap();
        }
        let again = async {
            while sessions(&service).iter().any(|sessions| *sessions < 2) {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(SOON, again).await.unwrap();
        all_ready(&service).await;
        assert_eq!(sum(&service, "more", &[31, 44]).await, 75);
        service.stop_all().await;
    });
}

/// A kind that one server has taken out of its file takes no submissions there, on connections that are open too; no batch begins, and what waits is told
/// why. Put back, it goes on with what waited.
#[test]
fn a_kind_that_is_taken_out_ends_and_may_come_back() {
    for at in [0, 1] {
        runtime().block_on(async {
            let mut service = Service::new(3, &(statistics(2, 2, "1h") + &second("other")));
            service.start_all().await;
            all_ready(&service).await;
            let mut clients = Client::dial(&service, None).await;
            let first = clients.prepare("bob", 31);
            clients.submit(&first).await;
            let whole = fs::read_to_string(service.file(at)).unwrap();
            let without = whole.split("[[kinds]]").next().unwrap().to_owned() + &second("other");
            fs::write(service.file(at), without).unwrap();
            reload(&service, at).await.unwrap();
            let other = if at == 0 { 2 } else { 0 };
            let why = format!("kind ages: party {at} has taken it out");
            says(&service, other, &why).await;
            let late = clients.prepare("carol", 17);
            let (code, text) = answered(&mut clients, at, &late).await.unwrap_err();
            assert_eq!(code, Code::NotAllowed);
            assert!(text.contains("taken out of the service's file"), "{text}");
            // Who connects now is not offered it.
            let line = Line::dial(&service.roster, at, None).await;
            let offered = &line.connection.welcome().unwrap().kinds;
            assert!(offered.iter().all(|kind| kind.name == "other"));
            // The others take it and begin no batch.
            for other in (0..3).filter(|other| *other != at) {
                answered(&mut clients, other, &late).await.unwrap();
            }
            let held = async {
                loop {
                    let line = &mut clients.lines[other];
                    line.connection.status(first.id).unwrap();
                    match line.told().await {
                        FromServer::State {
                            state: State::Held { reason },
                            ..
                        } => break reason,
                        _ => sleep(Duration::from_millis(10)).await,
                    }
                }
            };
            let reason = timeout(SOON, held).await.unwrap();
            assert!(reason.contains("taken out"), "{reason}");
            fs::write(service.file(at), whole).unwrap();
            reload(&service, at).await.unwrap();
            answered(&mut clients, at, &late).await.unwrap();
            let (receipt, _) = clients.wait(first.id).await;
            assert_eq!(receipt.submissions, 2);
            all_ready(&service).await;
            assert_eq!(sessions(&service), [1; 3]);
            service.stop_all().await;
        });
    }
}

/// Whoever is taken out of `submit` may not submit from then on, and whoever is taken out of the clients is cut off.
#[test]
fn clients_are_shut_out_on_open_connections() {
    runtime().block_on(async {
        let mut service = Service::new(2, &statistics(3, 3, "1h"));
        service.start_all().await;
        let mut ann = Client::dial(&service, Some(b"secret of ann")).await;
        let mut stranger = Client::dial(&service, None).await;
        change_all(&service, "\"anyone\"", "[\"ann\"]").await;
        let prepared = stranger.prepare("bob", 31);
        let (code, text) = answered(&mut stranger, 0, &prepared).await.unwrap_err();
        assert_eq!(
            (code, &*text),
            (Code::NotAllowed, "kind `ages` takes submissions of ann")
        );
        let mine = ann.prepare("ann", 44);
        ann.submit(&mine).await;
        // Another token: what the open connection has shown is none any more. One that waits for something is cut off at once.
        ann.lines[0].connection.wait(mine.id).unwrap();
        ann.lines[0].flush().await;
        let text = fs::read_to_string(service.file(0)).unwrap();
        let line = text.lines().find(|line| line.starts_with("token-sha256"));
        let other = format!("token-sha256 = \"sha256:{}\"", "ab".repeat(32));
        edit(&service, 0, line.unwrap(), &other);
        reload(&service, 0).await.unwrap();
        match ann.lines[0].told().await {
            FromServer::Refused(refused) => {
                assert_eq!((refused.number, refused.code), (0, Code::Unknown));
                assert!(
                    refused.text.contains("not known any more"),
                    "{}",
                    refused.text
                );
            }
            other => panic!("{other:?}"),
        }
        // Others stay.
        let (code, _) = answered(&mut stranger, 0, &prepared).await.unwrap_err();
        assert_eq!(code, Code::NotAllowed);
        service.stop_all().await;
    });
}

/// Sizes and times of batches take effect for what waits already.
#[test]
fn least_and_after_take_effect() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(5, 9, "1h"));
        service.start_all().await;
        let mut clients = Client::dial(&service, None).await;
        let first = clients.prepare("bob", 31);
        clients.submit(&first).await;
        let other = clients.prepare("carol", 17);
        clients.submit(&other).await;
        change_all(&service, "least = 5", "least = 2").await;
        sleep(Duration::from_millis(300)).await;
        let line = &mut clients.lines[0];
        line.connection.status(first.id).unwrap();
        let told = line.told().await;
        let waits = matches!(
            &told,
            FromServer::State {
                state: State::Accepted,
                ..
            }
        );
        assert!(waits, "{told:?}");
        change_all(&service, "\"1h\"", "\"0s\"").await;
        let (receipt, _) = clients.wait(first.id).await;
        assert_eq!(receipt.submissions, 2);
        service.stop_all().await;
    });
}

/// A file with a fault, or with a kind that was changed while submissions wait, is refused, and all stays as it was. A kind that nobody has used may change.
#[test]
fn a_changed_program_is_refused_as_at_a_start() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(2, 2, "1h"));
        service.start_all().await;
        all_ready(&service).await;
        // Nobody has used it.
        change_all(&service, "submit =", "mix = \"R\"\nsubmit =").await;
        all_ready(&service).await;
        assert_eq!(sum(&service, "ages", &[31, 44]).await, 75);
        assert_eq!(sessions(&service), [1; 3]);
        for (from, to, why) in [
            ("mix = \"R\"", "mix = \"A+B\"", "give the kind another name"),
            ("least = 2", "least = 7", "the least is not above the most"),
            ("ages.madrigal", "none.madrigal", "none.madrigal"),
            ("submit =", "unknown = 1\nsubmit =", "unknown field"),
        ] {
            edit(&service, 1, from, to);
            // What else the file says is not taken either.
            edit(&service, 1, "\"anyone\"", "[\"ann\"]");
            let told = reload(&service, 1).await.unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
            edit(&service, 1, "[\"ann\"]\nreceive", "\"anyone\"\nreceive");
            edit(&service, 1, to, from);
        }
        all_ready(&service).await;
        let mut clients = Client::dial(&service, None).await;
        let first = clients.prepare("bob", 31);
        clients.submit(&first).await;
        let other = clients.prepare("carol", 17);
        clients.submit(&other).await;
        assert_eq!(clients.wait(first.id).await.0.submissions, 2);
        service.stop_all().await;
    });
}

/// Fields that hold after a restart are named, and all else of the file is taken.
#[test]
fn fields_that_need_a_restart_are_named() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(2, 2, "1h"));
        service.start_all().await;
        all_ready(&service).await;
        let file = service.file(0);
        let text = fs::read_to_string(&file).unwrap();
        let changed = format!(
            "threads = 2\noperation = \"127.0.0.1:1\"\n{}\n[[kinds]]\nname = \"login\"\nrequests = \"aes-128\"\nsubmit = \"anyone\"\n",
            text.replace("most = 2", "most = 3").replace("\"anyone\"", "[\"ann\"]")
        );
        fs::write(&file, changed).unwrap();
        let fields = reload(&service, 0).await.unwrap();
        let expected = ["threads", "operation", "kinds.ages.batch.most", "kinds.login.requests"];
        assert_eq!(fields, expected);
        let mut stranger = Client::dial(&service, None).await;
        let prepared = stranger.prepare("bob", 31);
        let (code, _) = answered(&mut stranger, 0, &prepared).await.unwrap_err();
        assert_eq!(code, Code::NotAllowed);
        all_ready(&service).await;
        service.stop_all().await;
    });
}

/// A kind that was taken out and is put back has the largest batches that it had: those under way, and the leader, know no others.
#[test]
fn a_kind_that_is_put_back_has_batches_of_the_size_before() {
    runtime().block_on(async {
        let all = format!("{}\n{}", statistics(2, 2, "1h"), second("wages"));
        let mut service = Service::new(3, &all);
        service.start_all().await;
        all_ready(&service).await;
        let file = service.file(0);
        let text = fs::read_to_string(&file).unwrap();
        let (rest, wages) = text.rsplit_once("[[kinds]]").unwrap();
        fs::write(&file, rest).unwrap();
        assert!(reload(&service, 0).await.unwrap().is_empty());
        let other = wages.replace("most = 2", "most = 3");
        assert_ne!(other, wages);
        fs::write(&file, format!("{rest}[[kinds]]{other}")).unwrap();
        let fields = reload(&service, 0).await.unwrap();
        assert_eq!(fields, ["kinds.wages.batch.most"]);
        all_ready(&service).await;
        // Two begin a batch, as ever.
        assert_eq!(sum(&service, "wages", &[31, 44]).await, 75);
        service.stop_all().await;
    });
}

/// Has a server stop in the middle of sending, as long as the test likes: before the first message that is meant.
struct Stopped {
    reached: Arc<AtomicBool>,
    go_on: std::sync::mpsc::Sender<()>,
}

impl Stopped {
    fn at(taps: &Taps, to: usize, meant: impl Fn(&Message) -> bool + Send + 'static) -> Self {
        let reached = Arc::new(AtomicBool::new(false));
        let (go_on, wait) = std::sync::mpsc::channel();
        let seen = Arc::clone(&reached);
        taps.change(Box::new(move |_, at, frame| {
            if at.index() == to && !seen.load(Relaxed) {
                let mut is_meant = false;
                change_message(frame, |message| is_meant = meant(message));
                if is_meant {
                    seen.store(true, Relaxed);
                    let _ = wait.recv_timeout(SOON);
                }
            }
            true
        }));
        Self { reached, go_on }
    }

    async fn reached(&self) {
        let reached = async {
            while !self.reached.load(Relaxed) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, reached).await.unwrap();
    }

    fn go_on(&self) {
        self.go_on.send(()).unwrap();
    }
}

/// Starts a server with a tap on its lines.
async fn start_tapped(service: &mut Service, at: usize, taps: &Taps) {
    let trial = Trial {
        between: Some(taps.at(Party::new(at))),
        ..Trial::default()
    };
    let checked = Checked::load(&service.file(at)).unwrap();
    service.servers[at] = Some(Server::start_trial(checked, trial).await.unwrap());
}

/// The leader's kind becomes another one and then the first again, while a follower's word of the first beginning is on its way: it is not taken for one of
/// the second.
#[test]
fn what_was_on_its_way_before_a_kind_began_anew_is_dropped() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(2, 2, "1h"));
        let taps = Taps::default();
        let stopped = Stopped::at(&taps, 0, |message| matches!(message, Message::Hello(_)));
        service.start(0).await;
        start_tapped(&mut service, 1, &taps).await;
        service.start(2).await;
        stopped.reached().await;
        edit(&service, 0, "submit =", "mix = \"R\"\nsubmit =");
        reload(&service, 0).await.unwrap();
        says(&service, 0, "has another program").await;
        edit(&service, 0, "mix = \"R\"\nsubmit =", "submit =");
        reload(&service, 0).await.unwrap();
        while health(&service, 0).contains("another program") {
            sleep(Duration::from_millis(5)).await;
        }
        stopped.go_on();
        all_ready(&service).await;
        assert_eq!(sum(&service, "ages", &[31, 44]).await, 75);
        assert_eq!(health(&service, 0), "ready\n");
        assert_eq!(sessions(&service), [1; 3]);
        service.stop_all().await;
    });
}

/// A line to one server, on which a test holds back what is sent.
#[derive(Clone, Default)]
struct Held(Arc<Mutex<Holding>>);

#[derive(Default)]
struct Holding {
    to: Option<Party>,
    packets: Vec<Packet>,
    inner: Option<Arc<dyn Transport>>,
}

impl Held {
    fn hold(&self, to: Party) {
        self.0.lock().unwrap().to = Some(to);
    }

    fn let_go(&self) {
        let mut holding = self.0.lock().unwrap();
        let to = holding.to.take().unwrap();
        let (packets, inner) = (std::mem::take(&mut holding.packets), holding.inner.clone());
        let inner = inner.unwrap();
        packets
            .into_iter()
            .for_each(|packet| inner.send(to, packet));
    }
}

struct OneLine(Arc<dyn Transport>, Held);

impl Transport for OneLine {
    fn attach(&self, inbox: Inbox) {
        self.0.attach(inbox);
    }

    fn send(&self, to: Party, packet: Packet) {
        let mut holding = self.1.0.lock().unwrap();
        match holding.to == Some(to) {
            true => holding.packets.push(packet),
            false => self.0.send(to, packet),
        }
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.0.meeting(with)
    }

    fn close(&self) {
        self.0.close();
    }

    fn closing(&self, task: &mut std::task::Context<'_>) -> Closing {
        self.0.closing(task)
    }
}

/// A follower's kind becomes another one and then the first again, which the other follower hears after the leader has begun the kind anew: what it hears late
/// ends nothing.
#[test]
fn late_word_of_a_follower_ends_nothing() {
    runtime().block_on(async {
        let mut service = Service::new(3, &statistics(2, 2, "1h"));
        let held = Held::default();
        let line = held.clone();
        let trial = Trial {
            between: Some(Box::new(move |inner| {
                let inner: Arc<dyn Transport> = Arc::from(inner);
                line.0.lock().unwrap().inner = Some(Arc::clone(&inner));
                Box::new(OneLine(inner, line.clone()))
            })),
            ..Trial::default()
        };
        service.start(0).await;
        service.start(2).await;
        let checked = Checked::load(&service.file(1)).unwrap();
        service.servers[1] = Some(Server::start_trial(checked, trial).await.unwrap());
        all_ready(&service).await;
        held.hold(Party::new(2));
        edit(&service, 1, "submit =", "mix = \"R\"\nsubmit =");
        reload(&service, 1).await.unwrap();
        says(&service, 0, "party 1 has another program").await;
        edit(&service, 1, "mix = \"R\"\nsubmit =", "submit =");
        reload(&service, 1).await.unwrap();
        says(&service, 0, "ready").await;
        sleep(Duration::from_millis(200)).await;
        held.let_go();
        sleep(Duration::from_millis(200)).await;
        all_ready(&service).await;
        assert_eq!(sum(&service, "ages", &[31, 44]).await, 75);
        assert_eq!(sessions(&service), [1; 3]);
        service.stop_all().await;
    });
}

/// A batch that the leader has formed by what a server told is computed there, whatever the server's file has become meanwhile.
#[test]
fn a_batch_that_is_formed_is_computed() {
    for (from, to) in [
        ("least = 2", "least = 3"),
        ("name = \"ages\"", "name = \"else\""),
    ] {
        runtime().block_on(async {
            let mut service = Service::new(3, &statistics(2, 3, "0s"));
            let taps = Taps::default();
            let is_prepare = |message: &Message| matches!(message, Message::Prepare { .. });
            let stopped = Stopped::at(&taps, 1, is_prepare);
            start_tapped(&mut service, 0, &taps).await;
            service.start(1).await;
            service.start(2).await;
            all_ready(&service).await;
            let mut clients = Client::dial(&service, None).await;
            let first = clients.prepare("bob", 31);
            clients.submit(&first).await;
            let other = clients.prepare("carol", 17);
            clients.submit(&other).await;
            stopped.reached().await;
            edit(&service, 1, from, to);
            reload(&service, 1).await.unwrap();
            stopped.go_on();
            let (receipt, _) = clients.wait(first.id).await;
            assert_eq!(receipt.submissions, 2, "{to}");
            service.stop_all().await;
        });
    }
}

/// Servers take a kind out and put it back again and again while clients submit: each submission that was accepted counts once.
#[test]
fn kinds_that_come_and_go_lose_nothing() {
    let seed = seed();
    let mut random = Random::new(seed);
    let runtime = runtime();
    let text = statistics(1, 50, "50ms") + &second("other");
    let mut service = Service::new(3, &text);
    runtime.block_on(async {
        service.start_all().await;
        all_ready(&service).await;
    });
    let mut config = ServiceConfig::new((*service.roster).clone());
    config.token = Some(b"secret of ann".to_vec().into());
    let done = Arc::new(AtomicBool::new(false));
    let submitting = {
        let (config, done) = (config.clone(), Arc::clone(&done));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let client = ServiceClient::connect(config).await.unwrap();
                let all = (0..).take_while(|_| !done.load(Relaxed)).map(|_: u32| {
                    std::thread::sleep(Duration::from_millis(5));
                    ("ann".to_owned(), vec![("age".to_owned(), scalar(1))])
                });
                let mut accepted = 0;
                // Some are refused while the kind is taken out somewhere: those that are accepted at one server alone expire.
                let many = client.many("ages", all, 100, |_, result, _| {
                    accepted += u64::from(result.is_ok());
                    true
                });
                many.await.unwrap();
                accepted
            })
        })
    };
    runtime.block_on(async {
        let whole: Vec<String> = (0..3)
            .map(|at| fs::read_to_string(service.file(at)).unwrap())
            .collect();
        for _ in 0..15 {
            let at = random.below(3);
            let without =
                whole[at].split("[[kinds]]").next().unwrap().to_owned() + &second("other");
            fs::write(service.file(at), without).unwrap();
            reload(&service, at).await.unwrap();
            sleep(Duration::from_millis(random.below(80) as u64)).await;
            fs::write(service.file(at), &whole[at]).unwrap();
            reload(&service, at).await.unwrap();
            sleep(Duration::from_millis(random.below(250) as u64)).await;
        }
        all_ready(&service).await;
    });
    done.store(true, Relaxed);
    let accepted = submitting.join().unwrap();
    assert!(
        accepted > 100,
        "{accepted} submissions are too few to show anything"
    );
    runtime.block_on(async {
        let client = ServiceClient::connect(config).await.unwrap();
        let (mut count, mut sum, mut batch) = (0, 0, 0);
        while count < accepted {
            let next = timeout(SOON, client.wait_after("ages", batch)).await;
            let Ok(outputs) = next else {
                let told: Vec<String> = (0..3).map(|at| health(&service, at)).collect();
                panic!("{count} of {accepted} counted, MADRIGAL_SEED={seed}: {told:?}");
            };
            let outputs = outputs.unwrap();
            batch = outputs.job.batch;
            count += outputs.job.submissions;
            sum += u64::from(outputs.values[0].1.component::<u32>(0)[0]);
        }
        assert_eq!((count, sum), (accepted, accepted), "MADRIGAL_SEED={seed}");
        assert_eq!(sessions(&service), [1; 3], "MADRIGAL_SEED={seed}");
        service.stop_all().await;
    });
}
