//! Tests that structs have the same layout in Rust and in WGSL: every member at the same offset, none missing on either side.

use super::buffers::{AnchorRow, SpanRow, Status};
use super::contacts::{COLLIDER_CONTACT_BYTES, ContactStatus, TRIANGLE_CONTACT_BYTES};
use super::instance_colliders::{Kernel, PartRow};
use super::instance_pool::{self, PoolParams};
use crate::collision::ColliderRow;
use crate::collision::events::{ContactEventRow, HEADER_BYTES, TABLE_ENTRY_BYTES};
use crate::constraints::plasticity::{PlasticRow, PlasticState};
use crate::constraints::xpbd::ScaledMaterial;
use crate::sim::contact_params::ContactParams;
use crate::sim::params::{FieldRow, Params, Target};
use crate::sim::skinned::{Bind, PoseRow, SkinnedRow, SkinnedState};
use std::mem::{offset_of, size_of};

/// Name and offset of each member, and the size of the whole.
type Layout = (Vec<(String, usize)>, usize);

/// The layout of a WGSL struct of the common modules or of the given pass.
fn on_gpu(pass: &str, name: &str) -> Layout {
    let source = format!("{pass}\n{}", super::shader::COMMON.concat());
    let module = match naga::front::wgsl::parse_str(&source) {
        Ok(module) => module,
        Err(fault) => panic!("{}", fault.emit_to_string(&source)),
    };
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    match found.map(|(_, ty)| &ty.inner) {
        Some(naga::TypeInner::Struct { members, span }) => {
            let member =
                |member: &naga::StructMember| (member.name.clone().unwrap_or_default(), member.offset as usize);
            (members.iter().map(member).collect(), *span as usize)
        }
        other => panic!("struct {name}: {other:?}"),
    }
}

/// The layout of a Rust struct. It names every field, so that a field that is not named here does not compile.
macro_rules! on_host {
    ($ty:ident { $($field:ident),+ }) => {{
        let _ = |$ty { $($field: _),+ }: $ty| ();
        (vec![$((stringify!($field).to_owned(), offset_of!($ty, $field))),+], size_of::<$ty>())
    }};
}

#[test]
fn params_have_the_layout_of_the_prelude() {
    let (members, size) = on_host!(Params {
        gravity_step,
        h,
        wind_velocity,
        dt,
        gust_wave,
        gust,
        noise_rate,
        drag,
        lift,
        velocity_factor,
        particle_count,
        pin_count,
        target_count,
        accelerated,
        zero,
        wind,
        forces,
        turbulence,
        air_origin,
        turbulence_scale,
        body_damping,
        field_count,
        orientation_count,
        substeps,
        air_step,
        fields
    });
    assert_eq!(on_gpu("", "Params"), (members, size));
    assert_eq!(on_gpu("", "Field"), on_host!(FieldRow { position, strength, axis, scale }));
}

#[test]
fn rows_of_skinned_particles_have_the_layout_of_their_shader() {
    let pass = include_str!("../../shaders/integrate/skinned.wgsl");
    let row = on_host!(SkinnedRow { particle, max_distance, backstop_distance, backstop_radius });
    assert_eq!(on_gpu(pass, "SkinnedRow"), row);
    let bind = on_host!(Bind { position, is_bound, normal, padding, joints, weights });
    assert_eq!(on_gpu(pass, "Bind"), bind);
    assert_eq!(on_gpu(pass, "Pose"), on_host!(PoseRow { position, padding, normal, more_padding }));
    assert_eq!(on_gpu(pass, "SkinnedState"), on_host!(SkinnedState { position, substep, normal, padding }));
}

#[test]
fn rows_of_spans_have_the_layout_of_the_prelude() {
    assert_eq!(on_gpu("", "Span"), on_host!(SpanRow { first, count, first_iteration, zero }));
}

#[test]
fn the_status_has_the_layout_of_the_prelude() {
    assert_eq!(
        on_gpu("", "Status"),
        on_host!(Status { air, steps, last_h, non_finite_count, first_non_finite, lost_collider_contacts, padding })
    );
}

#[test]
fn scaled_materials_have_the_layout_of_the_prelude() {
    assert_eq!(on_gpu("", "ScaledMaterial"), on_host!(ScaledMaterial { alpha_tilde, gamma, factor, relief }));
}

#[test]
fn plastic_constraints_have_the_layout_of_their_pass() {
    let pass = "const ARITY = 2u; const POINTS = 2u; const ROWS = 1u; const JOINTS = false;\n".to_owned()
        + include_str!("../../shaders/constraints/distance.wgsl")
        + include_str!("../../shaders/schedule/flow/length.wgsl")
        + include_str!("../../shaders/schedule/flow.wgsl")
        + include_str!("../../shaders/schedule/projection/record.wgsl");
    assert_eq!(
        on_gpu(&pass, "PlasticRow"),
        on_host!(PlasticRow {
            rest,
            constraint,
            place,
            material,
            broken_material,
            yield_strain,
            flow_rate,
            hardening,
            most,
            rupture,
            segments,
            padding
        })
    );
    assert_eq!(on_gpu(&pass, "PlasticState"), on_host!(PlasticState { strain, hardened, is_broken, padding }));
}

