//! Invalid and unusual input: each error names the thing and the numbers, and a failed call changes nothing.

#[path = "../common/mod.rs"]
mod common;

mod attempts;
mod bad_attachments;
mod bad_input;
mod bad_input_contacts;
mod bad_input_kinds;
mod bad_input_running;
mod bad_rods;
mod odd_input;
mod unusual_calls;
