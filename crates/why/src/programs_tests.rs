#![allow(clippy::unwrap_used)] // A test may fail.

use super::*;
use crate::{Profile, Subsystems, Symbols};

const CODE: [u8; 64] = {
    let mut code = [0; 64];
    let mut at = 0;
    while at < 64 {
        code[at as usize] = at * 3 + 1;
        at += 1;
    }
    code
};

/// A program with one executable page at `at`, a function of 40 bytes there and one after
/// it.
fn program(name: &str, at: u64, code: &[u8], fixed: bool) -> Program {
    Program {
        name: name.into(),
        fixed,
        texts: vec![(at, code.to_vec())],
        functions: vec![(at, 40, "first".into()), (at + 48, 16, "second".into())],
    }
}

/// A run in which a task executes adjacent blocks of these lengths with this code at this
/// address, once each, with one-byte instructions.
fn executed(address: u64, code: &[u8], lengths: &[usize]) -> RunCounts {
    let mut text = "assize.counts/2\n".to_owned();
    let mut from = 0;
    for (block, length) in lengths.iter().enumerate() {
        let offsets: Vec<String> = (0..*length).map(|at| format!("{at:x}")).collect();
        let bytes = &code[from..from + length];
        let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let at = address + from as u64;
        text += &format!("block {block} {at:x} {} {bytes}\n", offsets.join(","));
        from += length;
    }
    text += "task 0 0 7 7 t\n";
    for block in 0..lengths.len() {
        text += &format!("whole 0 {block} 1\n");
    }
    text +=
        "window closed cpus 1 readings 1 mismatches 0 early 0 unclear 0 skipped 0 lost 0\nend\n";
    RunCounts::parse(&text).unwrap()
}

/// The instructions by function.
fn functions(programs: Vec<Program>, counts: &RunCounts) -> Vec<(String, u64)> {
    let placed = Programs { all: programs }.place(counts);
    let symbols = Symbols::parse("ffffffff81000000 t schedule\n").unwrap();
    let profile = Profile::from_counts(counts, &symbols, &placed, &Subsystems::shipped());
    let places = profile.places.into_iter();
    places
        .map(|(place, times)| {
            assert_eq!(place.subsystem, USER);
            (place.function, times)
        })
        .collect()
}

fn rows(all: &[(&str, u64)]) -> Vec<(String, u64)> {
    all.iter()
        .map(|(name, times)| ((*name).to_owned(), *times))
        .collect()
}

#[test]
fn code_is_of_the_function_whose_bytes_it_has_wherever_it_was_loaded() {
    let want = rows(&[
        ("(no symbol) [a.so]", 8),
        ("first [a.so]", 40),
        ("second [a.so]", 16),
    ]);
    for distance in [0, 0x1000, 0x7f12_3456_7000] {
        let counts = executed(0x1100 + distance, &CODE, &[24, 16, 2, 6, 16]);
        let all = vec![program("a.so", 0x1100, &CODE, false)];
        assert_eq!(functions(all, &counts), want, "{distance:x}");
    }
}

#[test]
fn who_has_other_bytes_or_another_place_in_its_page_is_not_named() {
    let counts = executed(0x7f00_0000_0100, &CODE, &[24, 16, 8, 16]);
    let nobody = rows(&[(NO_FILE, 64)]);
    let mut other = CODE;
    for at in [3, 30, 44, 60] {
        other[at] ^= 1;
    }
    for (at, code, fixed) in [
        (0x1100, other, false),
        (0x1110, CODE, false),
        (0x1100, CODE, true),
    ] {
        let all = vec![program("a.so", at, &code, fixed)];
        assert_eq!(functions(all, &counts), nobody, "{at:x} {fixed}");
    }
    // A modified block belongs to no program; its neighbours still do.
    other = CODE;
    other[45] ^= 1;
    let all = vec![program("a.so", 0x1100, &other, false)];
    let want = rows(&[(NO_FILE, 8), ("first [a.so]", 40), ("second [a.so]", 16)]);
    assert_eq!(functions(all, &counts), want);
}

