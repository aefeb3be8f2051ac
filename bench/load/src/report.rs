//! Prints lines and keeps them, so that they can be written into the README.

use crate::Failure;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// The printed lines.
#[derive(Default)]
pub struct Report(String);

impl Report {
    /// Prints a line.
    pub fn line(&mut self, line: &str) {
        println!("{line}");
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Writes the lines into the README between the comments `begin PART` and `end PART`, in place of an earlier run's. Fails if the README lacks
    /// these comments.
    pub fn save(&self, part: &str) -> Result<(), Failure> {
        let (begin, end) = (format!("<!-- begin {part} -->\n"), format!("<!-- end {part} -->"));
        let readme = std::fs::read_to_string(README)?;
        let missing = || format!("README.md lacks the comment `begin {part}` or `end {part}`");
        let (before, rest) = readme.split_once(&begin).ok_or_else(missing)?;
        let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
        Ok(std::fs::write(README, format!("{before}{begin}\n{}\n{end}{after}", self.0.trim_end()))?)
    }
}
