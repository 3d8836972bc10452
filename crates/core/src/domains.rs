//! Every domain separator of the project, in one place, and what each key of AES counts.
//!
//! A hash that serves two purposes tells them apart by the bytes it begins with; two purposes with
//! one beginning would be one. So all beginnings stand here, the code takes them from here (`cargo
//! xtask lint` finds those that do not), and a test holds that no two hashes can be fed the same
//! bytes: none begins another.
//!
//! # Keys of AES
//! No key is fixed. Each is secret and fresh, or public and of one instance in one session. Each block that a secret key
//! encrypts has a number in its upper half, 64 bits that no two of a session's keys share but by chance
//! ([`KeyNumbers`](crate::KeyNumbers) says with which): a guess of a key tests one of them. `n | 0, 1, ...` stands for the
//! counter blocks under number n.
//!
//! | key | secret | what is encrypted | number | where |
//! |---|---|---|---|---|
//! | seed of a private generator, from the operating system | yes | n \| 0, 1, 2, ... | random, as secret as the key | `Prg` of the kernels |
//! | key of a generator that two parties share, one for each pair, job and step: [`SHARED_GENERATOR`] | yes | n \| 0, 1, 2, ... | of the same digest, as secret as the key | `Context::shared_prg` |
//! | seed of a generator of Delta, of base OTs, of an extension's coins | yes | n \| 0, 1, 2, ... | [`STEP_KEY_NUMBERS`] of step and party, and the peer | `crates/correlations-make/src/ot/base/mod.rs`, `links/peer.rs` |
//! | seed of silent OT's roots, and of VOLE's | yes | n \| 0, 1, 2, ... | [`OT_KEY_NUMBERS`], one of each for an instance | `crates/ot/src/silent/sender.rs`, `crates/ot/src/vole/sender.rs` |
//! | seed of the rows of a store of keys, drawn when the keys are settled | no in the end | 0, 1, 2: three keys | | `crates/okvs/src/rows.rs` |
//! | three keys of the rows of a store | no in the end | digests of keys | | `crates/okvs/src/rows.rs` |
//! | seed of bins, drawn when the items are settled | no in the end | 0, 1, 2: three keys | | `crates/psi-bins/src/bins.rs` |
//! | three keys of bins | no in the end | digests of items; those plus (XOR) the numbers of their bins | | `crates/psi-bins/src/bins.rs` |
//! | key of a base OT | yes | n \| the stream's number, for each stream once: the keys that extensions start from | [`OT_KEY_NUMBERS`], one for each OT and stream | `crates/correlations-make/src/ot/base/mod.rs` |
//! | inner node of a SoftSpoken tree, the root's children being keys of a stream | yes | n \| 0 and 1: its children | [`OT_KEY_NUMBERS`], one for each tree and level, of which a party lacks one node | `crates/ot/src/softspoken/pprf.rs` |
//! | leaf of a SoftSpoken tree | yes | n \| 0, 1, 2, ...: 128 OTs each | [`OT_KEY_NUMBERS`], one for each tree, of which a party lacks one leaf | `Leaves` of the kernels |
//! | seed of a party's noise, from a private generator | yes | n \| 0, 1, 2, ... | [`STEP_KEY_NUMBERS`] of step and party | `crates/matching/src/noisy.rs` |
//! | seed of secret polynomials, from a private generator | yes | n \| 0, 1, 2, ... | [`STEP_KEY_NUMBERS`] of step and party, the width and the peer | `crates/lattice/src/sample.rs` |
//! | [`ROW_HASH`] of an instance, plus (XOR) the row's number / 1024 | no | rows | | `RowHash` of the kernels |
//! | [`ROW_STRETCH`] of an instance, plus (XOR) the block's number / 4096 | no | seeds, plus the block's number in its string | | `Stretch` of the kernels |
//! | [`GATE_HASH`] of an instance, plus (XOR) the piece's number | no | labels, permuted, plus their tweak: 64 ANDs at most | | `GateHash` of the kernels |
//! | [`NUMBER_HASH`] of an instance, plus (XOR) the row's number / 1024 | no | labels, plus their row's number | | `RowHash` of the kernels |
//! | [`BMR_HASH`] of an instance, plus (XOR) the piece's number | no | keys, permuted, plus their tweak: 64 ANDs at most | | `GateHash` of the kernels |
//! | [`BMR_PRODUCTS`] of an instance and a direction, plus (XOR) the row's number / 1024 | no | rows, plus their AND's number | | `RowHash` of the kernels |
//! | [`BIT_PAIRS`] of a step and a direction, plus (XOR) the row's number / 1024 | no | rows | | `RowHash` of the kernels |
//! | [`GMW_OTS`] of a step and a direction, plus (XOR) the row's number / 1024 | no | rows | | `RowHash` of the kernels |
//! | [`GMW_SHUFFLES`] of a step and a direction, plus (XOR) the block's number / 4096 | no | seeds, plus 0, 1, 2, ... | | `Stretch` of the kernels |
//! | seed of a conditional's masks, shared bit by bit: of two parties both have it, or two of their own; of three up to four are drawn for a mask | yes | n \| 0, 1, 2, ...: once by each, of bits or of ring elements | [`STEP_KEY_NUMBERS`] of the step, one for each code, kind of masks and lane | `crates/protocols/src/branches/` |
//! | seed of a turn of a chain of products, two for each bit, from a private generator | yes | n \| 0, 1, 2, ...: once by each of the two parties | [`STEP_KEY_NUMBERS`] of the step, one for each pair of seeds, of which a party lacks one | `crates/protocols/src/branches/rings/chain.rs` |
//! | seed of a block of BMR, from a private generator | yes | n \| 0, 1, 2, ...: keys of 0, one for each AND and lane | [`BMR_KEY_NUMBERS`], that of the block's first piece | `crates/garbling/src/bmr/masks.rs` |
//! | seed of the coins of three halves, from a private generator | yes | n \| 0, 1, 2, ...: one for each piece | [`GARBLER_KEY_NUMBERS`], that of the garbler's first piece | `crates/garbling/src/garbler.rs` |
//! | seed of a client's generator, from the operating system | yes | n \| 0, 1, 2, ...: parts of values, salts, nonces | random, as secret as the key | `private_generator` of `crates/clients` |
//! | seed of a part of a client's value that is dealt in pieces, from that generator | yes | n \| 0, 1, 2, ...: the part's bytes, in order | random, as secret as the key | `crates/clients/src/stream.rs` |
//! | two halves of [`SILENT_COINS`] of an instance | no | 0, 1, 2, ...: the seeds of codes, the keys of trees | | `crates/ot/src/silent/public.rs` |
//! | two halves of [`VOLE_COINS`] of an instance | no | 0, 1, 2, ...: the seeds of codes, the keys of trees and of their leaves | | `crates/ot/src/silent/public.rs` |
//! | seed of the shifts of VOLE's trees, drawn when base rows are fixed | no | 0, 1, 2, ...: one for each group of trees | | `crates/ot/src/vole/shifts.rs` |
//! | seed of the factors of the check of SoftSpoken's columns, drawn when they have come | no | 0, 1, 2, ...: one for 128 rows | | `crates/ot/src/softspoken/check.rs` |
//! | seed of the factors of a check of VOLE, drawn when what it checks is settled | no | 0, 1, 2, ...: one for each element | | `crates/ot/src/vole/check.rs` |
//! | key of the leaves of a group of four trees of VOLE | no | leaves | | `RowHash` of the kernels |
//! | two halves of [`PSI_TAGS`] of a step, plus (XOR) the number of some columns and bits of a digest | no | elements under digests whose rows begin in these columns: some 2,000 of the sender's; tags under the first half and pads under the second | | `RowHash` of the kernels |
//! | seed of a party's coins for a store, bins or VOLE, from a private generator | yes | n \| 0, 1, 2, ...: free columns, tags, masks; choices of OTs | [`STEP_KEY_NUMBERS`] of the step and the party: 0 for stores and VOLE, 1 for bins | `crates/psi/src/oprf.rs`, `crates/psi/src/shares.rs`, `crates/correlations-make/src/ot/vole.rs` |
//! | seed of a code, one for each iteration | no | 0, 1, 2, ...: 2.5 for a row's indices | | `LocalCode` of the kernels |
//! | key of a group of four trees | no | nodes | | `GgmTrees` of the kernels |
//! | seed of a public polynomial, sent with what it belongs to | no | 0, 1, 2, ... | | `crates/lattice/src/sample.rs` |
//!
//! # Counters
//! | counter | of | unique within |
//! |---|---|---|
//! | rows | an OT instance, over its whole life; never set back | the instance: session, sender, receiver, stream |
//! | pieces | an instance of garbling, 64 bits; past the end an error | the instance: session, garbler, evaluator, stream |
//! | rows of numbers | an instance of garbling | the instance: session, garbler, evaluator, stream |
//! | pieces | an instance of garbling by N parties, 64 bits; past the end an error | the instance: session and step, stream |
//! | rows of pairs of bits | a step of alpha and a direction | the step, sender and receiver |
//! | rows of ANDs by OTs | a step of B and a direction | the step, sender and receiver |
//! | streams | 6 x line + kind (bits, rings, matrices, vectors, correlated OTs, VOLE), below 2^31; 2^31 more for the extension that a silent one starts from | the base OTs of one job and pair |
//! | blocks of a generator | 64 bits, below the key's number; past the end it panics | the generator's key |
//! | numbers of secret keys | 64 bits from where a hash of their place begins | the place: an OT instance; an instance of garbling; a step, or a step and a party |
//! | seeds of conditionals | of all codes, kinds and lanes in order; never set back | the step |
//! | steps | paths of names, at which generators and channels are handed out once | the job |
//! | jobs | 32 bits, in the session's order | the session |
//! | values in a vault | 64 bits in the nonce of AES-256-GCM | the key that a vault draws when it is opened: [`VAULT_DATA`] with a fresh salt of 256 bits |
//! | chunks of a store | 64 bits in the nonce of AES-256-GCM | the file's key: [`STORE`] with the file's name and the store's salt |
//! | blocks of a hash in counter mode | 32 bits after a digest of 64 bytes | the digest: [`KEM_VECTOR`] with all that it binds |

