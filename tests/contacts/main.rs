//! Contacts and colliders: friction, shapes, stacks, the pair search, no crossing, and intersections.

#[path = "../common/mod.rs"]
mod common;

mod capstan;
mod collider_seams;
mod contact_scales;
mod contacts_shapes;
mod deep_contacts;
mod draped;
mod events;
mod friction;
mod growing_lists;
mod initial_overlap;
mod intersections;
mod loads;
mod no_crossing;
mod search;
mod search_bounds;
mod shirt;
mod stacks;
mod triangles;
mod truncation;
mod untangle;
