// Marks the colliders in each slab (shaders/collision/collide/slabs.wgsl) for their motion in the step.
// One thread per axis, slab and word of 32 colliders. Writes one mask.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> colliders: array<Collider>;
@group(0) @binding(3) var<storage, read_write> collider_data: array<u32>;

// Exceeds all distances. The bound of a half-space is the largest f32, and sums with it would be infinite.
const FARTHEST = 1e30;

// Returns true if a particle in the slab can be near the collider: `is_near` in shaders/collision/collide/near.wgsl.
// The tolerance exceeds rounding errors.
fn is_in_slab(c: Collider, axis: u32, slab: u32) -> bool {
    let travel = c.target_position - c.position;
    let size = abs(c.position) + abs(c.target_position);
    let near = 1.001 * (min(c.bound, FARTHEST) + c.margin + contact_params.largest_thickness + length(travel));
    let reach = vec3f(near) + 1e-5 * size;
    let first = slabs_of(min(c.position, c.target_position) - reach);
    let last = slabs_of(max(c.position, c.target_position) + reach);
    let count = u32(last[axis] - first[axis]);
    return ((slab - u32(first[axis])) % SLABS) <= count;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn mark_slabs(@builtin(global_invocation_id) id: vec3u) {
    let thread = thread_index(id);
    let words = mask_words();
    let word = thread % words;
    let slab = (thread / words) % SLABS;
    let axis = thread / (words * SLABS);
    if axis >= 3u {
        return;
    }
    var mask = 0u;
    for (var bit = 0u; bit < 32u; bit++) {
        let index = 32u * word + bit;
        if index >= min(contact_params.collider_count, arrayLength(&colliders)) {
            break;
        }
        let c = colliders[index];
        if (c.flags & DISABLED) == 0u && is_in_slab(c, axis, slab) {
            mask |= 1u << bit;
        }
    }
    collider_data[mask_at(axis, slab, word)] = mask;
}
