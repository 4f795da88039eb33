//! What needs a Python with scipy.

mod independent;