/// Kinds of use of a separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The beginning of what SHA-256 hashes.
    Sha256,
    /// The beginning of what SHA-512 hashes.
    Sha512,
    /// The beginning of what HKDF-SHA256 expands with.
    Hkdf,
    /// The beginning of what a long-term key signs outside TLS and certificates.
    Signed,
    /// The beginning of a file or of a connection: read by people and programs, hashed by none.
    Format,
}

/// One entry of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Domain {
    /// The constant's name.
    pub name: &'static str,
    /// Kind of use that it keeps apart.
    pub used: Use,
    /// The bytes.
    pub bytes: &'static [u8],
}

macro_rules! registry {
    ($($(#[$doc:meta])* $used:ident $name:ident = $bytes:literal;)*) => {
        $($(#[$doc])* pub const $name: &[u8; $bytes.len()] = $bytes;)*

        /// All of them.
        pub const ALL: &[Domain] = &[
            $(Domain { name: stringify!($name), used: Use::$used, bytes: $name },)*
        ];
    };
}

// Separators of OTs have 24 bytes, so that they and an instance's name fill a block of SHA-256.
registry! {
    /// The number of parties, the session's name and all parties' nonces give its identity (collision
    /// resistance).
    Sha256 SESSION_IDENTITY = b"madrigal session identity v2";
    /// Two parties' random halves, the session's name and where the two meet give their common seed
    /// (key derivation, random oracle).
    Sha256 PAIR_SEED = b"madrigal pair seed v2";
    /// A pair's seed, job and step give the key of a generator (key derivation, random oracle).
    Sha256 SHARED_GENERATOR = b"madrigal shared generator v1";
    /// The session's identity, job and step give an identifier (collision resistance; nobody knows it
    /// before the session).
    Sha256 PUBLIC_ID = b"madrigal public id v1";
    /// Keys in their order (collision resistance).
    Sha256 ROSTER = b"madrigal roster 1";
    /// Widths and gates (collision resistance). Its length comes first.
    Sha256 NETLIST = b"madrigal netlist 1";
    /// A circuit with branches (collision resistance). Its length comes first.
    Sha256 BRANCHES = b"madrigal branches 1";
    /// Branches of sums and products (collision resistance). The number of each part comes first.
    Sha256 FORMULAS = b"madrigal formulas 1";
    /// A compiled program (collision resistance). Its length comes first.
    Sha256 LAYERED = b"madrigal layered 1";
    /// A program compiled to sums of products (collision resistance). Its length comes first.
    Sha256 SUMS = b"madrigal sums 1";
    /// A program's operations in words (collision resistance). The length of each comes first.
    Sha256 PROGRAM = b"madrigal program v1";
    /// A graph of operations in words (collision resistance). The length of each comes first.
    Sha256 GRAPH = b"madrigal graph v1";
    /// A graph's digest, and in which blocks and order it is carried out (collision resistance).
    Sha256 PROGRAM_PLAN = b"madrigal program plan v1";
    /// Some of the operations of a plan in words (collision resistance). The length of each comes first.
    Sha256 OPERATIONS = b"madrigal operations v1";
    /// Facts that are too long or too many to be announced (collision resistance). The length of each text comes first.
    Sha256 ALL_FACTS = b"madrigal all facts v1";
    /// Begins the path of every step, whose digest gives the number of the step's channels: 64 bits, of which
    /// a job notices that two are the same.
    Sha256 STEP_PATH = b"job";
    /// A value that all know as part of a program (collision resistance), which its sort goes with.
    Sha256 PUBLIC_VALUE = b"madrigal public value v1";
    /// The inputs that all parties know (collision resistance), whose sorts are in the program.
    Sha256 PUBLIC_INPUTS = b"madrigal public inputs 1";
    /// Facts about inputs that clients have shared (collision resistance). The length of each text comes first.
    Sha256 BROUGHT_FACTS = b"madrigal brought facts v1";
    /// Picked places (collision resistance).
    Sha256 PICKED = b"madrigal picked v1";
    /// Names and types of a HyCC program's variables (collision resistance). The length of each text comes first.
    Sha256 VARIABLES = b"madrigal variables v1";
    /// Facts about what the stages of a run before have computed and opened, and what the last one has (collision
    /// resistance). The lengths of all parts follow from what comes before them.
    Sha256 STAGES = b"madrigal stages v1";
    /// A program's public elements (collision resistance), which their number and type go with.
    Sha256 PROGRAM_CONSTANT = b"madrigal constant v1";
    /// A public identifier and what a store holds give its name (collision resistance).
    Sha256 STORE_ID = b"madrigal store id v1";
    /// An instance of OTs, the exchanged elements and the shared one give a key (random oracle).
    Sha256 BASE_KEY = b"madrigal base OT key  v1";
    /// An instance and an element give a point of the group (random oracle).
    Sha512 BASE_GROUP = b"madrigal base OT T(S) v1";
    /// Does for endemic base OTs (random oracle) what [`BASE_KEY`] does.
    Sha256 ENDEMIC_KEY = b"madrigal endemic key  v1";
    /// Does for endemic base OTs (random oracle) what [`BASE_GROUP`] does.
    Sha512 ENDEMIC_GROUP = b"madrigal endemic T(M) v1";
    /// Does for base OTs from ML-KEM (random oracle) what [`BASE_KEY`] does.
    Sha256 KEM_KEY = b"madrigal ML-KEM OT ky v1";
    /// An instance and a vector give the seed of another vector (random oracle).
    Sha512 KEM_VECTOR = b"madrigal ML-KEM OT T  v1";
    /// An instance gives the public key that its rows are hashed under (random oracle).
    Sha256 ROW_HASH = b"madrigal OT row hash  v1";
    /// An instance gives the public key that its masks are stretched under (random oracle).
    Sha256 ROW_STRETCH = b"madrigal OT stretch   v1";
    /// An instance of garbling gives the public key that its labels are hashed under (random oracle).
    Sha256 GATE_HASH = b"madrigal gate hash    v1";
    /// An instance of garbling gives the public key that labels are hashed under on their way to numbers (random
    /// oracle).
    Sha256 NUMBER_HASH = b"madrigal label number v1";
    /// An instance of garbling by N parties gives the public key that their keys are hashed under (random
    /// oracle).
    Sha256 BMR_HASH = b"madrigal BMR hash     v1";
    /// An instance of garbling by N parties and two of them give the public key that rows of the first, who has
    /// the offset, with the second are hashed under (random oracle).
    Sha256 BMR_PRODUCTS = b"madrigal BMR product  v1";
    /// A step of alpha and two parties give the public key that rows of the first, who has the offset, with the second
    /// are hashed under (random oracle).
    Sha256 BIT_PAIRS = b"madrigal pairs of bits 1";
    /// A step of B and two parties give the public key that rows of the first, who has the offset, with the second are
    /// hashed under (random oracle).
    Sha256 GMW_OTS = b"madrigal ANDs by OTs  v1";
    /// A step of B and two parties give the public key that seeds which the first one knows, of shuffles with the second, are
    /// stretched under (random oracle).
    Sha256 GMW_SHUFFLES = b"madrigal B shuffles   v1";
    /// An instance gives the seeds of its public coins, 128 bits each: the codes' and the trees' (random
    /// oracle).
    Sha256 SILENT_COINS = b"madrigal silent codes v1";
    /// Does for an instance of VOLE what [`SILENT_COINS`] does.
    Sha256 VOLE_COINS = b"madrigal VOLE codes   v1";
    /// An instance of VOLE, the number of a check and a sum of keys give the answer to a challenge (random oracle).
    Sha256 VOLE_CHECK = b"madrigal VOLE check   v1";
    /// A step in which two lists are matched gives the public key that tags are hashed under (random oracle).
    Sha256 PSI_TAGS = b"madrigal psi tags     v1";
    /// A step in which two lists are matched, an element and a digest give a tag and a pad, against malicious parties (random oracle).
    /// With the step's identifier and zeros after it, it fills a block of SHA-256.
    Sha256 PSI_ORACLE = b"madrigal psi oracle   v1";
    /// A step in which two lists are matched and pads give a receiver's proof that it has the keys that it marks (random oracle).
    Sha256 PSI_PROOF = b"madrigal psi proof    v1";
    /// A step in which two lists are matched gives the salt of their keys' digests (random oracle).
    Sha256 PSI_SALT = b"madrigal psi salt     v1";
    /// A purpose, after its length, a salt and parts of the state of a run give a checksum or the run's name (collision resistance).
    Sha256 PSI_STATE = b"madrigal psi state    v1";
    /// An instance of OTs gives where the numbers of its secret keys of AES begin ([`crate::KeyNumbers`]; random
    /// oracle, as the next three).
    Sha256 OT_KEY_NUMBERS = b"madrigal OT numbers   v1";
    /// Does for an instance of garbling what [`OT_KEY_NUMBERS`] does.
    Sha256 GARBLER_KEY_NUMBERS = b"madrigal Y2 numbers   v1";
    /// Does for an instance of garbling by N parties, and one of them, what [`OT_KEY_NUMBERS`] does.
    Sha256 BMR_KEY_NUMBERS = b"madrigal BMR numbers  v1";
    /// Does for a step's public identifier, and a party where keys are its own, what [`OT_KEY_NUMBERS`] does.
    Sha256 STEP_KEY_NUMBERS = b"madrigal step numbers v1";
    /// The header of a client's share files gives the submission's name (collision resistance).
    Sha256 SHARE_SUBMISSION = b"madrigal submission v1";
    /// A query's text, the most rows of its joins, its tables' owners and schemas, whoever learns its result and the number of parties give
    /// the name of the job that clients' shares are for (collision resistance). The length of each text comes first.
    Sha256 CLIENTS_JOB = b"madrigal clients' job v1";
    /// A salt and a part of a value give a commitment (binding by collision resistance, hiding by the salt in the random
    /// oracle model), with the nonce of its submission and the part's number.
    Sha256 SHARE_PART = b"madrigal share part v1";
    /// A share file that is not sealed gives the digest at its end, which finds damage.
    Sha256 SHARE_CHECK = b"madrigal share check v1";
    /// A server's fingerprint and a client's secret give the token that the client shows that server (pseudorandom function under the secret).
    Sha256 SERVICE_TOKEN = b"madrigal service's token v1";
    /// A kind's program, lengths, sharings and receivers give the digest that servers compare (collision resistance).
    Sha256 SERVICE_KIND = b"madrigal service's kind v1";
    /// The digest of a kind that uses held inputs, and those of the kinds that hold them, give the digest that servers compare (collision resistance).
    Sha256 SERVICE_HELD = b"madrigal service's held inputs v1";
    /// The names of a batch's submissions, in order, give the name of what a job computes on (collision resistance).
    Sha256 SERVICE_BATCH = b"madrigal service's batch v1";
    /// A server's part of the key that a kind of requests is answered under gives the digest by which all servers know it (hiding, as the part is
    /// random, and binding, in the random oracle model); the digests of all parts, in order, give the key's check value (collision resistance).
    /// The kind's name comes first, after its length.
    Sha256 SERVICE_KEY = b"madrigal service's key v1";
    /// A kind of jobs, its program's digest and the headers of a client's inputs give the name of a submission to a service
    /// (collision resistance). The length of each comes first.
    Sha256 INTAKE_NAME = b"madrigal intake name v1";
    /// The length of a submission's body and its headers begin the chain of its digest (collision resistance).
    Sha256 SUBMISSION_HEADERS = b"madrigal intake headers v1";
    /// A link of the chain and the next piece of a submission's body give the next link (collision resistance).
    Sha256 SUBMISSION_PIECE = b"madrigal intake piece v1";
    /// The names of a batch's submissions in their order give the digest in its receipt (collision resistance). Their number comes
    /// first.
    Sha256 INTAKE_BATCH = b"madrigal intake batch v1";
    /// A salt and a row's key give a digest (random oracle, of which the salt makes a fresh one). With the number of the key's
    /// columns after it, it has 32 bytes, so that it and a salt fill a block of SHA-256.
    Sha256 LIST_KEY = b"madrigal key of a list's row v1";
    /// A salt and a further key of a row give a digest (random oracle). With the key's place and the number of its columns after it, it has
    /// 32 bytes.
    Sha256 LIST_OTHER_KEY = b"madrigal other key of a row v1";
    /// A kind, a batch's number and its submissions in order give the batch's digest (collision resistance). The length of
    /// each part comes first.
    Sha256 VAULT_BATCH = b"madrigal vault batch v1";
    /// A batch's digest and the number of a run give the run's name (collision resistance).
    Sha256 VAULT_RUN = b"madrigal vault run v1";
    /// A vault's key and a salt give the key that seals what is written until the vault is closed (key derivation).
    Hkdf VAULT_DATA = b"madrigal vault data v1";
    /// A vault's key gives the key of the stores that lie beside the vault (key derivation).
    Hkdf VAULT_STORES = b"madrigal vault stores v1";
    /// Begins what a share file is sealed with, before its preamble and header (HPKE's `info`).
    Hkdf SHARE_SEAL = b"madrigal sealed share v1";
    /// A store's key and salt, a purpose and a file's name give a key (key derivation).
    Hkdf STORE = b"madrigal store v1 ";
    /// Begins everything that an identity signs for a purpose of its own; the length of the purpose and the purpose come next. What TLS signs
    /// begins with a space, and a certificate with `0`.
    Signed IDENTITY_SIGNS = b"madrigal signs v1";
    /// Purpose of the signature below a receipt of a submission.
    Signed RECEIPT = b"receipt of a submission v1";
    /// Purpose of the signature below a receipt of a job.
    Signed JOB_RECEIPT = b"receipt of a job v1";
    /// A store's header.
    Format STORE_HEADER = b"madrigal store\0\n";
    /// A share file.
    Format SHARE_FILE = b"madrigal shares\n";
    /// A program file.
    Format PROGRAM_FILE = b"madrigal.program";
    /// A store's journal.
    Format STORE_JOURNAL = b"madrigal marks\0\n";
    /// The application protocol in TLS.
    Format ALPN = b"madrigal/1";
    /// The application protocol in TLS between clients and servers of a service.
    Format CLIENT_ALPN = b"madrigal-client/1";
    /// The first bytes of a connection without TLS.
    Format CARD = b"MADRIGAL";
    /// The first bytes of `madrigal doctor` to another.
    Format DOCTOR = b"MADRIGAL-DOCTOR1";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after a separator is another's to choose, so a separator that began another one would not
    /// separate.
    #[test]
    fn none_begins_another() {
        for (i, a) in ALL.iter().enumerate() {
            for b in &ALL[i + 1..] {
                // Read by eye and by port, never hashed.
                if a.used == Use::Format && b.used == Use::Format {
                    assert_ne!(a.bytes, b.bytes, "{} and {}", a.name, b.name);
                } else {
                    assert!(
                        !a.bytes.starts_with(b.bytes) && !b.bytes.starts_with(a.bytes),
                        "{} and {}",
                        a.name,
                        b.name
                    );
                }
            }
        }
    }
}