#[test]
fn targets_have_the_layout_of_their_pass() {
    let pass = include_str!("../../shaders/integrate/targets.wgsl");
    assert_eq!(on_gpu(pass, "Target"), on_host!(Target { position, particle }));
}

#[test]
fn instance_pools_have_the_layout_of_their_passes() {
    let asset = "const MATERIALS = 1u; const ASSET_PARTICLES = 1u; const LAMBDA_CAPACITY = 0u; const TETHER_RUNS_AT = 0u; const RINGS_AT = 0u;
        const CORNERS_AT = 0u; const CONTACTS_AT = 0u; const LIVE_AT = 0u; const SLOTS_AT = 0u; const ROWS_OF_SLOTS = 0u; const SURFACES = false;";
    let workgroups = [true, false].map(|near| instance_pool::WorkgroupLayout { threads: 8, instances: 1, near });
    let [near, far] = workgroups.map(|workgroup| {
        instance_pool::pass(asset, "fn sweep(head: u32, thread: u32) {}", instance_pool::FREE, workgroup)
    });
    let kernel = Kernel { keep_lambdas: false, workgroup: workgroups[0], constants: [("", 0.0); 4], data: 1024 };
    let colliding = instance_pool::pass(asset, "fn sweep(head: u32, thread: u32) {}", &kernel.text(), workgroups[0]);
    for pass in [&near, &far, &colliding, &instance_pool::normals_pass(asset)] {
        assert_eq!(on_gpu(pass, "PoolParams"), on_host!(PoolParams { substeps, iterations, tethers, count }));
    }
    assert_eq!(on_gpu(&colliding, "Part"), on_host!(PartRow { first, count, is_last, padding }));
    let (rows, size) = on_gpu(&colliding, "ColliderRows");
    assert_eq!(rows, [("data".to_owned(), 0), ("rows".to_owned(), kernel.rows_at() as usize)]);
    assert_eq!(size, kernel.rows_at() as usize + size_of::<ColliderRow>());
}

#[test]
fn rows_of_contacts_have_the_layout_of_the_prelude() {
    assert_eq!(
        on_gpu("", "ContactParams"),
        on_host!(ContactParams {
            collider_count,
            substeps,
            recovery,
            level,
            margin,
            quantum,
            inverse_quantum,
            most_quanta,
            largest_thickness,
            table_size,
            inverse_level_radius,
            holds_particles,
            sphere_first,
            particle_end,
            edge_end,
            element_end,
            prediction_quantum,
            inverse_prediction_quantum,
            padding,
            materials,
            friction
        })
    );
    assert_eq!(
        on_gpu("", "Collider"),
        on_host!(ColliderRow {
            position,
            shape,
            rotation,
            target_position,
            flags,
            target_rotation,
            size,
            bound,
            surface_velocity,
            margin,
            counts,
            data,
            near,
            above,
            material,
            substep,
            frame,
            travel,
            surface_step,
            padding
        })
    );
    assert_eq!(ColliderRow::TARGET.start, offset_of!(ColliderRow, target_position));
    assert_eq!(ColliderRow::TARGET.end, offset_of!(ColliderRow, size));
    assert_eq!(
        on_gpu("", "ContactStatus"),
        on_host!(ContactStatus {
            drift,
            now,
            truncation_frame,
            stale,
            searched,
            horizon,
            crossing_count,
            found_count,
            pair_count,
            contact_count,
            searches,
            most_pairs,
            most_contacts,
            lost,
            deepest,
            truncated,
            halted,
            deep_contacts,
            cut_round,
            radii,
            padding
        })
    );
    // Made on the host as zeroed bytes.
    let at = |name: &str, offset| (name.to_owned(), offset);
    let members = vec![at("bounce", 0), at("recovery", 16), at("friction", 32), at("owner", 44), at("impulses", 48)];
    assert_eq!(on_gpu("", "ColliderContact"), (members, COLLIDER_CONTACT_BYTES as usize));
}

#[test]
fn contact_events_have_the_layout_of_their_passes() {
    let pass = concat!(
        include_str!("../../shaders/collision/contact_events.wgsl"),
        include_str!("../../shaders/collision/event_table.wgsl")
    );
    assert_eq!(on_gpu(pass, "ContactEventRow"), on_host!(ContactEventRow { key, position, impulse }));
    let (header, _) = on_gpu(pass, "ContactEventList");
    let at = |name: &str, offset| (name.to_owned(), offset);
    let members = [at("count", 0), at("lost", 4), at("step", 8), at("padding", 12), at("rows", HEADER_BYTES)];
    assert_eq!(header, members);
    let (_, size) = on_gpu(pass, "ContactEntry");
    assert_eq!(size as u64, TABLE_ENTRY_BYTES);
    let (_, size) = on_gpu("", "TriangleContact");
    assert_eq!(size as u64, TRIANGLE_CONTACT_BYTES);
}

#[test]
fn anchors_have_the_layout_of_the_prelude() {
    assert_eq!(on_gpu("", "Anchor"), on_host!(AnchorRow { position, particle, displacement, padding }));
    assert!(
        super::shader::COMMON.concat().contains(&format!("const MOST_ANCHORS = {}u;", crate::schedule::plan::FEW_PINS))
    );
}
