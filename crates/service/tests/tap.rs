//! Lines between servers with somebody on them, who writes down what passes and may change it; and what a server sees, in two parts: its form, which
//! is to be equal whatever clients bring, and its bits, which are to have one distribution.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Context as TaskContext;

use madrigal_core::Party;
use madrigal_net::frame::{Frame, FrameKind, Header};
use madrigal_net::transport::{Closing, Inbox, Packet, Transport};
use madrigal_service::Between;
use madrigal_testkit::places::Counts;
use madrigal_vault::agreement::{Assembler, Chosen, Message};
use prost::Message as _;

#[allow(missing_docs, unreachable_pub, dead_code, clippy::all)]
mod control {
    include!("../../net/src/generated/control.rs");

    /// Greetings have halves of seeds: nothing of them is shown.
    impl std::fmt::Debug for Hello {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Hello")
        }
    }
}
#[allow(missing_docs, unreachable_pub, dead_code, clippy::all)]
mod servers {
    include!("../src/generated/servers.rs");
}

/// Number of the job in which servers send each other notes.
const NOTES: u32 = 1;

/// A frame that passed.
#[derive(Clone)]
pub(crate) struct Passed {
    pub(crate) from: Party,
    pub(crate) to: Party,
    pub(crate) frame: Frame,
}

/// Whoever changes frames: told who sends to whom. `false`: the sender's lines are closed instead.
pub(crate) type Change = Box<dyn FnMut(Party, Party, &mut Frame) -> bool + Send>;

/// All lines between the servers of a service.
#[derive(Clone, Default)]
pub(crate) struct Taps {
    passed: Arc<Mutex<Vec<Passed>>>,
    change: Arc<Mutex<Option<Change>>>,
}

struct Tap {
    inner: Box<dyn Transport>,
    me: Party,
    taps: Taps,
    inbox: OnceLock<Inbox>,
}

impl Taps {
    /// The tap on the lines of a server.
    pub(crate) fn at(&self, me: Party) -> Between {
        let taps = self.clone();
        Box::new(move |inner| {
            let taps = taps.clone();
            Box::new(Tap {
                inner,
                me,
                taps,
                inbox: OnceLock::new(),
            })
        })
    }

    /// Has frames changed from now on.
    pub(crate) fn change(&self, change: Change) {
        *self.change.lock().unwrap() = Some(change);
    }

    /// All that has passed since the last time, if `whole` finds that all of it has.
    pub(crate) fn take_if(&self, whole: impl FnOnce(&[Passed]) -> bool) -> Option<Vec<Passed>> {
        let mut passed = self.passed.lock().unwrap();
        whole(&passed).then(|| std::mem::take(&mut *passed))
    }
}

impl Transport for Tap {
    fn attach(&self, inbox: Inbox) {
        let _ = self.inbox.set(inbox.clone());
        self.inner.attach(inbox);
    }

    fn send(&self, to: Party, mut packet: Packet) {
        let me = self.me;
        let passes = match &mut *self.taps.change.lock().unwrap() {
            Some(change) => packet.frames.iter_mut().all(|frame| change(me, to, frame)),
            None => true,
        };
        // Nothing is locked here: others hear of it at once, and send.
        if !passes {
            self.inner.close();
            // Whoever closes its own lines knows.
            let inbox = self.inbox.get().unwrap();
            return inbox.lost(to, "the test has closed the lines");
        }
        let frames = packet.frames.iter().cloned();
        let frames = frames.map(|frame| Passed {
            from: me,
            to,
            frame,
        });
        self.taps.passed.lock().unwrap().extend(frames);
        self.inner.send(to, packet);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.inner.meeting(with)
    }

    fn close(&self) {
        self.inner.close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        self.inner.closing(task)
    }
}

/// A server's view of the others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// Notes in their order from each server, announcements of jobs, sizes of their messages at their places.
    pub(crate) form: Vec<String>,
    /// Payloads of jobs, by sender, job, step and place.
    pub(crate) payloads: BTreeMap<(Party, u32, u64, u32), Vec<u8>>,
}

impl View {
    /// Counts the bits of each `every`th byte of all payloads, among those of the other servers' views.
    pub(crate) fn count(&self, to: usize, servers: usize, every: usize, counts: &mut Counts) {
        for (&(from, _, step, place), bytes) in &self.payloads {
            // Each server has places of its own.
            let place = (from, step, place * servers as u32 + to as u32);
            let bits = counts.entry(place).or_default();
            let bytes: Vec<u8> = bytes.iter().step_by(every).copied().collect();
            bits.resize(8 * bytes.len(), (0, 0));
            for (bit, (ones, runs)) in bits.iter_mut().enumerate() {
                *ones += u32::from(bytes[bit / 8] >> (bit % 8) & 1);
                *runs += 1;
            }
        }
    }
}

