//! Every system call that a disk can let fail is made to fail once, or the command is killed there; what is left must be
//! the state before or the state after, and the next run must end well.
//!
//! `PERICOPE_FAULTS` says how many faults of each scenario are tried: a number (20 unless set), or `all`.
//! `PERICOPE_FAULTS_SEED` says which are drawn (7 unless set). `scripts/faults` tries all and prints the table.

mod clock;
mod eval;
mod index;
mod nightly;
mod table;
