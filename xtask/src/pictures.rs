//! The pictures in README and docs: runs the experiments and reads the posts shown, and takes
//! screenshots of the pages in a browser.

use std::os::unix::fs::symlink;

use crate::command::{command, run as run_command};
use crate::{Error, agent, assize, files, tree};

/// A picture, and the commands that generate its page.
struct Picture {
    /// Path from the root of the tree.
    file: &'static str,
    /// The file name of the page, which the last command writes.
    page: &'static str,
    /// Arguments of `assize`. All run in one directory, which contains the tree's
    /// `experiments` and `demo`.
    commands: &'static [&'static [&'static str]],
}

const PICTURES: &[Picture] = &[Picture {
    file: "docs/report.png",
    page: "report.html",
    commands: &[
        &["run", "experiments/tour/dep-queue.toml"],
        &[
            "report",
            "dep-queue.bundle",
            "--format=html",
            "-oreport.html",
        ],
    ],
}];
/// Directories that the commands read.
const INPUTS: [&str; 2] = ["experiments", "demo"];

/// `cargo xtask pictures`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    if !arguments.is_empty() {
        return Err("it takes no arguments".into());
    }
    agent::run(&[])?;
    let assize = assize::build()?;
    let root = tree::root()?;
    for picture in PICTURES {
        let place = files::scratch("pictures")?;
        for input in INPUTS {
            let link = place.join(input);
            symlink(root.join(input), &link).map_err(files::fault(&link))?;
        }
        for arguments in picture.commands {
            let mut verb = command(&assize, arguments)?;
            verb.current_dir(&place);
            run_command(verb)?;
        }
        let page = place.join(picture.page).display().to_string();
        let script = ["tests/browser/picture.mjs", &page, picture.file];
        run_command(command("node", &script)?)?;
        println!("{}: made anew, and what it says beside it", picture.file);
    }
    Ok(())
}
