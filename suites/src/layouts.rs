//! Layouts of the program that times: builds that differ in the order in which the linker places functions, and in
//! nothing else.
//!
//! A layout moves uncontended cells by some percent, and more forks of one build do not average that out. Where forks
//! take several layouts in turn, the variation between forks contains it.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::timed::{self, Found, TimedProgram};

/// Seeds the shuffle of functions. The build script of the package that times reads it.
pub(crate) const VARIABLE: &str = "FLOWMETER_LAYOUT";

/// The layouts that forks take in turn. Empty for the usual build alone.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Vec<Found>);

/// Whether there can be that many layouts.
///
/// # Errors
/// When there is no program to build.
pub(crate) fn possible(number: u32) -> Result<(), String> {
    match (number, timed::named()) {
        (1, _) => Ok(()),
        (_, None) => {
            Err("--layouts: this program times itself, in the one layout that it has".to_owned())
        }
        (_, Some(program)) if std::env::var_os(timed::VARIABLE).is_some() => Err(format!(
            "--layouts builds {}, and {} names one that is built; unset it",
            program.name,
            timed::VARIABLE
        )),
        (_, Some(_)) => Ok(()),
    }
}

impl Layouts {
    /// That many: the usual build, and others that are linked now.
    ///
    /// # Errors
    /// Those of [`possible`], and when the build fails or ignores the seed.
    pub(crate) fn of(number: u32) -> Result<Layouts, String> {
        possible(number)?;
        let (Some(program), Some(usual), 2..) = (timed::named(), timed::program(), number) else {
            return Ok(Layouts::default());
        };
        let usual = usual?;
        let this = std::env::current_exe()
            .map_err(|why| format!("the path of this program is unknown: {why}"))?;
        let mut layouts = vec![timed::held_open(usual.to_owned())?];
        for seed in 1..number {
            if io::stderr().is_terminal() {
                // If stderr is closed, the build is as silent as cargo.
                let _ = writeln!(
                    anstream::stderr(),
                    "linking layout {} of {number}",
                    seed + 1
                );
            }
            layouts.push(laid_out(program, &this, usual, seed)?);
        }
        Ok(Layouts(layouts))
    }

    /// The program for that fork. `None` for the usual build alone.
    pub(crate) fn program(&self, fork: u32) -> Option<&Path> {
        let layout = fork as usize % self.0.len().max(1);
        self.0.get(layout).map(|found| &*found.path)
    }
}

/// Links the program with functions in the order of that seed, and keeps it beside the usual build.
fn laid_out(program: &TimedProgram, this: &Path, usual: &Path, seed: u32) -> Result<Found, String> {
    let built = program.built_beside_with(this, &[(VARIABLE, seed.to_string())])?;
    let folder = built.with_file_name("layouts").join(seed.to_string());
    let kept = folder.join(built.file_name().unwrap_or_default());
    let cannot = |why: io::Error| format!("{} cannot be written: {why}", kept.display());
    let read = |path: &Path| fs::read(path).map_err(|why| format!("{}: {why}", path.display()));
    fs::create_dir_all(&folder).map_err(cannot)?;
    if read(&built)? == read(usual)? {
        return Err(format!(
            "--layouts: package {} ignores {VARIABLE}; its build script has to pass the seed on to the linker",
            program.package
        ));
    }
    fs::copy(&built, &kept).map_err(cannot)?;
    timed::held_open(kept)
}
