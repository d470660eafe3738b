// Solves tethers (long-range attachments, LRA): the distance of a particle to its pins is at most the length of the
// material between them. See `pulled` in shaders/common/particle.wgsl.
// One thread per particle. Reads positions, runs, tethers, and the displacements of pins, which this pass does not
// write. Writes the displacement of its own particle, the displacements by its tethers if they are recorded, and
// the anchors that velocity_tether reads next.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// per particle: first tether · 16 + number of tethers
@group(0) @binding(3) var<storage, read> tether_runs: array<u32>;
// pin, length (bits); a vec2 is one load, a struct would be two
@group(0) @binding(4) var<storage, read> tethers: array<vec2u>;
@group(0) @binding(5) var<storage, read> pins: array<u32>;
@group(0) @binding(6) var<storage, read_write> next_anchors: array<Anchor>;
// By tether, the distance by which it has moved its particle in this substep [m]. The buffer is shorter if they are
// not recorded.
@group(0) @binding(7) var<storage, read_write> tether_displacements: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_tethers(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    if i < min(params.pin_count, MOST_ANCHORS) {
        let particle = pins[i];
        next_anchors[i] = Anchor(positions[particle].xyz, particle, displacements[particle].xyz, 0u);
    }
    let run = tether_runs[i];
    let x = positions[i];
    if x.w == 0.0 {
        return;
    }
    let before = displacements[i].xyz;
    var d = before;
    for (var k = 0u; k < (run & 15u); k++) {
        let slot = (run >> 4u) + k;
        let t = tethers[slot];
        let anchor = positions[t.x];
        let difference = (x.xyz - anchor.xyz) + (d - displacements[t.x].xyz);
        d = pulled(d, difference, bitcast<f32>(t.y), true);
        if slot < arrayLength(&tether_displacements) {
            let beyond = length(difference) - bitcast<f32>(t.y);
            tether_displacements[slot] = select(0.0, beyond, beyond > 0.0);
        }
    }
    if any(d != before) {
        displacements[i] = vec4f(d, 0.0);
    }
}
