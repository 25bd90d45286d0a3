//! The instrumentation and the runtime: programs behave as natively, and traces say what happened.

mod build;
mod concrete;
mod csmith;
mod decimal;
mod ends;
mod evaluate;
mod floats;
mod log;
mod memory;
mod numbers;
mod server;
mod symbolic;
mod unfollowed;
