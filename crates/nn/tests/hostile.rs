//! Files that ask for much more than they have: they are refused, or take no more memory than is declared.

use std::process::Command;

use madrigal_core::budget::PER_BYTE;
use madrigal_nn::{
    Fault, ImportError, LONGEST_NAME, Limits, Model, Options, Problem, ReadError, proto,
};
use madrigal_program::lower::Mix;
use prost::Message as _;

use crate::common::{Net, floats, ints};
use crate::secret::{FORMAT, roles};

/// Memory that reading, importing, lowering and planning may take beside the declared budget: the process itself, and what
/// is computed with while a constant is made.
const BESIDE: u64 = 32 << 20;

fn base() -> Net {
    Net::new(18)
        .input("x", &[4])
        .constant("zero", &[], &[0.0])
        .ints("huge", &[1 << 28])
}

/// An exporter's number without dimensions.
fn number(name: &str, value: i64) -> proto::Tensor {
    proto::Tensor {
        dims: Vec::new(),
        ..ints(name, &[value])
    }
}

/// Files of a hundred bytes that ask for much, by name.
fn files() -> Vec<(&'static str, Net)> {
    let image = || Net::new(18).input("x", &[1, 1, 2, 2]);
    let mut doubled = base()
        .node("c0 = ConstantOfShape(eight)")
        .ints("eight", &[8]);
    for step in 0..28 {
        let next = step + 1;
        doubled = doubled
            .node(&format!("c{next} = Concat(c{step}, c{step})"))
            .int("axis", 0);
    }
    let mut doubled_data = Net::new(18).input("c0", &[4]);
    for step in 0..26 {
        let next = step + 1;
        doubled_data = doubled_data
            .node(&format!("c{next} = Concat(c{step}, c{step})"))
            .int("axis", 0);
    }
    // Each of them is small, and all of them are needed at the end.
    let all: Vec<String> = (0..64).map(|step| format!("m{step}")).collect();
    let mut many = Net::new(18)
        .input("x", &[1])
        .ints("large", &[1 << 20])
        .node("e = Expand(x, large)");
    for one in &all {
        many = many.node(&format!("{one} = Mul(e, e)"));
    }
    let mut gathered = base().ints("places", &[-1; 1 << 16]);
    for step in 0..2000 {
        gathered = gathered
            .node(&format!("g{step} = Gather(x, places)"))
            .node(&format!("s{step} = ReduceSum(g{step})"));
    }
    let sums: Vec<String> = (0..2000).map(|step| format!("s{step}")).collect();
    let gathered = gathered.node(&format!("y = Sum({})", sums.join(", ")));
    let mut factors = Net::new(18)
        .input("x", &[1, 512])
        .constant("w", &[512, 1024], &[0.5; 512 * 1024])
        .constant("f", &[1024], &[0.5; 1024])
        .node("m0 = MatMul(x, w)");
    for step in 0..300 {
        factors = factors.node(&format!("m{} = Mul(m{step}, f)", step + 1));
    }
    vec![
        (
            "filled",
            base()
                .ints("of", &[1 << 29])
                .node("y = ConstantOfShape(of)"),
        ),
        (
            "range",
            base()
                .tensor(number("a", 0))
                .tensor(number("b", 1 << 28))
                .tensor(number("c", 1))
                .node("r = Range(a, b, c)")
                .node("y = ReduceSum(r)"),
        ),
        (
            "expanded",
            base()
                .node("e = Expand(zero, huge)")
                .node("y = ReduceSum(e)"),
        ),
        (
            "tiled",
            base()
                .constant("one", &[1], &[1.0])
                .node("t = Tile(one, huge)")
                .node("y = ReduceMax(t)"),
        ),
        ("doubled", doubled.node("y = ReduceMax(c28)")),
        (
            "padded",
            base()
                .constant("one", &[1], &[1.0])
                .ints("pads", &[1 << 27, 1 << 27])
                .node("p = Pad(one, pads)")
                .node("y = ReduceMax(p)"),
        ),
        (
            "mirrored",
            base()
                .ints("pads", &[1 << 27, 1 << 27])
                .node("y = Pad(x, pads)")
                .text("mode", "wrap"),
        ),
        (
            "hot",
            base()
                .ints("i", &[3])
                .constant("v", &[2], &[0.0, 1.0])
                .node("y = OneHot(i, huge, v)"),
        ),
        (
            "unit matrix",
            Net::new(18)
                .input("x", &[1 << 14, 1 << 14])
                .node("y = EyeLike(x)"),
        ),
        (
            "triangle",
            Net::new(18)
                .input("x", &[1 << 14, 1 << 14])
                .node("y = Trilu(x)"),
        ),
        (
            "mask",
            Net::new(18)
                .input("x", &[1 << 14, 1 << 14])
                .node("z y = Dropout(x)"),
        ),
        (
            "places",
            Net::new(18).input("x", &[1 << 28]).node("y = Hardmax(x)"),
        ),
        (
            "resized",
            image()
                .constant("roi", &[0], &[])
                .constant("s", &[4], &[1.0, 1.0, 1.0, 1e8])
                .node("y = Resize(x, roi, s)")
                .text("mode", "linear"),
        ),
        (
            "chosen",
            image()
                .constant("roi", &[0], &[])
                .constant("s", &[4], &[1.0, 1.0, 1.0, 1e8])
                .node("y = Resize(x, roi, s)"),
        ),
        (
            "scattered",
            Net::new(18)
                .input("x", &[1 << 27])
                .input("u", &[1])
                .tensor(proto::Tensor {
                    dims: vec![1, 1],
                    ..ints("i", &[5])
                })
                .node("y = ScatterND(x, i, u)"),
        ),
        (
            "backwards",
            Net::new(18)
                .input("x", &[1 << 27])
                .ints("from", &[-1])
                .ints("to", &[i64::MIN])
                .ints("axis", &[0])
                .ints("by", &[-1])
                .node("y = Slice(x, from, to, axis, by)"),
        ),
        (
            "sorted",
            Net::new(18)
                .input("x", &[1 << 20])
                .tensor(number("k", 5))
                .node("y i = TopK(x, k)"),
        ),
        (
            "expanded data",
            Net::new(18)
                .input("x", &[1])
                .ints("huge", &[1 << 28])
                .node("e = Expand(x, huge)")
                .node("y = Relu(e)"),
        ),
        ("doubled data", doubled_data.node("y = ReduceMax(c26)")),
        (
            "outer product",
            Net::new(18)
                .input("a", &[1 << 14, 1])
                .input("b", &[1, 1 << 14])
                .node("y = MatMul(a, b)"),
        ),
        (
            "held at once",
            many.node(&format!("y = Sum({})", all.join(", "))),
        ),
        ("gathered", gathered),
        ("factors", factors.node("y = Relu(m300)")),
    ]
}

