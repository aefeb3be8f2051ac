//! Checks the commands in the documents: each block of them is run by a test, or is marked as an illustration, and the arguments of every
//! `dunnage` in them are valid.

use crate::Dunnage;
use clap::Parser;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A block before which this stands is not run.
const ILLUSTRATION: &str = "<!-- illustration -->";
/// The documents whose blocks are run: by `tests/cli/transcript.rs`.
const RUN: [&str; 3] = ["docs/tutorial.md", "docs/codecs.md", "docs/lorawan.md"];
/// The languages of blocks with commands.
const SHELL: [&str; 4] = ["console", "sh", "bash", "shell"];

/// A block of commands.
struct Block {
    /// The document, and the line from 1.
    place: String,
    commands: Vec<String>,
    is_marked: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the documents of the project: the Markdown files that are not built or installed.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_ours =
            !["target", "node_modules", "build", "dist"].contains(&&*name) && !name.starts_with('.');
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && is_ours => documents(&path, found),
            kind if kind.is_file() && name.ends_with(".md") && name != "CHANGELOG.md" => found.push(path),
            _ => {}
        }
    }
}

/// Returns the blocks of commands in a document: those of a shell's language between fences, and indented ones in which a line begins with `$ ` or
/// `dunnage `.
fn blocks(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).unwrap();
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let begin = at;
        let fence = lines[at].trim_start().strip_prefix("```");
        let is_indented = |at: usize| lines.get(at).is_some_and(|line| line.starts_with("    "));
        let is_end = |at: usize| match fence {
            Some(_) => lines[at].trim_start().starts_with("```"),
            None => !(is_indented(at) || lines[at].is_empty() && is_indented(at + 1)),
        };
        at += 1;
        if fence.is_none() && !is_indented(begin) {
            continue;
        }
        at += lines[at..].iter().enumerate().take_while(|(i, _)| !is_end(at + i)).count();
        let is_shell = fence.is_some_and(|language| SHELL.contains(&language));
        let body = &lines[begin + usize::from(fence.is_some())..at];
        at += usize::from(fence.is_some());
        let commands = commands(body, is_shell);
        if !commands.is_empty() {
            let mark = lines[..begin].iter().rev().find(|line| !line.trim().is_empty());
            let is_marked = mark.is_some_and(|line| line.trim() == ILLUSTRATION);
            blocks.push(Block { place: format!("{name}:{}", begin + 1), commands, is_marked });
        }
    }
    blocks
}

/// Returns the commands of a block: the lines that begin with `$ ` or `dunnage `; if none does, all lines of a shell. A backslash continues a line.
fn commands(body: &[&str], is_shell: bool) -> Vec<String> {
    let joined = body.join("\n").replace("\\\n", " ");
    let command = |line: &str| match line.trim_start() {
        line if line.starts_with("dunnage ") => Some(line.to_owned()),
        line => line.strip_prefix("$ ").map(str::to_owned),
    };
    let prompted: Vec<String> = joined.lines().filter_map(command).collect();
    match is_shell && prompted.is_empty() {
        true => joined.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        false => prompted,
    }
}

/// Returns the arguments of each `dunnage` in a command, up to the first operator of the shell; `None` if the command's quotes do not
/// match.
fn of_dunnage(command: &str) -> Option<Vec<Vec<String>>> {
    let ends = |word: &String| {
        ["|", ">", "2>", ">>", "<", "&&", "||", ";", "&", "#"].iter().any(|end| word.starts_with(end))
    };
    // A comment may have an apostrophe.
    let command = command.split(" # ").next().unwrap_or_default();
    // Each substitution is a word.
    let words =
        shlex::split(&command.replace("$(", "\"$(").replace(')', ")\"")).or_else(|| shlex::split(command))?;
    let begins = words.iter().enumerate().filter(|(_, word)| word.as_str() == "dunnage").map(|(at, _)| at);
    Some(begins.map(|at| words[at..].iter().take_while(|word| !ends(word)).cloned().collect()).collect())
}

fn all() -> Vec<Block> {
    let mut found = Vec::new();
    documents(&root(), &mut found);
    found.iter().flat_map(|path| blocks(path)).collect()
}

#[test]
fn every_block_of_commands_is_run_or_marked_as_an_illustration() {
    let is_run = |block: &&Block| RUN.iter().any(|document| block.place.starts_with(document));
    let all = all();
    let neither: Vec<&str> = all
        .iter()
        .filter(|block| !block.is_marked && !is_run(block))
        .map(|block| block.place.as_str())
        .collect();
    assert!(all.len() > 30, "{}", all.len());
    assert!(
        neither.is_empty(),
        "neither run by a test nor marked with {ILLUSTRATION}:\n{}",
        neither.join("\n")
    );
}

#[test]
fn every_dunnage_in_the_documents_has_valid_arguments() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for Block { place, commands, .. } in all() {
        for command in commands.iter().filter(|command| command.contains("dunnage ")) {
            let Some(found) = of_dunnage(command) else {
                wrong.push(format!("{place}: quotes that do not match: {command}"));
                continue;
            };
            for arguments in found {
                count += 1;
                // A word such as COMMAND is a placeholder for the reader's choice.
                let is_open = arguments.get(1).is_some_and(|word| word.chars().all(char::is_uppercase));
                let error = Dunnage::try_parse_from(&arguments).err().filter(clap::Error::use_stderr);
                wrong.extend(error.filter(|_| !is_open).map(|error| format!("{place}: {command}\n{error}")));
            }
        }
    }
    assert!(count > 40, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