/// Names for what is random, in the order in which it comes: digests, names of submissions and of clients' sessions.
#[derive(Default)]
struct Labels(Vec<Vec<u8>>);

impl Labels {
    fn of(&mut self, random: &[u8]) -> String {
        let known = self.0.iter().position(|one| one == random);
        let label = known.unwrap_or_else(|| {
            self.0.push(random.to_vec());
            self.0.len() - 1
        });
        format!("#{label}")
    }

    fn all<'a>(&mut self, all: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        all.into_iter().map(|one| self.of(one)).collect()
    }

    /// Words with labels for the digits of digests.
    fn words(&mut self, words: &str) -> String {
        let mut told = String::new();
        let mut digits = String::new();
        for letter in words.chars().chain(['\n']) {
            if letter.is_ascii_hexdigit() {
                digits.push(letter);
                continue;
            }
            match digits.len() >= 32 {
                true => told += &self.of(digits.as_bytes()),
                false => told += &digits,
            }
            digits.clear();
            told.push(letter);
        }
        told
    }
}

/// Numbers of batches, jobs and a client's requests that came before, which views leave out.
#[derive(Clone, Copy, Default)]
pub(crate) struct Before {
    pub(crate) batches: u64,
    pub(crate) jobs: u32,
    pub(crate) requests: u64,
}

/// Frames of each server until it greets again, once the lines of one were closed.
pub(crate) fn until_they_meet_again(passed: Vec<Passed>) -> Vec<Passed> {
    let mut over = BTreeMap::new();
    let keep = |one: &Passed| {
        let header = one.frame.header;
        let is_told = header.kind == FrameKind::Control && header.job == 0;
        let told = control::Control::decode(&one.frame.payload[..]);
        let told = told.ok().and_then(|told| told.message);
        let over: &mut bool = over.entry((one.from, one.to)).or_default();
        *over |= is_told && matches!(told, Some(control::control::Message::Hello(_)));
        !*over
    };
    passed.into_iter().filter(keep).collect()
}

/// The view that frames that passed give a server. Left out is what depends on time alone: signs of life, permissions to send more, and how long
/// the chain of messages before one was.
pub(crate) fn view(passed: &[Passed], to: Party, before: Before) -> View {
    let mut all: Vec<_> = passed.iter().filter(|one| one.to == to).collect();
    all.sort_by_key(|one| {
        let Header {
            job,
            step,
            sequence,
            ..
        } = one.frame.header;
        (one.from, job, step, sequence)
    });
    let (mut view, mut labels, mut notes) = (View::default(), Labels::default(), BTreeMap::new());
    for Passed { from, frame, .. } in all {
        let (header, payload) = (frame.header, &frame.payload);
        let job = header.job.saturating_sub(before.jobs);
        match header.kind {
            FrameKind::Data if header.job == NOTES => {
                let notes: &mut Vec<u8> = notes.entry(*from).or_default();
                notes.extend_from_slice(payload);
            }
            FrameKind::Data => {
                let (step, place, last) = (header.step, header.sequence, header.last);
                let length = payload.len();
                view.form.push(format!(
                    "{from}: job {job} step {step:#x} place {place}: {length} bytes, last {last}"
                ));
                view.payloads
                    .insert((*from, job, step, place), payload.to_vec());
            }
            FrameKind::Control if header.job != 0 => {
                let told = labels.words(&about_job(payload));
                view.form.push(format!("{from}: job {job}: {told}"));
            }
            FrameKind::Control | FrameKind::Credit | FrameKind::Blocked => {}
        }
    }
    for (from, notes) in notes {
        let mut assembler = Assembler::new();
        let mut rest = &notes[..];
        while let Some((length, after)) = rest.split_first_chunk() {
            let (note, after) = after.split_at(u32::from_le_bytes(*length) as usize);
            let note = servers::Note::decode(note).unwrap().note.unwrap();
            let told = told(note, &mut assembler, &mut labels, before);
            view.form.push(format!("{from} notes {told}"));
            rest = after;
        }
        assert!(rest.is_empty(), "half a note");
    }
    view
}

