//! `dunnage completions` and `dunnage man`: both come from the one definition of the command line.

use crate::{Dunnage, failure::Failure};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Print shell completions
///
/// For example: dunnage completions bash > /etc/bash_completion.d/dunnage
#[derive(Args)]
pub struct Completions {
    /// Shell to complete for
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<(), Failure> {
        // clap_complete panics if it cannot write, so the script is written to memory first.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Dunnage::command(), "dunnage", &mut script);
        io::stdout().lock().write_all(&script)?;
        Ok(())
    }
}

/// Print the manual page, or write the pages of all commands to a directory
///
/// For example: dunnage man | man -l -
#[derive(Args)]
pub struct Man {
    /// Existing directory, to which dunnage.1, dunnage-compare.1 and so on are written
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub fn run(self) -> Result<(), Failure> {
        if let Some(dir) = self.dir {
            return clap_mangen::generate_to(Dunnage::command(), &dir)
                .map_err(|e| Failure::about(dir.display(), e));
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(Dunnage::command()).render(&mut page)?;
        io::stdout().lock().write_all(&page)?;
        Ok(())
    }
}
