use super::*;
use crate::grammar::testing::placed;

fn values(text: &str) -> Vec<(String, f64)> {
    let all = placed(&Echoed, text).into_iter();
    all.map(|(name, _, value)| (name, value)).collect()
}

fn told(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    let own = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
    pairs.iter().map(own).collect()
}

#[test]
fn the_same_words_below_two_headings_are_one_thing() {
    let text = "Before:\n\n  I0604 11:26:31.217825 19719 rows.cc:385] Time spent filling: real 5.831s user 5.536s\n\
                \n  rows/sec: 41060\n\nAfter:\n\n\
                I0604 11:27:31.3 20760 rows.cc:385] Time spent filling: real 4.865s   user 4.585s\n\
                \n  rows/sec: 45143\n\nThis is for 3 tables.\n";
    assert_eq!(
        values(text),
        told(&[
            ("Before", 5.831),
            ("Before", 5.536),
            ("Before", 41060.0),
            ("After", 4.865),
            ("After", 4.585),
            ("After", 45143.0),
        ])
    );
}

#[test]
fn a_number_that_parts_the_lines_in_the_same_way_is_a_name() {
    let text = "Without the patch:\nscan with 10 deletes: 0.515 s\nscan with 1000 deletes: 0.753 s\n\
                With the patch:\nscan with 10 deletes: 0.510 s\nscan with 1000 deletes: 0.553 s\n";
    let all = placed(&Echoed, text);
    let metrics: Vec<&str> = all.iter().map(|(_, metric, _)| metric.as_str()).collect();
    assert_eq!(metrics[0], metrics[2]);
    assert_ne!(metrics[0], metrics[1]);
    assert_eq!(
        values(text),
        told(&[
            ("Without the patch", 0.515),
            ("Without the patch", 0.753),
            ("With the patch", 0.51),
            ("With the patch", 0.553),
        ])
    );
}

#[test]
fn lines_that_come_again_below_one_heading_are_samples_of_one_run() {
    let text = "master\n\n10.0 tps (60.5 allocs/op)\n14.0 tps (60.5 allocs/op)\n\npatched\n\n\
                20.0 tps (59.5 allocs/op)\n22.0 tps (59.5 allocs/op)\n";
    assert_eq!(
        values(text),
        told(&[
            ("master", 12.0),
            ("master", 60.5),
            ("patched", 21.0),
            ("patched", 59.5),
        ])
    );
}

#[test]
fn names_before_the_same_words_are_configurations() {
    let text = "before 165080.6 tps (60.3 allocs/op)\n\nafter  171513.8 tps (59.3 allocs/op)\n";
    assert_eq!(
        values(text),
        told(&[
            ("before", 165_080.6),
            ("before", 60.3),
            ("after", 171_513.8),
            ("after", 59.3),
        ])
    );
}

#[test]
fn what_is_not_echoed_or_not_measured_is_left() {
    for text in [
        // Other words below the second heading.
        "Before:\n  time: 5.8 s\n  depth: 3.5 m\nAfter:\n  the queue waits for 4.8 s\n",
        // Headings of two workloads.
        "reads:\n  12.5 ms\nwrites:\n  13.5 ms\n",
        // Nothing but settings that never differ.
        "Before:\n  limit 12 of 30\nAfter:\n  limit 12 of 30\n",
        // Code.
        "Before:\n  wait = 10;\nAfter:\n  wait = 20;\n",
        // Names of two workloads.
        "reads 12.5 ms (10 in flight)\nwrites 13.5 ms (11 in flight)\n",
        // A name of what was measured.
        "old time 12.5 ms\nmax latency 13.5 ms\n",
        // Words go on behind the number.
        "With it 12 ms are spent\nWithout it 13 ms are spent\n",
    ] {
        assert_eq!(values(text), [], "{text}");
    }
}

#[test]
fn what_another_format_reads_is_left_to_it() {
    let stat = |ms: &str| {
        format!(
            " Performance counter stats for './b' (5 runs):\n\n      {ms} msec task-clock    #    0.991 CPUs utilized\n\n   1.5 seconds time elapsed\n\n"
        )
    };
    let text = format!("Before:\n{}After:\n{}", stat("12.50"), stat("11.50"));
    assert_eq!(values(&text), []);
}
