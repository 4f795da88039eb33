//! The kernel addresses and offsets that the plugin needs before it can count.

use std::fmt::Write as _;

use crate::symbols::{KERNEL, LONGEST};
use crate::{Error, Symbols};

/// The registers of function arguments, in order; an argument can also be given by
/// register.
const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
/// Exceptions for which the CPU pushes an error code.
const WITH_CODE: &[&str] = &[
    "double_fault",
    "invalid_tss",
    "segment_not_present",
    "stack_segment",
    "general_protection",
    "page_fault",
    "alignment_check",
    "control_protection",
    "vmm_communication",
];
/// Name prefixes of trampolines, which only pass calls on: thunks for indirect calls,
/// static calls and returns.
const PASSING: [&str; 5] = [
    "__x86_indirect_",
    "__pi___x86_indirect_",
    "__SCT__",
    "__x86_return_",
    "srso_",
];
/// The maximum number of probes of the plugin.
const PROBES: usize = 16;

/// A function whose entries are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryProbe {
    /// Its name.
    pub function: String,
    /// The register whose values at entry are counted by size.
    pub register: Option<String>,
}

impl EntryProbe {
    /// Parses `FN` or `FN:ARG`; ARG is the position of the argument, starting at 1, or
    /// the name of its register.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn parse(text: &str) -> Result<EntryProbe, String> {
        let (function, argument) = match text.split_once(':') {
            Some((function, argument)) => (function, Some(argument)),
            None => (text, None),
        };
        if function.is_empty() {
            return Err(format!("'{text}' names no function"));
        }
        let register = match argument {
            None => None,
            Some(word) => {
                let number = word.parse::<usize>().ok();
                let by_number = number.and_then(|number| ARGUMENTS.get(number.checked_sub(1)?));
                let by_name = ARGUMENTS.iter().find(|name| *name == &word);
                let found = by_number.or(by_name).ok_or_else(|| {
                    format!(
                        "'{word}' is not an argument of a function; valid: 1 to 6, {}",
                        ARGUMENTS.join(", ")
                    )
                })?;
                Some((*found).to_owned())
            }
        };
        Ok(EntryProbe {
            function: function.to_owned(),
            register,
        })
    }
}

/// Returns the configuration text for the plugin and, for each probe, the indexes of its
/// plugin probes: there is one per function with the probe's name, and none if the kernel
/// has no such function. With `trees`, the plugin also records call trees. `task` has the
/// offsets of the fields `pid`, `tgid` and `comm` in `task_struct`.
///
/// # Errors
/// If the kernel lacks a symbol that is needed, or if there are more than 16 plugin
/// probes.
pub fn kernel_map(
    symbols: &Symbols,
    task: &[(&str, u64)],
    probes: &[EntryProbe],
    trees: bool,
) -> Result<(String, Vec<Vec<usize>>), Error> {
    let one = |name: &str| {
        symbols
            .addresses(name)
            .first()
            .copied()
            .ok_or_else(|| Error::Missing {
                what: format!("the address of {name}"),
                mend: "with CONFIG_KALLSYMS, for x86-64",
            })
    };
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{words}");
    };
    line(format_args!("switch {:x}", one("__switch_to")?));
    for (field, offset) in task {
        line(format_args!("{field} {offset}"));
    }
    line(format_args!(
        "vectors {:x} {:x}",
        one("irq_entries_start")?,
        one("spurious_entries_start")?
    ));
    for (name, address) in symbols.names().filter(|(_, address)| *address >= KERNEL) {
        if let Some(kind) = entry(name) {
            line(format_args!("entry {address:x} {kind}"));
        }
    }
    let (mut numbers, mut next) = (Vec::new(), 0);
    for probe in probes {
        let addresses = symbols.addresses(&probe.function);
        let mut of = Vec::new();
        for address in addresses {
            let register = probe.register.as_deref().unwrap_or("-");
            line(format_args!("probe {address:x} {register}"));
            of.push(next);
            next += 1;
        }
        numbers.push(of);
    }
    if next > PROBES {
        return Err(Error::Probes { most: PROBES });
    }
    if trees {
        text += &functions(symbols);
    }
    Ok((text, numbers))
}

/// The start address of each function, and whether it only passes calls on.
fn functions(symbols: &Symbols) -> String {
    let mut text = format!("longest {LONGEST}\n");
    for (address, name) in symbols.begins() {
        let passes = PASSING.iter().any(|begin| name.starts_with(begin));
        let sign = if passes { '-' } else { '+' };
        // Writing to a String does not fail.
        let _ = writeln!(text, "{sign}{address:x}");
    }
    text
}

/// The kind of entry point, as numbered by the plugin, if the symbol handles an interrupt
/// or exception.
fn entry(name: &str) -> Option<u8> {
    if name.starts_with("asm_sysvec_") || name.starts_with("asm_spurious") {
        return Some(1);
    }
    match name.strip_prefix("asm_exc_")? {
        "nmi" => Some(1),
        exception if WITH_CODE.contains(&exception) => Some(3),
        _ => Some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_a_number_or_a_register() {
        let probe = |function: &str, register: Option<&str>| EntryProbe {
            function: function.into(),
            register: register.map(str::to_owned),
        };
        assert_eq!(EntryProbe::parse("memcpy"), Ok(probe("memcpy", None)));
        assert_eq!(
            EntryProbe::parse("memcpy:3"),
            Ok(probe("memcpy", Some("rdx")))
        );
        assert_eq!(EntryProbe::parse("f:rcx"), Ok(probe("f", Some("rcx"))));
        for wrong in ["", ":1", "f:0", "f:7", "f:eax", "f:"] {
            assert!(EntryProbe::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn functions_come_in_order_and_trampolines_are_marked() {
        let text = "ffffffff81000020 t __pi___x86_indirect_thunk_rax\n\
                    ffffffff81000010 T f\nffffffff81000000 T __x86_return_thunk\n\
                    ffffffff81000010 T alias\n";
        let symbols = Symbols::parse(text).unwrap_or_default();
        assert_eq!(
            functions(&symbols),
            format!("longest {LONGEST}\n-ffffffff81000000\n+ffffffff81000010\n-ffffffff81000020\n")
        );
    }

    #[test]
    fn interrupts_and_exceptions_are_distinguished() {
        for (name, kind) in [
            ("asm_sysvec_apic_timer_interrupt", Some(1)),
            ("asm_exc_nmi", Some(1)),
            ("asm_exc_divide_error", Some(2)),
            ("asm_exc_page_fault", Some(3)),
            ("exc_page_fault", None),
            ("entry_SYSCALL_64", None),
        ] {
            assert_eq!(entry(name), kind, "{name}");
        }
    }
}
