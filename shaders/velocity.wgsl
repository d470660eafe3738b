// velocity: the end of a substep, x += d; the displacement stays as the velocity (Macklin et al. 2016, alg. 1, lines 15–17).
// velocity_predict: the same, then predict of the next substep (the pass Advance): half the dispatches and half the bytes
// of the two.
// One thread a particle. Writes position, displacement and residual of its own particle, and counts what is not finite;
// thread 0 counts the substeps.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<Residual>;
@group(0) @binding(4) var<storage, read_write> status: Status;

fn load_moved(i: u32) -> Motion {
    let motion = moved(Motion(positions[i], displacements[i].xyz, residuals[i], true), params.velocity_factor, params.zero);
    if !motion.finite {
        atomicAdd(&status.non_finite_count, 1u);
        atomicMin(&status.first_non_finite, i);
    }
    return motion;
}

fn store(i: u32, motion: Motion) {
    if i == 0u {
        status.substep += 1u;
    }
    positions[i] = motion.position;
    displacements[i] = vec4f(motion.displacement, 0.0);
    residuals[i] = motion.residual;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn velocity(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < params.particle_count {
        store(i, load_moved(i));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn velocity_predict(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < params.particle_count {
        store(i, predicted(load_moved(i), params.gravity_step, params.zero));
    }
}
