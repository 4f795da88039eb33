#![no_main]

assize_fuzz::grammar_target!("google_benchmark");
