//! rtla.

use assize_audit::grammar::rtla::Rtla;

use super::{blocks, doubts, runs, survives, survives_long_lines};

const TOP: &str = include_str!("../rtla/timerlat-top.txt");
const USER: &str = include_str!("../rtla/timerlat-user.txt");
const HIST: &str = include_str!("../rtla/timerlat-hist.txt");
const OSNOISE: &str = include_str!("../rtla/osnoise-top.txt");
const OSNOISE_HIST: &str = include_str!("../rtla/osnoise-hist.txt");
const HWNOISE: &str = include_str!("../rtla/hwnoise.txt");

#[test]
fn the_latency_table_is_one_run_over_its_cpus() {
    let runs = runs(&Rtla, TOP);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.get("timerlat irq min"), "0 us");
    // The mean of 2 and 4, weighted 1 to 3.
    assert_eq!(run.get("timerlat irq avg"), "3.5 us");
    assert_eq!(run.get("timerlat irq max"), "15 us");
    assert_eq!(run.get("timerlat thread min"), "2 us");
    assert_eq!(run.get("timerlat thread avg"), "6 us");
    assert_eq!(run.get("timerlat thread max"), "43 us");
    assert_eq!(run.get("timerlat thread max CPU0"), "31 us");
    assert_eq!(run.get("timerlat irq max CPU1"), "12 us");
    assert_eq!(run.get("timerlat user max"), "none");
    assert_eq!(doubts(&Rtla, TOP), [""; 0]);
    assert_eq!(blocks(&Rtla, TOP)[0].taken.len(), 7);
}

#[test]
fn the_return_to_user_space_is_a_third_latency() {
    let run = &runs(&Rtla, USER)[0];
    assert_eq!(run.get("timerlat user min"), "1 us");
    assert_eq!(run.get("timerlat user max"), "69 us");
    assert_eq!(run.get("timerlat user max CPU1"), "none");
    assert_eq!(doubts(&Rtla, USER), [""; 0]);
}

#[test]
fn nanoseconds_are_nanoseconds() {
    let text = TOP.replace("(us)", "(ns)");
    assert_eq!(runs(&Rtla, &text)[0].get("timerlat irq max"), "15 ns");
    let text = HIST.replace("microseconds (us)", "nanoseconds (ns)");
    assert_eq!(runs(&Rtla, &text)[0].get("timerlat irq max"), "21 ns");
}

#[test]
fn a_redrawn_table_counts_once() {
    let later = TOP.replace("00:00:10", "00:00:11").replace("  43", "  51");
    let text = format!("{TOP}{later}");
    let runs = runs(&Rtla, &text);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].get("timerlat thread max"), "51 us");
    assert_eq!(
        blocks(&Rtla, &text)[0].taken[..7],
        ["rtla interim screen"; 7]
    );
}

#[test]
fn a_table_of_the_same_time_is_another_run() {
    assert_eq!(runs(&Rtla, &format!("{TOP}{TOP}")).len(), 2);
    assert_eq!(runs(&Rtla, &format!("{TOP}\nafter:\n\n{TOP}")).len(), 2);
}

#[test]
fn a_table_may_come_without_its_title() {
    for (text, metric) in [(TOP, "timerlat irq max"), (OSNOISE, "osnoise noise")] {
        for skip in [1, 2] {
            let cut: String = text
                .lines()
                .skip(skip)
                .map(|line| format!("{line}\n"))
                .collect();
            assert_ne!(runs(&Rtla, &cut)[0].get(metric), "none");
        }
    }
}

#[test]
fn a_broken_row_is_put_together() {
    let text = TOP
        .replace("15 |  ", "15 |\n")
        .replace("max |      cur", "max |\n cur");
    let run = &runs(&Rtla, &text)[0];
    assert_eq!(run.get("timerlat thread max CPU0"), "31 us");
    assert_eq!(doubts(&Rtla, &text), [""; 0]);
}

#[test]
fn a_short_row_is_doubted_and_spoils_the_extremes_it_lacks() {
    let text = TOP.replace("         9        31", "");
    assert_eq!(doubts(&Rtla, &text), ["truncated-block"]);
    let run = &runs(&Rtla, &text)[0];
    assert_eq!(run.get("timerlat thread max"), "none");
    assert_eq!(run.get("timerlat irq max"), "15 us");
}

#[test]
fn rows_left_out_by_the_poster_leave_the_row_over_all() {
    let text = TOP.replace("  1 #30000     |        3         1         4        12 |       10         2         5        43", "...");
    assert_eq!(doubts(&Rtla, &text), ["truncated-block"]);
    let run = &runs(&Rtla, &text)[0];
    assert_eq!(run.get("timerlat thread max"), "43 us");
    assert_eq!(run.get("timerlat irq avg"), "3 us");
    let cut = text.split("-----").next().unwrap();
    assert_eq!(runs(&Rtla, cut)[0].get("timerlat thread max"), "none");
}

