// Projects the constraints of one kind in a core and its halo, round by round; shaders/halos.wgsl has the bindings. As kinds share names, each
// top-level name of this file and of all that belongs to the kind gets the kind's own name behind it (src/gpu/whole.rs).

alias Points = array<vec3f, ARITY>;
alias Weights = array<f32, ARITY>;

// What a lane solves in a round.
struct Entry {
    // Two local places to a word; if packed, all of the entry.
    locals: array<u32, LOCAL_WORDS>,
    place: u32,
}

fn entry_at(round_at: u32, lane: u32) -> Entry {
    var entry: Entry;
    if PACKED {
        entry.locals[0] = batches[round_at + lane];
        entry.place = entry.locals[0] >> (2u * PLACE_BITS);
    } else {
        for (var k = 0u; k < LOCAL_WORDS; k++) {
            entry.locals[k] = batches[round_at + k * WORKGROUP_SIZE + lane];
        }
        entry.place = batches[round_at + LOCAL_WORDS * WORKGROUP_SIZE + lane];
    }
    // Who has nothing to solve loads a record nonetheless.
    entry.place = select(entry.place, FIRST_PLACE, entry.locals[0] == NONE);
    return entry;
}

fn local_of(entry: Entry, k: u32) -> u32 {
    if PACKED {
        return (entry.locals[0] >> (PLACE_BITS * k)) & ((1u << PLACE_BITS) - 1u);
    }
    return (entry.locals[k / 2u] >> (16u * (k % 2u))) & 0xffffu;
}

// Inverse masses stand in the record where others have the particles.
fn solve_in_halo(entry: Entry, record: Record, material: ScaledMaterial, any_pinned: bool) {
    var d: Points;
    var p: Points;
    var w: Weights;
    let x0 = position_at(local_of(entry, 0u));
    for (var k = 0u; k < ARITY; k++) {
        let local = local_of(entry, k);
        d[k] = displacement_at(local);
        p[k] = relative_to_first(k, position_at(local), x0, d[k]);
        w[k] = bitcast<f32>(word(record, k));
    }
    if any_pinned {
        for (var k = 0u; k < ARITY; k++) {
            w[k] = select(w[k], 0.0, is_pinned(local_of(entry, k)));
        }
    }
    let impulses = impulses_of(entry.place, record, material, p, d, w);
    for (var k = 0u; k < ARITY; k++) {
        displace(local_of(entry, k), d[k] + impulses[k] * w[k]);
    }
}

// `head` are the kind's words in the head of the batch: where its rounds stand, how many. What a round takes is loaded two rounds ahead, and its
// record one, as memory is slower than a round.
fn solve_rounds(head: u32, lane: u32) {
    let stride = select(LOCAL_WORDS + 1u, 1u, PACKED) * WORKGROUP_SIZE;
    var round_at = batches[head];
    let round_count = batches[head + 1u];
    if round_count == 0u {
        return;
    }
    let any_pinned = atomicLoad(&any_pins) != 0u;
    let last_at = round_at + stride * (round_count - 1u);
    var entry = entry_at(round_at, lane);
    var coming = entry_at(min(round_at + stride, last_at), lane);
    var record = load(entry.place);
    var material = materials[word(record, ARITY)];
    for (var round = 0u; round < round_count; round++) {
        let later = entry_at(min(round_at + 2u * stride, last_at), lane);
        let next = load(coming.place);
        if entry.locals[0] != NONE {
            solve_in_halo(entry, record, material, any_pinned);
        }
        material = materials[word(next, ARITY)];
        record = next;
        entry = coming;
        coming = later;
        round_at += stride;
        workgroupBarrier();
    }
}
