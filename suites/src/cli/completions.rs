//! `completions` and `man`: the command for shells and manuals, by its own name, `flowmeter`.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::failure::Outcome;
use super::output::Output;

/// Print completions for a shell
///
/// They complete the program `flowmeter` itself, which `cargo build --release -p flowmeter` puts into target/release;
/// for bash: flowmeter completions bash > ~/.local/share/bash-completion/completions/flowmeter
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, in the format of man
///
/// To read it: flowmeter man | man -l -
#[derive(Debug, Args)]
pub(super) struct Man {}

/// The program's own name: completions and manuals are not requested through cargo.
const NAME: &str = "flowmeter";

fn command() -> clap::Command {
    super::Command::command().bin_name(NAME)
}

impl Completions {
    pub(super) fn run(self) -> Outcome {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command(), NAME, &mut text);
        Output::default().text(&text);
        Ok(ExitCode::SUCCESS)
    }
}

impl Man {
    pub(super) fn run(self) -> Outcome {
        let mut command = command();
        command.build();
        let mut text = Vec::new();
        let mut render = |command: clap::Command| {
            let page = clap_mangen::Man::new(command);
            page.render(&mut text).expect("memory takes all of it");
        };
        render(command.clone());
        // Once built, a verb knows its command.
        for verb in command
            .get_subcommands()
            .filter(|verb| verb.get_name() != "help")
        {
            render(verb.clone());
        }
        Output::default().text(&text);
        Ok(ExitCode::SUCCESS)
    }
}
