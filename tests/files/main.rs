//! Scenes and meshes from files, and results in files.

#[path = "../common/mod.rs"]
mod common;

mod bad_imports;
mod characters;
mod cut_cloth;
mod gltf;
mod gltf_maps;
mod hints;
mod obj;
mod scene_file;
mod scene_file_attachments;
mod scene_file_contacts;
mod scene_file_skinned;
mod scene_file_start;
mod scene_file_tearing;
mod scenes;
