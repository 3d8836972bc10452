//! `docs/CLI.md`: every command with its flags, their defaults and values.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

/// The command that leads to another program, which its `--help` describes.
const LABORATORY: &str = "bench";
const WIDTH: usize = 100;

/// The whole page.
pub fn page(program: &Command, statuses: &str) -> String {
    let mut program = program.clone();
    program.build();
    let mut commands = Vec::new();
    gather(&program, "madrigal", &mut commands);
    let mut page = String::from(
        "# The commands of `madrigal`\n\n\
         <!-- Made from the definition of the flags: `cargo xtask reference` writes this page again. -->\n\n",
    );
    page += &wrapped(
        "Every command with its flags, as `--help` shows them. What commands print as JSON is in \
         [STATISTICS.md](STATISTICS.md). Benchmarks are the program `madrigal-lab`, described by `madrigal-lab --help`.",
        "",
    );
    page.push('\n');
    for (name, command) in &commands {
        let about = command.get_about().map(ToString::to_string);
        let line = format!(
            "- [`{name}`](#{}): {}",
            name.replace(' ', "-"),
            plain(&about.unwrap_or_default())
        );
        page += &wrapped(&line, "  ");
    }
    for (name, command) in commands {
        section(&mut page, &name, command);
    }
    let _ = write!(page, "\n## Exit status\n\n{statuses}");
    page
}

/// All commands that do something, in the order of the help.
fn gather<'a>(command: &'a Command, name: &str, into: &mut Vec<(String, &'a Command)>) {
    for one in command.get_subcommands() {
        let hidden = one.is_hide_set() || ["help", LABORATORY].contains(&one.get_name());
        if hidden {
            continue;
        }
        let name = format!("{name} {}", one.get_name());
        match one.has_subcommands() {
            true => gather(one, &name, into),
            false => into.push((name, one)),
        }
    }
}

fn section(page: &mut String, name: &str, command: &Command) {
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let _ = write!(page, "\n## {name}\n\n{}\n", wrapped(&plain(&about), ""));
    let _ = write!(page, "```text\n{usage}\n```\n");
    let shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help";
    let mut headings: Vec<&str> = Vec::new();
    for arg in command.get_arguments().filter(shown) {
        let heading = heading(arg);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for one in headings {
        let _ = write!(page, "\n{one}:\n\n");
        for arg in command.get_arguments().filter(shown) {
            if heading(arg) == one {
                *page += &item(arg);
            }
        }
    }
}

fn heading(arg: &Arg) -> &str {
    match arg.is_positional() {
        true => "Arguments",
        false => arg.get_help_heading().unwrap_or("Options"),
    }
}

/// A flag: its names and value, its help, what it is without being given, what it can be.
fn item(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    // Lines that the help sets apart, as a list of examples, stay as they are.
    let (text, block): (Vec<&str>, Vec<&str>) =
        help.lines().partition(|line| !line.starts_with("  "));
    let text = text.join(" ");
    let mut line = format!("- `{}`: {}", name(arg), plain(text.trim()));
    if arg.is_required_set() {
        line += " (required)";
    }
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if takes_value(arg) && !defaults.is_empty() {
        let _ = write!(line, " [default: {}]", defaults.join(" "));
    }
    let mut item = wrapped(&line, "  ");
    let values = arg.get_possible_values();
    for value in values
        .iter()
        .filter(|value| takes_value(arg) && !value.is_hide_set())
    {
        let help = value
            .get_help()
            .map(|help| format!(": {}", plain(&help.to_string())));
        let line = format!("  - `{}`{}", value.get_name(), help.unwrap_or_default());
        item += &wrapped(&line, "    ");
    }
    if !block.is_empty() {
        let block: String = block.iter().map(|line| format!("{line}\n")).collect();
        let _ = write!(item, "\n  ```text\n{block}  ```\n");
    }
    item
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

fn name(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(|value| format!("<{value}>")).collect();
    let values = values.join(" ");
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let names = names.join(", ");
    match (names.is_empty(), takes_value(arg)) {
        (true, _) => values,
        (false, true) => format!("{names} {values}"),
        (false, false) => names,
    }
}

/// Text that stays text in Markdown: outside of code, `<` would begin a tag and `*` an emphasis.
fn plain(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => part.replace('<', "\\<").replace('*', "\\*"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Lines of at most [`WIDTH`], the second and those after it with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let begin = text.len() - text.trim_start().len();
    let mut lines = vec![text[..begin].to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("a line");
        let first = line.trim().is_empty();
        // A sign alone would begin a list.
        if !first && line.len() + 1 + word.len() > WIDTH && !["-", "+"].contains(&word) {
            lines.push(format!("{indent}{word}"));
            continue;
        }
        if !first {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n") + "\n"
}
