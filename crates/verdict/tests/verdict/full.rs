//! Tests that need a Python with scipy.

mod independent;