/// An announcement of a job, or of its end, in words.
fn about_job(payload: &[u8]) -> String {
    use control::control::Message;
    match control::Control::decode(payload).unwrap().message.unwrap() {
        Message::OpenJob(open) => {
            let facts = open.facts.iter().map(|fact| (&fact.name, &fact.value));
            let identity = open.identity.iter().map(|byte| format!("{byte:02x}"));
            let identity: String = identity.collect();
            format!("OpenJob {:?} {identity}", facts.collect::<Vec<_>>())
        }
        Message::FinishJob(finish) => {
            let tallies = finish.tallies.iter().map(|fact| (&fact.name, &fact.value));
            format!("FinishJob {:?}", tallies.collect::<Vec<_>>())
        }
        Message::Abort(abort) => {
            format!(
                "Abort {} {} {:?}",
                abort.culprit, abort.network, abort.reason
            )
        }
        Message::Hello(_) | Message::Alive(_) | Message::Leave(_) => {
            panic!("a message about a session in a job")
        }
    }
}

/// A note in words.
fn told(
    note: servers::note::Note,
    assembler: &mut Assembler,
    labels: &mut Labels,
    before: Before,
) -> String {
    use servers::note::Note;
    let job = |number: u32| number - before.jobs;
    match note {
        Note::OfKind(of) => {
            let message = assembler
                .frame(&of.frame)
                .unwrap()
                .expect("a whole message");
            format!("{}: {}", of.kind, agreed(message, labels, before.batches))
        }
        Note::JobNumber(one) => {
            let batch = one.batch - before.batches;
            let held = one.held.iter();
            let held = held.map(|held| format!(" with {} {}", held.kind, labels.of(&held.name)));
            let held: String = held.collect();
            format!(
                "{}: batch {batch} run {} is job {} on {}{held}",
                one.kind,
                one.run,
                job(one.number),
                labels.of(&one.unit)
            )
        }
        Note::RequestKey(key) => format!("{}: keys are job {}", key.kind, job(key.number)),
        Note::RequestBatch(batch) => {
            let runs = batch.runs.iter();
            let runs = runs.map(|run| {
                (
                    labels.of(&run.session),
                    run.first - before.requests,
                    run.count,
                )
            });
            let runs: Vec<_> = runs.collect();
            format!(
                "{}: requests {runs:?} are job {}",
                batch.kind,
                job(batch.number)
            )
        }
        Note::RequestMissing(of) => format!("{}: {} lacks {:?}", of.kind, job(of.number), of.lanes),
        Note::RequestStart(of) => {
            format!(
                "{}: {} begins without {:?}",
                of.kind,
                job(of.number),
                of.without
            )
        }
        Note::Kinds(all) => {
            let kinds = all.kinds.iter().map(|kind| {
                let units = labels.all(kind.units.iter().map(|unit| &unit[..]));
                (&kind.name, labels.of(&kind.digest), kind.ahead, units)
            });
            let kinds: Vec<_> = kinds.collect();
            let requests = all.requests.iter().map(|kind| {
                let digests = [&kind.digest[..], &kind.part, &kind.check];
                (&kind.name, labels.all(digests))
            });
            let requests: Vec<_> = requests.collect();
            format!("{kinds:?} {requests:?} {} bytes", all.memory)
        }
        Note::Begin(of) => format!("{}: beginning {}", of.kind, of.number),
        Note::Begun(of) => format!("{}: it has begun {}", of.kind, of.number),
        Note::Ahead(of) => match of.of {
            Some(servers::ahead::Of::Filling(filling)) => {
                let units = filling.units.iter().map(|unit| labels.of(unit).to_string());
                let units: Vec<String> = units.collect();
                let number = job(filling.number);
                format!(
                    "{}: a unit is made in job {number} beside {units:?}",
                    of.kind
                )
            }
            Some(servers::ahead::Of::Drop(unit)) => {
                format!("{}: {} goes", of.kind, labels.of(&unit))
            }
            None => "nothing about a unit".to_owned(),
        },
        Note::Leaving(_) => "it leaves".to_owned(),
        Note::Refusal(of) => format!("{}: it refuses batches: {}", of.kind, of.reason),
    }
}

