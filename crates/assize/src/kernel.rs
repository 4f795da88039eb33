//! `assize kernel`: kernels for the targets exact and live.

use std::path::Path;

use assize_target::kernels::config::{self, KernelConfig, OptionWeight};
use assize_target::kernels::{DEBIAN, FetchAmount, Kernel, Kernels};

use crate::cli::KernelVerb;
use crate::failure::Failure;
use crate::{output, trying};

/// Lists, fetches, adds, builds or configures kernels.
pub(crate) fn kernel(verb: &KernelVerb) -> Result<u8, Failure> {
    let kernels = Kernels::new(Kernels::default_root()?);
    let mut said = |line: &str| eprintln!("{}", assize_report::printable(line));
    match verb {
        KernelVerb::List { json } => return list(&kernels, *json),
        KernelVerb::Fetch {
            name: Some(name),
            headers,
            compiler,
            ..
        } => {
            let amount = match (compiler, headers) {
                (true, _) => FetchAmount::Compiler,
                (false, true) => FetchAmount::Headers,
                (false, false) => FetchAmount::Image,
            };
            print_kernel(&kernels.fetch(name, amount, &mut said)?)?;
        }
        KernelVerb::Fetch { name: None, .. } => {
            let qemu = assize_target::qemu_build::ensure(&Kernels::default_root()?, &mut said)?;
            let line = format!("QEMU {}: {}\n", qemu.version, qemu.binary.display());
            output::print(line.as_bytes())?;
        }
        KernelVerb::Add {
            name,
            kernel,
            modules,
            headers,
        } => print_kernel(&kernels.add(name, kernel, modules.as_deref(), headers.as_deref())?)?,
        KernelVerb::Build {
            name,
            tree,
            sandbox,
        } => {
            let built = kernels.build(name, tree, &sandbox.choose()?, &mut said)?;
            for same in &built.same {
                said(&format!(
                    "{name} has the same image and modules as {same}, byte for byte; there is \
                     nothing to compare"
                ));
            }
            print_kernel(&built.kernel)?;
        }
        KernelVerb::Headers { name } => headers(&kernels, name)?,
        KernelVerb::Config { check: None } => output::print(config::EXACT.as_bytes())?,
        KernelVerb::Config { check: Some(file) } => return check(file),
    }
    Ok(0)
}

/// Prints the directory for `make -C`, for a command substitution.
fn headers(kernels: &Kernels, name: &str) -> Result<(), Failure> {
    let directory = kernels.headers(name)?;
    let directory = std::path::absolute(&directory).map_err(|source| Failure::Read {
        path: directory,
        source,
    })?;
    let mut line = directory.into_os_string().into_encoded_bytes();
    line.push(b'\n');
    output::print(&line)
}

fn print_kernel(kernel: &Kernel) -> Result<(), Failure> {
    let line = format!(
        "{}: {} in {}\n",
        kernel.name,
        kernel.release,
        kernel.image.display()
    );
    output::print(assize_report::printable(&line).as_bytes())
}

/// Checks which options of the exact machine a configuration lacks.
fn check(file: &Path) -> Result<u8, Failure> {
    let (bytes, name) = trying::read(file)?;
    let configuration = KernelConfig::parse(&bytes, &name)?;
    let wishes = config::wishes(config::EXACT).map_err(Failure::Show)?;
    let lacking = configuration.lacks(&wishes);
    let of = |weight| lacking.iter().filter(move |wish| wish.weight == weight);
    let mut text = String::new();
    for (weight, what) in [
        (
            OptionWeight::Needed,
            "lacks options that the exact machine needs",
        ),
        (
            OptionWeight::Wanted,
            "lacks options that some features need",
        ),
    ] {
        if of(weight).next().is_some() {
            text.push_str(&format!("{name}: {what}\n"));
        }
        for wish in of(weight) {
            text.push_str(&format!("  {wish}\n    {}\n", wish.why));
        }
    }
    if text.is_empty() {
        text = format!(
            "{name}: has every option that assize kernel config lists as needed or wanted\n"
        );
    }
    output::print(assize_report::printable(&text).as_bytes())?;
    Ok(u8::from(of(OptionWeight::Needed).next().is_some()))
}

fn list(kernels: &Kernels, json: bool) -> Result<u8, Failure> {
    let there = kernels.list()?;
    let missing: Vec<_> = DEBIAN
        .iter()
        .filter(|known| there.iter().all(|kernel| kernel.name != known.name))
        .collect();
    let text = if json {
        let there = there.iter().map(value);
        let missing = missing.iter().map(
            |known| serde_json::json!({"name": known.name, "there": false, "about": known.about}),
        );
        let all: Vec<serde_json::Value> = there.chain(missing).collect();
        let text = serde_json::to_string_pretty(&all);
        text.map_err(|error| Failure::Show(error.to_string()))? + "\n"
    } else {
        let mut text = String::new();
        // Kernels kept by assize try come last: the user did not name them.
        let (tried, named): (Vec<&Kernel>, Vec<&Kernel>) =
            there.iter().partition(|kernel| kernel.is_tried());
        for kernel in named {
            let parts = [
                ("modules", &kernel.modules),
                ("headers", &kernel.headers),
                ("compiler", &kernel.compiler),
            ];
            let with: Vec<&str> = parts
                .iter()
                .filter_map(|(name, path)| path.as_ref().map(|_| *name))
                .collect();
            let with = if with.is_empty() {
                "only the image".to_string()
            } else {
                let (last, rest) = with.split_last().unwrap_or((&"", &[]));
                match rest.is_empty() {
                    true => format!("with {last}"),
                    false => format!("with {} and {last}", rest.join(", ")),
                }
            };
            text.push_str(&format!("{:15} {}, {with}\n", kernel.name, kernel.release));
        }
        for known in missing {
            text.push_str(&format!(
                "{:15} not fetched; assize kernel fetch {}\n",
                known.name, known.name
            ));
        }
        if !tried.is_empty() {
            text.push_str("built by assize try, which removes the least recently used:\n");
        }
        for kernel in tried {
            text.push_str(&format!("  {} {}\n", kernel.name, kernel.release));
        }
        text
    };
    output::print(assize_report::printable(&text).as_bytes())?;
    Ok(0)
}

fn value(kernel: &Kernel) -> serde_json::Value {
    serde_json::json!({
        "name": kernel.name,
        "there": true,
        "version": kernel.version,
        "release": kernel.release,
        "image": kernel.image,
        "modules": kernel.modules,
        "config": kernel.config,
        "headers": kernel.headers,
        "compiler": kernel.compiler,
        "digest": kernel.digest,
        "tried": kernel.is_tried(),
    })
}
