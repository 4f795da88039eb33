#![no_main]

assize_fuzz::grammar_target!("jmh");
