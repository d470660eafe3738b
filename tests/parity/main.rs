//! The GPU equals the reference: passes, contacts and instances.

#[path = "../common/mod.rs"]
mod common;

mod attachments;
mod contact_scales;
mod contacts_parity;
mod instances;
mod instances_colliders;
mod many_colliders;
mod passes;
mod rods;
mod skinned;
