#![no_main]

assize_fuzz::grammar_target!("perf_stat_diff");
