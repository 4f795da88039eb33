//! The hwlat tracer.

use assize_audit::grammar::Finding;
use assize_audit::grammar::hwlat::Hwlat;

use super::{blocks, doubts, runs, survives, survives_long_lines};

const WRAPPED: &str = include_str!("../hwlat/wrapped.txt");
const EMPTY: &str = include_str!("../hwlat/empty.txt");
const NMI: &str = include_str!("../hwlat/nmi.txt");

/// Count and times of each trace in a text.
fn events(text: &str) -> Vec<(u64, Vec<f64>)> {
    let findings = blocks(&Hwlat, text)
        .into_iter()
        .flat_map(|block| block.findings);
    findings
        .filter_map(|(_, finding)| match finding {
            Finding::Events {
                event,
                count,
                times_s,
                exposure_s,
                ..
            } => {
                assert_eq!((event.as_str(), exposure_s), ("hwlat", None));
                Some((count, times_s))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn wrapped_events_are_counted_once_each() {
    let read = events(WRAPPED);
    assert_eq!(read.len(), 1);
    let (count, times) = &read[0];
    assert_eq!(*count, 6);
    assert_eq!(times.len(), 6);
    assert_eq!(times[0], 1_702_045_267.016_266_3);
    assert!(times.is_sorted());
    let runs = runs(&Hwlat, WRAPPED);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].get("hwlat inner max"), "41 us");
    assert_eq!(runs[0].get("hwlat outer max"), "41 us");
    assert_eq!(doubts(&Hwlat, WRAPPED), [""; 0]);
}

#[test]
fn all_lines_of_a_wrapped_trace_are_taken() {
    let blocks = blocks(&Hwlat, WRAPPED);
    assert_eq!(blocks[0].taken.len(), 24);
    assert_eq!(blocks[0].taken[..12], ["hwlat header"; 12]);
    assert_eq!(blocks[0].taken[12..], ["hwlat event"; 12]);
}

#[test]
fn an_empty_trace_is_zero_events_and_no_run() {
    assert_eq!(events(EMPTY), [(0, vec![])]);
    assert_eq!(runs(&Hwlat, EMPTY).len(), 0);
    assert_eq!(doubts(&Hwlat, EMPTY), [""; 0]);
}

#[test]
fn interrupts_that_cannot_be_masked_are_part_of_the_event() {
    assert_eq!(events(NMI)[0].0, 3);
    let runs = runs(&Hwlat, NMI);
    assert_eq!(runs[0].get("hwlat inner max"), "116 us");
    assert_eq!(runs[0].get("hwlat outer max"), "250 us");
}

#[test]
fn consecutive_traces_are_two_blocks() {
    let both = format!("{WRAPPED}{NMI}\n{EMPTY}");
    let counts: Vec<u64> = events(&both).into_iter().map(|(count, _)| count).collect();
    assert_eq!(counts, [6, 3, 0]);
}

#[test]
fn events_without_header_are_read_and_a_restarted_number_begins_another_trace() {
    let one: String = NMI
        .lines()
        .skip(11)
        .map(|line| format!("{line}\n"))
        .collect();
    let counts: Vec<u64> = events(&format!("{one}{one}"))
        .into_iter()
        .map(|e| e.0)
        .collect();
    assert_eq!(counts, [3, 3]);
}

#[test]
fn an_event_may_be_broken_before_its_number_or_after_it() {
    let text = "\
  <...>-8795    [001] dn...   613.749741:
#1 inner/outer(us): 41/39 ts:1702045267.016266287 count:9976
  <...>-8795    [001] dn...   614.749741: #2
inner/outer(us):   40/42
ts:1702045268.016266287
count:3
";
    assert_eq!(events(text)[0].0, 2);
    assert_eq!(events(text)[0].1.len(), 2);
    assert_eq!(blocks(&Hwlat, text)[0].taken.len(), 6);
    assert_eq!(runs(&Hwlat, text)[0].get("hwlat outer max"), "42 us");
}

#[test]
fn the_trace_clock_is_used_where_the_wall_clock_is_missing() {
    let text = "  a-1 [001] d... 613.5: #1 inner/outer(us): 4/5\n  a-1 [001] d... 700.25: #2 inner/outer(us): 6/5\n";
    assert_eq!(events(text), [(2, vec![613.5, 700.25])]);
}

#[test]
fn clocks_are_not_mixed() {
    let text = "  a-1 [001] d... 613.5: #1 inner/outer(us): 4/5\n#2 inner/outer(us): 6/5 ts:1702045268.5\n";
    assert_eq!(events(text), [(2, vec![])]);
}

#[test]
fn events_that_were_written_but_not_posted_are_doubted() {
    let cut: String = WRAPPED
        .lines()
        .take(16)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(events(&cut)[0].0, 2);
    assert_eq!(doubts(&Hwlat, &cut), ["missing-events"]);
    let late = "  a-1 [001] d... 613.5: #97 inner/outer(us): 4/5\n";
    assert_eq!(doubts(&Hwlat, late), ["missing-events"]);
}

#[test]
fn no_event_of_several_written_is_not_zero_events() {
    let text = EMPTY.replace("0/0", "0/6");
    assert_eq!(events(&text).len(), 0);
    assert_eq!(doubts(&Hwlat, &text), ["missing-events"]);
}

#[test]
fn a_title_alone_is_a_truncated_block() {
    assert_eq!(
        doubts(&Hwlat, "# tracer: hwlat\n#\n\ntext"),
        ["truncated-block"]
    );
}

#[test]
fn bad_latencies_leave_the_count_but_not_the_maximum() {
    let text = NMI.replace("116/9", "nan/9");
    assert_eq!(events(&text)[0].0, 3);
    assert_eq!(doubts(&Hwlat, &text), ["bad-number"]);
    let runs = runs(&Hwlat, &text);
    assert_eq!(runs[0].get("hwlat inner max"), "none");
    assert_eq!(runs[0].get("hwlat outer max"), "250 us");
}

#[test]
fn other_tracers_and_prose_are_left_alone() {
    let text = "# tracer: osnoise\n#\nsee bug #12\nbug #1 in inner/outer\n# tracer: hwlatency\n";
    assert!(blocks(&Hwlat, text).is_empty());
}

#[test]
fn other_events_in_the_trace_do_not_count() {
    let note = "             bash-77     [001] d...   119.000001: sched_switch: prev_comm=a\n";
    let first = NMI.find("             <...>").unwrap();
    let text = format!("{}{note}{}", &NMI[..first], &NMI[first..]).replace("3/3", "4/4");
    assert_eq!(events(&text)[0].0, 3);
    assert_eq!(doubts(&Hwlat, &text), [""; 0]);
}

#[test]
fn a_prompt_after_an_empty_trace_is_not_header() {
    let text = format!("{EMPTY}# echo nop > current_tracer\n");
    assert_eq!(blocks(&Hwlat, &text)[0].taken.len(), 12);
}

#[test]
fn any_text_is_survived() {
    survives(&Hwlat, &[WRAPPED, EMPTY, NMI]);
    survives_long_lines(&Hwlat, WRAPPED);
}
