// Rows of attachments, shared by their passes. Counterpart: src/sim/attachments.rs.

struct Attachment {
    // Particles of both ends, and their factors in x₁ − x₂.
    particles: array<u32, 8>,
    factors: array<f32, 8>,
    // Point in space or in the frame of the collider [m].
    goal: vec3f,
    flags: u32,
    // α̃, γ and factor of `ScaledMaterial`.
    material: vec3f,
    rest_length: f32,
    // 0 if it never breaks.
    break_force: f32,
    collider: u32,
    // 1/number of substeps
    share: f32,
    padding: u32,
}

struct AttachmentState {
    // λ of the substep: one per component, or one in all.
    lambda: vec3f,
    broken: u32,
    // Sum of the impulses ∇C Δλ on the point in the step [kg m].
    sum: vec3f,
    // Number of substeps of the step that have begun.
    substep: u32,
    // Sum of their moments on the collider [kg m²].
    moment: vec3f,
    padding: u32,
    // The point in space at the start of the step [m].
    anchor: vec3f,
    padding_2: u32,
    // Mean force in the last step [N].
    force: vec3f,
    padding_3: u32,
}

const COUNT_MASK = 15u;
const IN_SPACE = 16u;
const ON_COLLIDER = 32u;
const ONLY_PULL = 64u;
