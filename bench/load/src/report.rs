//! What is printed, kept so that a run of everything can write it into the README.

use crate::Failure;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const BEGIN: &str = "<!-- begin last run -->\n";
const END: &str = "<!-- end last run -->";

/// Lines that were printed.
#[derive(Default)]
pub struct Report(String);

impl Report {
    /// Prints a line.
    pub fn line(&mut self, line: &str) {
        println!("{line}");
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Puts it into the README, in place of that of the run before.
    pub fn save(&self) -> Result<(), Failure> {
        let readme = std::fs::read_to_string(README)?;
        let (before, rest) = readme.split_once(BEGIN).ok_or("README.md has no begin of the last run")?;
        let (_, after) = rest.split_once(END).ok_or("README.md has no end of the last run")?;
        Ok(std::fs::write(README, format!("{before}{BEGIN}\n{}\n{END}{after}", self.0.trim_end()))?)
    }
}
