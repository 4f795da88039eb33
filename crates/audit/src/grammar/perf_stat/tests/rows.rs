//! Intervals, separated fields and JSON lines.

use super::*;

#[test]
fn the_intervals_of_a_run_are_added_up() {
    let block = read(
        &PerfStatInterval,
        "#           time             counts unit events\n     1.000123456    1,234 instructions\n\
              1.000123456    1.50 msec task-clock\n     2.000234567    2,000 instructions\n\
              2.000234567   <not counted> msec task-clock\n     3.000345678  1 instructions  (50.00%)\n\
              3.000345678    0.25 msec task-clock\n",
    )
    .expect("a block");
    assert_eq!(
        runs(&block),
        ["instructions=3235; task-clock=1.75 msec; elapsed=3.000345678 s"]
    );
    let codes: Vec<_> = doubts(&block).into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, ["multiplexed-counter", "not-counted-interval"]);
}

#[test]
fn intervals_that_start_again_are_another_run() {
    let input = "1.000123456 1,234 cycles\n2.000123456 1,234 cycles\n1.000123456 99 cycles\n";
    let block = read(&PerfStatInterval, input).expect("a block");
    assert_eq!(block.taken.len(), 2);
    assert_eq!(runs(&block), ["cycles=2468; elapsed=2.000123456 s"]);
}

#[test]
fn a_sum_with_a_bad_interval_is_not_used() {
    let input =
        "1.000123456 1,2,3 cycles\n1.000123456 5 cs\n2.000123456 1,234 cycles\n2.000123456 6 cs";
    let block = read(&PerfStatInterval, input).expect("a block");
    assert_eq!(runs(&block), ["cs=11; elapsed=2.000123456 s"]);
    assert_eq!(doubts(&block), [(0, "bad-number")]);
}

#[test]
fn levels_are_not_added_up() {
    let input = "1.000123456 45.00 C cpu_thermal/temp/\n2.000123456 46.00 C cpu_thermal/temp/";
    let block = read(&PerfStatInterval, input).expect("a block");
    assert_eq!(runs(&block), ["elapsed=2.000123456 s"]);
    assert_eq!(doubts(&block), [(0, "not-additive")]);
}

#[test]
fn separated_fields_repeat_for_each_execution() {
    let input = "12,,cycles,100,100.00,,\n5,,branches,100,100.00,,\n13,,cycles,100,100.00,,\n\
                 6,,branches,100,50.00,,\n";
    let block = read(&PerfStatCsv, input).expect("a block");
    assert_eq!(
        runs(&block),
        ["cycles=12; branches=5", "cycles=13; branches=6"]
    );
    assert_eq!(doubts(&block), [(3, "multiplexed-counter")]);
}

#[test]
fn old_fields_without_run_time_need_a_second_row() {
    assert_eq!(read(&PerfStatCsv, "1234,cycles\nsomething"), None);
    let block = read(&PerfStatCsv, "1234,cycles\n567,context-switches\n").expect("a block");
    assert_eq!(runs(&block), ["cycles=1234; context-switches=567"]);
    let block = read(
        &PerfStatCsv,
        "1234,cycles,0.50%\n567,context-switches,1.00%\n",
    );
    assert_eq!(summaries(&block.expect("a block")).len(), 2);
}

#[test]
fn bad_fields_are_doubted() {
    let input = "nan,Joules,power/energy-pkg/,100,100.00,,\n-5,,cycles,100,100.00,,\n";
    let block = read(&PerfStatCsv, input).expect("a block");
    assert_eq!(doubts(&block), [(0, "bad-number"), (1, "bad-number")]);
}

#[test]
fn json_lines_wrapped_by_mailers_are_joined() {
    let block = read(
        &PerfStatJson,
        "{\"counter-value\" : \"3805.72\", \"unit\" : \"msec\", \"event\" :\n\"task-clock\", \
         \"event-runtime\" : 833925,\n\"pcnt-running\" : 75.00}\n{\"counter-value\" : \"nan\", \
         \"unit\" : \"\", \"event\" : \"cycles\"}\n{\"metric-value\" : 1.0, \"metric-unit\" : \"x\"}\n",
    )
    .expect("a block");
    assert_eq!(runs(&block), ["task-clock=3805.72 msec"]);
    assert_eq!(
        doubts(&block),
        [(0, "multiplexed-counter"), (3, "bad-number")]
    );
    assert_eq!(block.taken.len(), 5);
}

#[test]
fn json_that_is_broken_is_doubted() {
    let block = read(
        &PerfStatJson,
        "{\"counter-value\" : \"1.0\", \"event\" : \"cyc\n\nx",
    );
    let block = block.expect("a block");
    assert_eq!(doubts(&block), [(0, "bad-number")]);
    assert_eq!(block.taken.len(), 1);
    assert_eq!(
        read(&PerfStatJson, "{\"event\" : \"click\", \"x\" : 1}"),
        None
    );
}
