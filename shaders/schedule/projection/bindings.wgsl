// What the projections of a kind with a fixed number of particles share: their bindings and types. `ARITY` and `ROWS` are of the kind's
// descriptor. How a record is read each says for itself: `Record`, `parameter`.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// ROWS vec4s a constraint: particles, material, parameters. vec4s rather than a struct: one load instead of four.
@group(0) @binding(3) var<storage, read> records: array<vec4u>;
@group(0) @binding(4) var<storage, read> materials: array<ScaledMaterial>;
@group(0) @binding(5) var<storage, read_write> lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;