/// A message of the agreement about batches in words, with all its fields.
fn agreed(message: Message, labels: &mut Labels, batches: u64) -> String {
    let name = message.name();
    let bits = |bits: &madrigal_vault::agreement::Bits| -> String {
        let bits = (0..bits.len()).map(|at| if bits.get(at) { '1' } else { '0' });
        bits.collect()
    };
    let fields = match message {
        Message::Propose {
            n, ids, overdue, ..
        } => {
            let ids = labels.all(ids.iter().map(|id| &id[..]));
            format!("{} {ids:?} overdue {}", n - batches, bits(&overdue))
        }
        Message::Have {
            n,
            least,
            have,
            overdue,
            ..
        } => {
            let overdue = labels.all(overdue.iter().map(|id| &id[..]));
            format!(
                "{} least {least} has {} {overdue:?}",
                n - batches,
                bits(&have)
            )
        }
        Message::Barred { ids } => format!("{:?}", labels.all(ids.iter().map(|id| &id[..]))),
        Message::Prepare { n, digest, chosen } => {
            let digest = labels.of(&digest.0);
            let chosen = match chosen {
                Chosen::Of { bits: of, .. } => bits(&of),
                Chosen::Ids(ids) => format!("{:?}", labels.all(ids.iter().map(|id| &id[..]))),
            };
            format!("{} {digest} {chosen}", n - batches)
        }
        Message::Prepared { n, digest } => format!("{} {}", n - batches, labels.of(&digest.0)),
        Message::Refused { n, digest, reason } => {
            let digest = labels.of(&digest.0);
            format!("{} {digest} {}", n - batches, labels.words(&reason))
        }
        Message::Run { n, run } | Message::Done { n, run } => format!("{} {run}", n - batches),
        Message::Broken { n, run, reason } => {
            format!("{} {run} {}", n - batches, labels.words(&reason))
        }
        Message::End { n, digest, outcome } => {
            let digest = labels.of(&digest.0);
            format!(
                "{} {digest} {}",
                n - batches,
                labels.words(&format!("{outcome:?}"))
            )
        }
        Message::Ended { n } => format!("{}", n - batches),
        Message::Hello(hello) => labels.words(&format!("{hello:?}")),
        Message::Halted { reason } => labels.words(&reason),
    };
    format!("{name} {fields}")
}

/// Changes a message of the agreement in a frame, if the frame has one; it keeps its length.
pub(crate) fn change_message(frame: &mut Frame, change: impl FnOnce(&mut Message)) {
    let is_note = frame.header.job == NOTES && frame.header.kind == FrameKind::Data;
    let note = servers::Note::decode(&frame.payload[..])
        .ok()
        .filter(|_| is_note);
    let Some(servers::note::Note::OfKind(mut of)) = note.and_then(|note| note.note) else {
        return;
    };
    let Ok(Some(mut message)) = Assembler::new().frame(&of.frame) else {
        return;
    };
    change(&mut message);
    of.frame = madrigal_vault::agreement::frames(&message).concat();
    let note = Some(servers::note::Note::OfKind(of));
    let changed = servers::Note { note }.encode_to_vec();
    assert_eq!(changed.len(), frame.payload.len());
    frame.payload = changed.into();
}

/// Changes the name of the load that a run computes with in a frame with the number of a job, if the frame is one; gives whether it was.
pub(crate) fn change_load(frame: &mut Frame) -> bool {
    let is_note = frame.header.job == NOTES && frame.header.kind == FrameKind::Data;
    let note = servers::Note::decode(&frame.payload[..]);
    let note = note.ok().filter(|_| is_note).and_then(|note| note.note);
    let Some(servers::note::Note::JobNumber(mut job)) = note else {
        return false;
    };
    let Some(held) = job.held.first_mut() else {
        return false;
    };
    held.name[0] ^= 1;
    let note = Some(servers::note::Note::JobNumber(job));
    frame.payload = servers::Note { note }.encode_to_vec().into();
    true
}

/// Followers that have said of a batch that it has ended there.
pub(crate) fn ended(passed: &[Passed], batch: u64, followers: usize) -> bool {
    let end = Message::Ended { n: batch }.encode();
    let told = passed.iter().filter(|one| {
        let payload = &one.frame.payload;
        let is_note = one.frame.header.job == NOTES && one.frame.header.kind == FrameKind::Data;
        is_note && one.to.index() == 0 && payload.ends_with(&end)
    });
    told.count() == followers
}

/// Number of the last job that all servers have finished, if all that was begun is finished.
pub(crate) fn finished(passed: &[Passed], servers: usize) -> Option<u32> {
    let told = |message: &str| {
        let jobs = passed.iter().filter_map(|one| {
            let header = one.frame.header;
            let is_told = header.kind == FrameKind::Control && header.job > NOTES;
            let told = is_told.then(|| about_job(&one.frame.payload))?;
            told.starts_with(message).then_some(header.job)
        });
        jobs.collect::<Vec<_>>()
    };
    let (begun, finished) = (told("OpenJob"), told("FinishJob"));
    let whole =
        finished.len() == begun.len() && begun.len().is_multiple_of(servers * (servers - 1));
    finished.into_iter().max().filter(|_| whole)
}