#[test]
fn few_bytes_do_not_say_where_a_file_is_but_a_fixed_one_does() {
    let counts = executed(0x40_1000, &CODE, &[16]);
    let free = vec![program("a.so", 0x1000, &CODE, false)];
    assert_eq!(functions(free, &counts), rows(&[(NO_FILE, 16)]));
    let fixed = vec![program("a", 0x40_1000, &CODE, true)];
    assert_eq!(functions(fixed, &counts), rows(&[("first [a]", 16)]));
}

#[test]
fn of_two_files_the_one_with_more_of_the_code_has_it() {
    let counts = executed(0x7f00_0000_0100, &CODE, &[24, 16, 8, 16]);
    let part = program("part.so", 0x2100, &CODE[..50], false);
    let whole = program("whole.so", 0x1100, &CODE, false);
    let want = functions(vec![whole.clone()], &counts);
    assert_eq!(functions(vec![part, whole], &counts), want);
}

#[test]
fn a_place_that_had_two_codes_is_of_neither_where_only_the_address_is_known() {
    let text = "assize.counts/2\nblock 0 401000 0,1 9090\nblock 1 401001 0,1 90cc\n\
        block 2 401005 0 91\ntask 0 0 7 7 t\nwhole 0 0 1\nwhole 0 1 1\nwhole 0 2 1\n\
        window closed cpus 1 readings 1 mismatches 0 early 0 unclear 0 skipped 0 lost 0\nend\n";
    let counts = RunCounts::parse(text).unwrap();
    let named = |name: &str, from: u64, code: &[u8]| Program {
        name: name.into(),
        fixed: true,
        texts: vec![(from, code.to_vec())],
        functions: vec![(from, 16, "f".into())],
    };
    let mut long = vec![0x90, 0x90];
    long.extend([0; 3]);
    long.push(0x91);
    // Short blocks alone do not locate a file.
    let placed = Programs {
        all: vec![named("a", 0x40_1000, &long)],
    }
    .place(&counts);
    assert_eq!(placed.of_task(0, 0x40_1000), NO_FILE);
    assert_eq!(placed.of_task(0, 0x40_2000), USER);
    assert_eq!(InstructionNames::default().of_block(0, 0), USER);
}

#[test]
fn names_are_as_their_sources_have_them() {
    assert_eq!(readable_name("memcpy@@GLIBC_2.14"), "memcpy");
    let rust = "_ZN12assize_agent8workload4sync17h0123456789abcdefE";
    assert_eq!(readable_name(rust), "assize_agent::workload::sync");
}

#[test]
fn this_test_is_read_and_finds_itself() {
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let program = Program::read("/x/y/test", &bytes, None).unwrap();
    assert_eq!(program.name, "test");
    let wanted = "programs::tests::this_test_is_read_and_finds_itself";
    let mine = program
        .functions
        .iter()
        .find(|one| one.2.contains(wanted))
        .unwrap();
    let name = program.function(mine.0 + mine.1 - 1);
    assert!(name.contains(wanted) && name.ends_with(" [test]"), "{name}");
    // Without symbols it has no function names; with them it does.
    let mut bare = program.clone();
    bare.functions.clear();
    assert_eq!(bare.function(mine.0), "(no symbol) [test]");
    for text in [&b"\x7fELF"[..], b"", b"#!/bin/sh\n", &bytes[..100]] {
        assert_eq!(Program::read("x", text, None), None);
    }
}

proptest::proptest! {
    #[test]
    fn no_file_panics(at in 0usize..2000, byte: u8) {
        static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let bytes = BYTES.get_or_init(|| std::fs::read("/bin/true").unwrap_or_default());
        let mut bytes = bytes.clone();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let _ = Program::read("x", &bytes, None);
    }
}