/// Reads, imports, lowers and plans: what is wrong, in words.
fn all_of_it(file: Vec<u8>, limits: &Limits) -> Result<(), String> {
    let model = Model::read(file, limits).map_err(|error| error.to_string())?;
    let graph = model.import(&Options::default());
    let graph = graph.map_err(|error| error.to_string())?;
    let network = graph.on_secrets(&roles(2), FORMAT);
    let network = network.map_err(|error| error.to_string())?;
    let planned = network.program().plan(Mix::usual(2)[0], None, &|_| {});
    planned.map(drop).map_err(|error| error.to_string())
}

/// The most memory that this process has had resident, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

const CHILD: &str = "MADRIGAL_HOSTILE_FILE";

/// Reads one of the files in a process of its own, so that its memory can be measured.
#[test]
fn child() {
    let Ok(name) = std::env::var(CHILD) else {
        return;
    };
    let net = files().into_iter().find(|(own, _)| *own == name);
    let file = net.unwrap().1.output("y").file();
    let before = peak().unwrap_or(0);
    let done = all_of_it(file, &Limits::default());
    let after = peak().unwrap_or(0);
    println!("PEAK {}", after.saturating_sub(before));
    println!("DONE {}", done.err().unwrap_or_default().replace('\n', " "));
}

/// Small files take no more memory than is declared. Before, most of these took gigabytes, and one ended the process.
#[test]
fn small_files_take_no_more_memory_than_is_declared() {
    let own = std::env::current_exe().unwrap();
    let limits = Limits::default();
    for (name, net) in files() {
        let length = net.clone().output("y").file().len() as u64;
        let ended = Command::new(&own)
            .args(["--exact", "hostile::child", "--nocapture"])
            .env(CHILD, name)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "{name}: {ended:?}");
        let told = |key: &str| {
            let line = text.lines().find_map(|line| line.split_once(key));
            line.map(|(_, rest)| rest.to_string())
        };
        let peak: u64 = told("PEAK ").unwrap().parse().unwrap();
        let error = told("DONE ").unwrap();
        println!("{name}: {length} bytes, {} MiB, {error}", peak >> 20);
        let most = limits.memory + PER_BYTE * length + BESIDE;
        assert!(peak <= most, "{name}: {peak}");
        // The refusal names the node, the sizes and what to do.
        if !["gathered", "factors"].contains(&name) {
            let parts = ["node_", "MiB", "Limits::memory"];
            assert!(
                parts.iter().all(|part| error.contains(part)),
                "{name}: {error}"
            );
        }
    }
}