#[test]
fn a_table_without_rows_is_truncated() {
    let head: String = TOP
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(doubts(&Rtla, &head), ["truncated-block"]);
    let head: String = TOP
        .lines()
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(doubts(&Rtla, &head), ["truncated-block"]);
}

#[test]
fn histogram_statistics_are_weighted_by_column() {
    let runs = runs(&Rtla, HIST);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.get("timerlat irq min"), "0 us");
    assert_eq!(run.get("timerlat irq avg"), "1 us");
    assert_eq!(run.get("timerlat irq max"), "21 us");
    assert_eq!(run.get("timerlat thread min"), "1 us");
    assert_eq!(run.get("timerlat thread avg"), "2.5 us");
    assert_eq!(run.get("timerlat thread max CPU1"), "37 us");
    assert_eq!(doubts(&Rtla, HIST), [""; 0]);
    assert_eq!(blocks(&Rtla, HIST)[0].taken.len(), 18);
}

#[test]
fn a_column_without_samples_has_no_minimum() {
    let text = HIST
        .replace(
            "count:    10000     10000     10000     10000",
            "count:    10000     10000     10000         0",
        )
        .replace(
            "min:          0         1         0         2",
            "min:          0         1         0 18446744073709551615",
        );
    let run = &runs(&Rtla, &text)[0];
    assert_eq!(run.get("timerlat thread max"), "14 us");
    assert_eq!(run.get("timerlat thread max CPU1"), "none");
}

#[test]
fn a_histogram_may_be_broken_or_cut() {
    let broken = HIST.replace("max:          9        14 ", "max:          9        14\n");
    assert_eq!(runs(&Rtla, &broken)[0].get("timerlat thread max"), "37 us");
    let lacking = HIST.replace(
        "max:          9        14        21        37",
        "max:          9        14        21",
    );
    assert_eq!(doubts(&Rtla, &lacking), ["truncated-block"]);
    assert_eq!(runs(&Rtla, &lacking)[0].get("timerlat irq max"), "none");
    let cut = HIST.split("count:").next().unwrap();
    assert_eq!(doubts(&Rtla, cut), ["truncated-block"]);
}

#[test]
fn the_noise_table_is_summed() {
    let run = &runs(&Rtla, OSNOISE)[0];
    assert_eq!(run.get("osnoise noise"), "643235 us");
    assert_eq!(run.get("osnoise available"), "99.36282 %");
    assert_eq!(run.get("osnoise max noise"), "8092 us");
    assert_eq!(run.get("osnoise max single"), "56 us");
    assert_eq!(run.get("osnoise available CPU0"), "99.4258 %");
    assert_eq!(run.get("osnoise max single CPU1"), "24 us");
    assert_eq!(doubts(&Rtla, OSNOISE), [""; 0]);
}

#[test]
fn noise_of_hardware_alone_has_its_own_name() {
    let run = &runs(&Rtla, HWNOISE)[0];
    assert_eq!(run.get("hwnoise noise"), "223 us");
    assert_eq!(run.get("hwnoise max noise"), "4 us");
    assert_eq!(run.get("osnoise noise"), "none");
}

#[test]
fn the_noise_histogram_is_of_samples() {
    let run = &runs(&Rtla, OSNOISE_HIST)[0];
    assert_eq!(run.get("osnoise sample max"), "19 us");
    assert_eq!(run.get("osnoise sample max CPU0"), "10 us");
}

#[test]
fn a_histogram_without_samples_is_doubted() {
    let text = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:05\nIndex\nover: 0\ncount: 0\nmin: 0\navg: 0\nmax: 0\n";
    assert_eq!(doubts(&Rtla, text), ["no-samples"]);
    assert_eq!(blocks(&Rtla, text)[0].taken.len(), 9);
}

#[test]
fn bad_numbers_are_doubted_and_left_out() {
    for bad in ["nan", "inf", "1,2,3", "-338339"] {
        let text = OSNOISE.replace("338339", bad);
        assert_eq!(doubts(&Rtla, &text), ["bad-number"], "{bad}");
        assert_eq!(runs(&Rtla, &text)[0].get("osnoise noise"), "none");
        let text = HIST.replace("        37\nALL", &format!("        {bad}\nALL"));
        assert_eq!(doubts(&Rtla, &text), ["bad-number"], "{bad}");
        assert_eq!(runs(&Rtla, &text)[0].get("timerlat thread max"), "none");
    }
}

#[test]
fn other_text_is_left_alone() {
    let text = "Timer Latency\n\nIndex of things\nIndex a-b\n| IRQ | x\nCPU load\nduration: long\n";
    assert!(blocks(&Rtla, text).is_empty());
}

#[test]
fn any_text_is_survived() {
    survives(&Rtla, &[TOP, USER, HIST, OSNOISE, OSNOISE_HIST, HWNOISE]);
    for fixture in [TOP, HIST, OSNOISE] {
        survives_long_lines(&Rtla, fixture);
    }
}