fn only(error: ImportError) -> Fault {
    match error.problems.into_iter().next() {
        Some(Problem::Node { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

/// Names are in all that is told of a model, and in what is made of it.
#[test]
fn names_are_bounded() {
    let long = "a".repeat(LONGEST_NAME + 1);
    let read = |file: Vec<u8>| Model::read(file, &Limits::default());
    let net = |change: &dyn Fn(&mut proto::Graph)| {
        let mut model = base().node("y = Relu(x)").output("y").messages();
        change(model.graph.as_mut().unwrap());
        model.encode_to_vec()
    };
    let named: [&dyn Fn(&mut proto::Graph); 6] = [
        &|graph| graph.node[0].name = long.clone(),
        &|graph| graph.node[0].op_type = long.clone(),
        &|graph| graph.node[0].output[0] = long.clone(),
        &|graph| graph.node[0].input[0] = long.clone(),
        &|graph| graph.input[0].name = long.clone(),
        &|graph| graph.initializer[0].name = long.clone(),
    ];
    for change in named {
        let error = read(net(change)).unwrap_err();
        assert_eq!(error, ReadError::Name { found: long.len() });
    }
    assert!(read(net(&|graph| graph.node[0].name = "a".repeat(LONGEST_NAME))).is_ok());
    // A node that becomes many has its name in each.
    let outputs: Vec<String> = (0..20_000).map(|at| format!("o{at}")).collect();
    let mut model = Net::new(18)
        .input("x", &[20_000])
        .node(&format!("{} = Split(x)", outputs.join(" ")))
        .output("o0")
        .messages();
    model.graph.as_mut().unwrap().node[0].name = "a".repeat(LONGEST_NAME);
    let limits = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let model = Model::read(model.encode_to_vec(), &limits).unwrap();
    let fault = only(model.import(&Options::default()).unwrap_err());
    assert!(matches!(fault, Fault::Memory { .. }), "{fault}");
}

/// Two bytes of a file are a node of hundreds in memory.
#[test]
fn parts_are_bounded_by_their_memory() {
    let graph: Vec<u8> = [0x0a, 0x00].repeat(1 << 19);
    let mut file = vec![0x3a];
    prost::encoding::encode_varint(graph.len() as u64, &mut file);
    file.extend(graph);
    let limits = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let error = Model::read(file, &limits).unwrap_err();
    assert!(matches!(error, ReadError::Memory(_)), "{error}");
}

/// Thousands of nodes in a row are planned. Before, 12,000 of them overflowed the stack, and 10,000 took half a minute.
#[test]
fn thousands_of_nodes_in_a_row_are_planned() {
    let chain = |length: usize| {
        let mut net = Net::new(18).input("x0", &[2, 3, 4]);
        for step in 0..length {
            let next = step + 1;
            net = match step % 3 {
                0 => net.node(&format!("x{next} = Transpose(x{step})")),
                1 => net
                    .node(&format!("x{next} = Concat(x{step})"))
                    .int("axis", 0)
                    .node(&format!("x{next}b = Identity(x{next})")),
                _ => net
                    .node(&format!("x{next} = Transpose(x{step})"))
                    .int_list("perm", &[0, 2, 1]),
            };
        }
        net.node(&format!("y = Relu(x{length})")).output("y").file()
    };
    let plan = |length| {
        let file = chain(length);
        let done = std::thread::Builder::new().stack_size(512 << 10);
        let done = done.spawn(move || {
            let begin = std::time::Instant::now();
            all_of_it(file, &Limits::default()).unwrap();
            begin.elapsed()
        });
        done.unwrap().join().unwrap()
    };
    // The least of three, since other tests have the processor too.
    let least = |length| (0..3).map(|_| plan(length)).min().unwrap();
    let (short, long) = (least(3000), least(12_000));
    println!("3,000 nodes: {short:?}, 12,000: {long:?}");
    // Sixteen times as long if it were quadratic; a busy machine has some of it.
    assert!(long < short * 10 + std::time::Duration::from_secs(1));
}

/// The data of tensors is in regular files beside the model, and not where a link leads.
#[cfg(unix)]
#[test]
fn data_beside_a_model_is_no_link_pipe_or_device() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(elsewhere.path().join("secret"), [0u8; 8]).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("secret"), path.join("link")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path.join("zeros")).unwrap();
    let made = Command::new("mkfifo").arg(path.join("pipe")).status();
    assert!(made.unwrap().success());
    std::fs::create_dir(path.join("folder")).unwrap();
    let file = |location: &str| {
        let mut weights = floats("w", &[2], &[]);
        weights.data_location = 1;
        weights.external_data = vec![proto::Entry {
            key: "location".into(),
            value: location.into(),
        }];
        let net = Net::new(13).input("x", &[2]).tensor(weights);
        net.node("y = Add(x, w)").output("y").file()
    };
    let limits = Limits::default();
    for (location, part) in [
        ("link", "no link"),
        ("zeros", "no link"),
        ("pipe", "a pipe"),
        ("folder", "a folder"),
    ] {
        let error = Model::read_beside(file(location), path, &limits).unwrap_err();
        assert!(error.to_string().contains(part), "{location}: {error}");
    }
    // Stores of models keep files elsewhere under other names, and links to all of them side by side.
    std::fs::write(elsewhere.path().join("model"), file("link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("model"), path.join("m.onnx")).unwrap();
    let model = Model::read_at(file("link"), &path.join("m.onnx"), &limits).unwrap();
    model.import(&Options::default()).unwrap();
}
