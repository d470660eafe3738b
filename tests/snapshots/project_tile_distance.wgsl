// Distance: C = |x₀ − x₁| − L₀, ∇₀C = n = (x₀ − x₁)/|x₀ − x₁|, ∇₁C = −n (Müller et al. 2007, §4.1). Parameters: L₀.
// Counterpart: src/constraints/distance.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let difference = p[0] - p[1];
    let l = length(difference);
    let n = direction_of(difference, l);
    return Evaluation(l - parameter(record, 0u), Points(n, -n));
}

// Computes the impulses ∇C Δλ of a kind whose C is a scalar.

struct Evaluation {
    c: f32,
    grad: Points,
}

fn impulses_of(place: u32, record: Record, material: ScaledMaterial, p: Points, d: Points, w: Weights) -> Points {
    let evaluation = evaluate(record, p);
    var weighted = 0.0;
    var travel = 0.0;
    { const k = 0u; 
        let grad = evaluation.grad[k];
        if UNIT_GRADIENTS {
            weighted += select(0.0, w[k], any(grad != vec3f()));
        } else {
            weighted += w[k] * dot(grad, grad);
        }
        // The gradients sum to zero, so the common displacement cancels.
        if k > 0u {
            travel += dot(grad, d[k] - d[0]);
        }
     }
{ const k = 1u; 
        let grad = evaluation.grad[k];
        if UNIT_GRADIENTS {
            weighted += select(0.0, w[k], any(grad != vec3f()));
        } else {
            weighted += w[k] * dot(grad, grad);
        }
        // The gradients sum to zero, so the common displacement cancels.
        if k > 0u {
            travel += dot(grad, d[k] - d[0]);
        }
     }

    var lambda = 0.0;
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = lambdas[place];
    }
    var delta = delta_lambda(evaluation.c, weighted, travel, lambda, material_of_kind(material, OVER_RELAXED));
    if UNILATERAL {
        delta = unilateral(delta, lambda);
    }
    if KEEP_LAMBDA {
        lambdas[place] = lambda + delta;
    }
    var impulses: Points;
    { const k = 0u; 
        impulses[k] = evaluation.grad[k] * delta;
     }
{ const k = 1u; 
        impulses[k] = evaluation.grad[k] * delta;
     }

    return impulses;
}
// The current place of a particle, for kinds without orientations.

// Returns the position of particle k relative to x₀.
fn placed(k: u32, x: vec3f, x0: vec3f, d: vec3f) -> vec3f {
    return shrunk(relative_to_first(k, x, x0, d));
}

// Helpers for the projection of a tile (src/schedule/tiling.rs). src/gpu/tiles.rs generates `solve_tile`, with one
// block per constraint of the pattern, so that the particles of a tile stay in registers.
// `solve_tile` loads the particles, calls `projected` (solve.wgsl) for each constraint, and stores the displacements.
// project_tile.wgsl and shaders/instancing/parts/tiles.wgsl define the layout of tiles.

// Parameters of the kind: constants in the shader if all tiles share them, otherwise loaded.
alias Record = vec4f;

fn parameter(record: Record, index: u32) -> f32 {
    return record[index];
}

// Hides constant parameters from the compiler, which would otherwise reassociate terms and differ from the CPU.
fn opaque_record(words: vec4u) -> Record {
    return bitcast<vec4f>(words ^ vec4u(span.zero));
}

fn load(place: u32) -> Record {
    return vec4f(load_word(place, ARITY + 1u), load_word(place, ARITY + 2u), load_word(place, ARITY + 3u), load_word(place, ARITY + 4u));
}

fn load_word(place: u32, word: u32) -> f32 {
    return bitcast<f32>(records[place * ROWS + word / 4u][word % 4u]);
}

// Returns the particle of a slot; the first particle of the tile if the slot is empty, so that loads stay valid.
fn particle_at(tile: vec4u, is_there: bool, row: u32, column: u32) -> u32 {
    return tile.x + select(0u, row * tile.y + column, is_there);
}

fn has(bits: u32, bit: u32) -> bool {
    return (bits & (1u << bit)) != 0u;
}
// Projects the constraints of tiles. src/gpu/tiles.rs generates `solve_tile`.
// One thread per tile of one phase; tiles of a phase share no particle. Reads and writes the displacements of the
// particles of the tile.

// Three rows per tile: first particle, columns of the grid, mask of slots (two words); mask of constraints (three
// words), first record; materials of the constraints.
@group(0) @binding(6) var<storage, read> tiles: array<vec4u>;

fn tile_words(tile: u32, word: u32) -> vec4u {
    return tiles[3u * tile + word / 4u];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_tile(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    solve_tile(span.first + i);
}

fn solve_tile(at: u32) {
    let tile = tile_words(at, 0u);
    let links = tile_words(at, 4u);
    var place = links.w;
    let i0 = particle_at(tile, has(tile.z, 0u), 0u, 0u);
    let x0 = position_at(i0);
    var d0 = displacement_at(i0);
    let i1 = particle_at(tile, has(tile.z, 1u), 0u, 1u);
    let x1 = position_at(i1);
    var d1 = displacement_at(i1);
    let i2 = particle_at(tile, has(tile.z, 2u), 0u, 2u);
    let x2 = position_at(i2);
    var d2 = displacement_at(i2);
    let i3 = particle_at(tile, has(tile.z, 3u), 0u, 3u);
    let x3 = position_at(i3);
    var d3 = displacement_at(i3);
    let i4 = particle_at(tile, has(tile.z, 4u), 0u, 4u);
    let x4 = position_at(i4);
    var d4 = displacement_at(i4);
    let i5 = particle_at(tile, has(tile.z, 5u), 0u, 5u);
    let x5 = position_at(i5);
    var d5 = displacement_at(i5);
    let i8 = particle_at(tile, has(tile.z, 8u), 1u, 0u);
    let x8 = position_at(i8);
    var d8 = displacement_at(i8);
    let i9 = particle_at(tile, has(tile.z, 9u), 1u, 1u);
    let x9 = position_at(i9);
    var d9 = displacement_at(i9);
    let i10 = particle_at(tile, has(tile.z, 10u), 1u, 2u);
    let x10 = position_at(i10);
    var d10 = displacement_at(i10);
    let i11 = particle_at(tile, has(tile.z, 11u), 1u, 3u);
    let x11 = position_at(i11);
    var d11 = displacement_at(i11);
    let i12 = particle_at(tile, has(tile.z, 12u), 1u, 4u);
    let x12 = position_at(i12);
    var d12 = displacement_at(i12);
    let i13 = particle_at(tile, has(tile.z, 13u), 1u, 5u);
    let x13 = position_at(i13);
    var d13 = displacement_at(i13);
    let i16 = particle_at(tile, has(tile.z, 16u), 2u, 0u);
    let x16 = position_at(i16);
    var d16 = displacement_at(i16);
    let i17 = particle_at(tile, has(tile.z, 17u), 2u, 1u);
    let x17 = position_at(i17);
    var d17 = displacement_at(i17);
    let i18 = particle_at(tile, has(tile.z, 18u), 2u, 2u);
    let x18 = position_at(i18);
    var d18 = displacement_at(i18);
    let i19 = particle_at(tile, has(tile.z, 19u), 2u, 3u);
    let x19 = position_at(i19);
    var d19 = displacement_at(i19);
    let i20 = particle_at(tile, has(tile.z, 20u), 2u, 4u);
    let x20 = position_at(i20);
    var d20 = displacement_at(i20);
    let i21 = particle_at(tile, has(tile.z, 21u), 2u, 5u);
    let x21 = position_at(i21);
    var d21 = displacement_at(i21);
    let i24 = particle_at(tile, has(tile.z, 24u), 3u, 0u);
    let x24 = position_at(i24);
    var d24 = displacement_at(i24);
    let i25 = particle_at(tile, has(tile.z, 25u), 3u, 1u);
    let x25 = position_at(i25);
    var d25 = displacement_at(i25);
    let i26 = particle_at(tile, has(tile.z, 26u), 3u, 2u);
    let x26 = position_at(i26);
    var d26 = displacement_at(i26);
    let i27 = particle_at(tile, has(tile.z, 27u), 3u, 3u);
    let x27 = position_at(i27);
    var d27 = displacement_at(i27);
    let i28 = particle_at(tile, has(tile.z, 28u), 3u, 4u);
    let x28 = position_at(i28);
    var d28 = displacement_at(i28);
    let i29 = particle_at(tile, has(tile.z, 29u), 3u, 5u);
    let x29 = position_at(i29);
    var d29 = displacement_at(i29);
    let i32 = particle_at(tile, has(tile.w, 0u), 4u, 0u);
    let x32 = position_at(i32);
    var d32 = displacement_at(i32);
    let i33 = particle_at(tile, has(tile.w, 1u), 4u, 1u);
    let x33 = position_at(i33);
    var d33 = displacement_at(i33);
    let i34 = particle_at(tile, has(tile.w, 2u), 4u, 2u);
    let x34 = position_at(i34);
    var d34 = displacement_at(i34);
    let i35 = particle_at(tile, has(tile.w, 3u), 4u, 3u);
    let x35 = position_at(i35);
    var d35 = displacement_at(i35);
    let i36 = particle_at(tile, has(tile.w, 4u), 4u, 4u);
    let x36 = position_at(i36);
    var d36 = displacement_at(i36);
    let i40 = particle_at(tile, has(tile.w, 8u), 5u, 0u);
    let x40 = position_at(i40);
    var d40 = displacement_at(i40);
    let i41 = particle_at(tile, has(tile.w, 9u), 5u, 1u);
    let x41 = position_at(i41);
    var d41 = displacement_at(i41);
    let i42 = particle_at(tile, has(tile.w, 10u), 5u, 2u);
    let x42 = position_at(i42);
    var d42 = displacement_at(i42);
    let i43 = particle_at(tile, has(tile.w, 11u), 5u, 3u);
    let x43 = position_at(i43);
    var d43 = displacement_at(i43);
    let m0 = materials[0u];
    let m1 = materials[1u];
    let m2 = materials[2u];
    let here0 = has(links.x, 0u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x0, x2, ), Points(d0, d2, ));
        d0 = select(d0, moved[0], here0);
        d2 = select(d2, moved[1], here0);
        place += u32(here0);
    }
    let here1 = has(links.x, 1u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x1, x3, ), Points(d1, d3, ));
        d1 = select(d1, moved[0], here1);
        d3 = select(d3, moved[1], here1);
        place += u32(here1);
    }
    let here2 = has(links.x, 2u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x2, x4, ), Points(d2, d4, ));
        d2 = select(d2, moved[0], here2);
        d4 = select(d4, moved[1], here2);
        place += u32(here2);
    }
    let here3 = has(links.x, 3u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x3, x5, ), Points(d3, d5, ));
        d3 = select(d3, moved[0], here3);
        d5 = select(d5, moved[1], here3);
        place += u32(here3);
    }
    let here4 = has(links.x, 4u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x8, x10, ), Points(d8, d10, ));
        d8 = select(d8, moved[0], here4);
        d10 = select(d10, moved[1], here4);
        place += u32(here4);
    }
    let here5 = has(links.x, 5u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x9, x11, ), Points(d9, d11, ));
        d9 = select(d9, moved[0], here5);
        d11 = select(d11, moved[1], here5);
        place += u32(here5);
    }
    let here6 = has(links.x, 6u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x10, x12, ), Points(d10, d12, ));
        d10 = select(d10, moved[0], here6);
        d12 = select(d12, moved[1], here6);
        place += u32(here6);
    }
    let here7 = has(links.x, 7u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x11, x13, ), Points(d11, d13, ));
        d11 = select(d11, moved[0], here7);
        d13 = select(d13, moved[1], here7);
        place += u32(here7);
    }
    let here8 = has(links.x, 8u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x16, x18, ), Points(d16, d18, ));
        d16 = select(d16, moved[0], here8);
        d18 = select(d18, moved[1], here8);
        place += u32(here8);
    }
    let here9 = has(links.x, 9u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x17, x19, ), Points(d17, d19, ));
        d17 = select(d17, moved[0], here9);
        d19 = select(d19, moved[1], here9);
        place += u32(here9);
    }
    let here10 = has(links.x, 10u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x18, x20, ), Points(d18, d20, ));
        d18 = select(d18, moved[0], here10);
        d20 = select(d20, moved[1], here10);
        place += u32(here10);
    }
    let here11 = has(links.x, 11u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x19, x21, ), Points(d19, d21, ));
        d19 = select(d19, moved[0], here11);
        d21 = select(d21, moved[1], here11);
        place += u32(here11);
    }
    let here12 = has(links.x, 12u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x24, x26, ), Points(d24, d26, ));
        d24 = select(d24, moved[0], here12);
        d26 = select(d26, moved[1], here12);
        place += u32(here12);
    }
    let here13 = has(links.x, 13u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x25, x27, ), Points(d25, d27, ));
        d25 = select(d25, moved[0], here13);
        d27 = select(d27, moved[1], here13);
        place += u32(here13);
    }
    let here14 = has(links.x, 14u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x26, x28, ), Points(d26, d28, ));
        d26 = select(d26, moved[0], here14);
        d28 = select(d28, moved[1], here14);
        place += u32(here14);
    }
    let here15 = has(links.x, 15u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x27, x29, ), Points(d27, d29, ));
        d27 = select(d27, moved[0], here15);
        d29 = select(d29, moved[1], here15);
        place += u32(here15);
    }
    let here16 = has(links.x, 16u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x0, x16, ), Points(d0, d16, ));
        d0 = select(d0, moved[0], here16);
        d16 = select(d16, moved[1], here16);
        place += u32(here16);
    }
    let here17 = has(links.x, 17u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x1, x17, ), Points(d1, d17, ));
        d1 = select(d1, moved[0], here17);
        d17 = select(d17, moved[1], here17);
        place += u32(here17);
    }
    let here18 = has(links.x, 18u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x2, x18, ), Points(d2, d18, ));
        d2 = select(d2, moved[0], here18);
        d18 = select(d18, moved[1], here18);
        place += u32(here18);
    }
    let here19 = has(links.x, 19u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x3, x19, ), Points(d3, d19, ));
        d3 = select(d3, moved[0], here19);
        d19 = select(d19, moved[1], here19);
        place += u32(here19);
    }
    let here20 = has(links.x, 20u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x8, x24, ), Points(d8, d24, ));
        d8 = select(d8, moved[0], here20);
        d24 = select(d24, moved[1], here20);
        place += u32(here20);
    }
    let here21 = has(links.x, 21u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x9, x25, ), Points(d9, d25, ));
        d9 = select(d9, moved[0], here21);
        d25 = select(d25, moved[1], here21);
        place += u32(here21);
    }
    let here22 = has(links.x, 22u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x10, x26, ), Points(d10, d26, ));
        d10 = select(d10, moved[0], here22);
        d26 = select(d26, moved[1], here22);
        place += u32(here22);
    }
    let here23 = has(links.x, 23u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x11, x27, ), Points(d11, d27, ));
        d11 = select(d11, moved[0], here23);
        d27 = select(d27, moved[1], here23);
        place += u32(here23);
    }
    let here24 = has(links.x, 24u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x16, x32, ), Points(d16, d32, ));
        d16 = select(d16, moved[0], here24);
        d32 = select(d32, moved[1], here24);
        place += u32(here24);
    }
    let here25 = has(links.x, 25u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x17, x33, ), Points(d17, d33, ));
        d17 = select(d17, moved[0], here25);
        d33 = select(d33, moved[1], here25);
        place += u32(here25);
    }
    let here26 = has(links.x, 26u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x18, x34, ), Points(d18, d34, ));
        d18 = select(d18, moved[0], here26);
        d34 = select(d34, moved[1], here26);
        place += u32(here26);
    }
    let here27 = has(links.x, 27u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x19, x35, ), Points(d19, d35, ));
        d19 = select(d19, moved[0], here27);
        d35 = select(d35, moved[1], here27);
        place += u32(here27);
    }
    let here28 = has(links.x, 28u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x24, x40, ), Points(d24, d40, ));
        d24 = select(d24, moved[0], here28);
        d40 = select(d40, moved[1], here28);
        place += u32(here28);
    }
    let here29 = has(links.x, 29u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x25, x41, ), Points(d25, d41, ));
        d25 = select(d25, moved[0], here29);
        d41 = select(d41, moved[1], here29);
        place += u32(here29);
    }
    let here30 = has(links.x, 30u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x26, x42, ), Points(d26, d42, ));
        d26 = select(d26, moved[0], here30);
        d42 = select(d42, moved[1], here30);
        place += u32(here30);
    }
    let here31 = has(links.x, 31u);
    {
        let moved = projected(place, opaque_record(vec4u(1045926966u, 0u, 0u, 0u)), m0, array(x27, x43, ), Points(d27, d43, ));
        d27 = select(d27, moved[0], here31);
        d43 = select(d43, moved[1], here31);
        place += u32(here31);
    }
    let here32 = has(links.y, 0u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x0, x1, ), Points(d0, d1, ));
        d0 = select(d0, moved[0], here32);
        d1 = select(d1, moved[1], here32);
        place += u32(here32);
    }
    let here33 = has(links.y, 1u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x1, x2, ), Points(d1, d2, ));
        d1 = select(d1, moved[0], here33);
        d2 = select(d2, moved[1], here33);
        place += u32(here33);
    }
    let here34 = has(links.y, 2u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x2, x3, ), Points(d2, d3, ));
        d2 = select(d2, moved[0], here34);
        d3 = select(d3, moved[1], here34);
        place += u32(here34);
    }
    let here35 = has(links.y, 3u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x3, x4, ), Points(d3, d4, ));
        d3 = select(d3, moved[0], here35);
        d4 = select(d4, moved[1], here35);
        place += u32(here35);
    }
    let here36 = has(links.y, 4u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x8, x9, ), Points(d8, d9, ));
        d8 = select(d8, moved[0], here36);
        d9 = select(d9, moved[1], here36);
        place += u32(here36);
    }
    let here37 = has(links.y, 5u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x9, x10, ), Points(d9, d10, ));
        d9 = select(d9, moved[0], here37);
        d10 = select(d10, moved[1], here37);
        place += u32(here37);
    }
    let here38 = has(links.y, 6u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x10, x11, ), Points(d10, d11, ));
        d10 = select(d10, moved[0], here38);
        d11 = select(d11, moved[1], here38);
        place += u32(here38);
    }
    let here39 = has(links.y, 7u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x11, x12, ), Points(d11, d12, ));
        d11 = select(d11, moved[0], here39);
        d12 = select(d12, moved[1], here39);
        place += u32(here39);
    }
    let here40 = has(links.y, 8u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x16, x17, ), Points(d16, d17, ));
        d16 = select(d16, moved[0], here40);
        d17 = select(d17, moved[1], here40);
        place += u32(here40);
    }
    let here41 = has(links.y, 9u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x17, x18, ), Points(d17, d18, ));
        d17 = select(d17, moved[0], here41);
        d18 = select(d18, moved[1], here41);
        place += u32(here41);
    }
    let here42 = has(links.y, 10u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x18, x19, ), Points(d18, d19, ));
        d18 = select(d18, moved[0], here42);
        d19 = select(d19, moved[1], here42);
        place += u32(here42);
    }
    let here43 = has(links.y, 11u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x19, x20, ), Points(d19, d20, ));
        d19 = select(d19, moved[0], here43);
        d20 = select(d20, moved[1], here43);
        place += u32(here43);
    }
    let here44 = has(links.y, 12u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x24, x25, ), Points(d24, d25, ));
        d24 = select(d24, moved[0], here44);
        d25 = select(d25, moved[1], here44);
        place += u32(here44);
    }
    let here45 = has(links.y, 13u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x25, x26, ), Points(d25, d26, ));
        d25 = select(d25, moved[0], here45);
        d26 = select(d26, moved[1], here45);
        place += u32(here45);
    }
    let here46 = has(links.y, 14u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x26, x27, ), Points(d26, d27, ));
        d26 = select(d26, moved[0], here46);
        d27 = select(d27, moved[1], here46);
        place += u32(here46);
    }
    let here47 = has(links.y, 15u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x27, x28, ), Points(d27, d28, ));
        d27 = select(d27, moved[0], here47);
        d28 = select(d28, moved[1], here47);
        place += u32(here47);
    }
    let here48 = has(links.y, 16u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x0, x8, ), Points(d0, d8, ));
        d0 = select(d0, moved[0], here48);
        d8 = select(d8, moved[1], here48);
        place += u32(here48);
    }
    let here49 = has(links.y, 17u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x1, x9, ), Points(d1, d9, ));
        d1 = select(d1, moved[0], here49);
        d9 = select(d9, moved[1], here49);
        place += u32(here49);
    }
    let here50 = has(links.y, 18u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x2, x10, ), Points(d2, d10, ));
        d2 = select(d2, moved[0], here50);
        d10 = select(d10, moved[1], here50);
        place += u32(here50);
    }
    let here51 = has(links.y, 19u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x3, x11, ), Points(d3, d11, ));
        d3 = select(d3, moved[0], here51);
        d11 = select(d11, moved[1], here51);
        place += u32(here51);
    }
    let here52 = has(links.y, 20u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x8, x16, ), Points(d8, d16, ));
        d8 = select(d8, moved[0], here52);
        d16 = select(d16, moved[1], here52);
        place += u32(here52);
    }
    let here53 = has(links.y, 21u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x9, x17, ), Points(d9, d17, ));
        d9 = select(d9, moved[0], here53);
        d17 = select(d17, moved[1], here53);
        place += u32(here53);
    }
    let here54 = has(links.y, 22u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x10, x18, ), Points(d10, d18, ));
        d10 = select(d10, moved[0], here54);
        d18 = select(d18, moved[1], here54);
        place += u32(here54);
    }
    let here55 = has(links.y, 23u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x11, x19, ), Points(d11, d19, ));
        d11 = select(d11, moved[0], here55);
        d19 = select(d19, moved[1], here55);
        place += u32(here55);
    }
    let here56 = has(links.y, 24u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x16, x24, ), Points(d16, d24, ));
        d16 = select(d16, moved[0], here56);
        d24 = select(d24, moved[1], here56);
        place += u32(here56);
    }
    let here57 = has(links.y, 25u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x17, x25, ), Points(d17, d25, ));
        d17 = select(d17, moved[0], here57);
        d25 = select(d25, moved[1], here57);
        place += u32(here57);
    }
    let here58 = has(links.y, 26u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x18, x26, ), Points(d18, d26, ));
        d18 = select(d18, moved[0], here58);
        d26 = select(d26, moved[1], here58);
        place += u32(here58);
    }
    let here59 = has(links.y, 27u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x19, x27, ), Points(d19, d27, ));
        d19 = select(d19, moved[0], here59);
        d27 = select(d27, moved[1], here59);
        place += u32(here59);
    }
    let here60 = has(links.y, 28u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x24, x32, ), Points(d24, d32, ));
        d24 = select(d24, moved[0], here60);
        d32 = select(d32, moved[1], here60);
        place += u32(here60);
    }
    let here61 = has(links.y, 29u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x25, x33, ), Points(d25, d33, ));
        d25 = select(d25, moved[0], here61);
        d33 = select(d33, moved[1], here61);
        place += u32(here61);
    }
    let here62 = has(links.y, 30u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x26, x34, ), Points(d26, d34, ));
        d26 = select(d26, moved[0], here62);
        d34 = select(d34, moved[1], here62);
        place += u32(here62);
    }
    let here63 = has(links.y, 31u);
    {
        let moved = projected(place, opaque_record(vec4u(1037538358u, 0u, 0u, 0u)), m1, array(x27, x35, ), Points(d27, d35, ));
        d27 = select(d27, moved[0], here63);
        d35 = select(d35, moved[1], here63);
        place += u32(here63);
    }
    let here64 = has(links.z, 0u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x0, x9, ), Points(d0, d9, ));
        d0 = select(d0, moved[0], here64);
        d9 = select(d9, moved[1], here64);
        place += u32(here64);
    }
    let here65 = has(links.z, 1u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x1, x10, ), Points(d1, d10, ));
        d1 = select(d1, moved[0], here65);
        d10 = select(d10, moved[1], here65);
        place += u32(here65);
    }
    let here66 = has(links.z, 2u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x2, x11, ), Points(d2, d11, ));
        d2 = select(d2, moved[0], here66);
        d11 = select(d11, moved[1], here66);
        place += u32(here66);
    }
    let here67 = has(links.z, 3u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x3, x12, ), Points(d3, d12, ));
        d3 = select(d3, moved[0], here67);
        d12 = select(d12, moved[1], here67);
        place += u32(here67);
    }
    let here68 = has(links.z, 4u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x8, x17, ), Points(d8, d17, ));
        d8 = select(d8, moved[0], here68);
        d17 = select(d17, moved[1], here68);
        place += u32(here68);
    }
    let here69 = has(links.z, 5u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x9, x18, ), Points(d9, d18, ));
        d9 = select(d9, moved[0], here69);
        d18 = select(d18, moved[1], here69);
        place += u32(here69);
    }
    let here70 = has(links.z, 6u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x10, x19, ), Points(d10, d19, ));
        d10 = select(d10, moved[0], here70);
        d19 = select(d19, moved[1], here70);
        place += u32(here70);
    }
    let here71 = has(links.z, 7u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x11, x20, ), Points(d11, d20, ));
        d11 = select(d11, moved[0], here71);
        d20 = select(d20, moved[1], here71);
        place += u32(here71);
    }
    let here72 = has(links.z, 8u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x16, x25, ), Points(d16, d25, ));
        d16 = select(d16, moved[0], here72);
        d25 = select(d25, moved[1], here72);
        place += u32(here72);
    }
    let here73 = has(links.z, 9u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x17, x26, ), Points(d17, d26, ));
        d17 = select(d17, moved[0], here73);
        d26 = select(d26, moved[1], here73);
        place += u32(here73);
    }
    let here74 = has(links.z, 10u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x18, x27, ), Points(d18, d27, ));
        d18 = select(d18, moved[0], here74);
        d27 = select(d27, moved[1], here74);
        place += u32(here74);
    }
    let here75 = has(links.z, 11u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x19, x28, ), Points(d19, d28, ));
        d19 = select(d19, moved[0], here75);
        d28 = select(d28, moved[1], here75);
        place += u32(here75);
    }
    let here76 = has(links.z, 12u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x24, x33, ), Points(d24, d33, ));
        d24 = select(d24, moved[0], here76);
        d33 = select(d33, moved[1], here76);
        place += u32(here76);
    }
    let here77 = has(links.z, 13u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x25, x34, ), Points(d25, d34, ));
        d25 = select(d25, moved[0], here77);
        d34 = select(d34, moved[1], here77);
        place += u32(here77);
    }
    let here78 = has(links.z, 14u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x26, x35, ), Points(d26, d35, ));
        d26 = select(d26, moved[0], here78);
        d35 = select(d35, moved[1], here78);
        place += u32(here78);
    }
    let here79 = has(links.z, 15u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x27, x36, ), Points(d27, d36, ));
        d27 = select(d27, moved[0], here79);
        d36 = select(d36, moved[1], here79);
        place += u32(here79);
    }
    let here80 = has(links.z, 16u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x1, x8, ), Points(d1, d8, ));
        d1 = select(d1, moved[0], here80);
        d8 = select(d8, moved[1], here80);
        place += u32(here80);
    }
    let here81 = has(links.z, 17u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x2, x9, ), Points(d2, d9, ));
        d2 = select(d2, moved[0], here81);
        d9 = select(d9, moved[1], here81);
        place += u32(here81);
    }
    let here82 = has(links.z, 18u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x3, x10, ), Points(d3, d10, ));
        d3 = select(d3, moved[0], here82);
        d10 = select(d10, moved[1], here82);
        place += u32(here82);
    }
    let here83 = has(links.z, 19u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x4, x11, ), Points(d4, d11, ));
        d4 = select(d4, moved[0], here83);
        d11 = select(d11, moved[1], here83);
        place += u32(here83);
    }
    let here84 = has(links.z, 20u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x9, x16, ), Points(d9, d16, ));
        d9 = select(d9, moved[0], here84);
        d16 = select(d16, moved[1], here84);
        place += u32(here84);
    }
    let here85 = has(links.z, 21u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x10, x17, ), Points(d10, d17, ));
        d10 = select(d10, moved[0], here85);
        d17 = select(d17, moved[1], here85);
        place += u32(here85);
    }
    let here86 = has(links.z, 22u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x11, x18, ), Points(d11, d18, ));
        d11 = select(d11, moved[0], here86);
        d18 = select(d18, moved[1], here86);
        place += u32(here86);
    }
    let here87 = has(links.z, 23u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x12, x19, ), Points(d12, d19, ));
        d12 = select(d12, moved[0], here87);
        d19 = select(d19, moved[1], here87);
        place += u32(here87);
    }
    let here88 = has(links.z, 24u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x17, x24, ), Points(d17, d24, ));
        d17 = select(d17, moved[0], here88);
        d24 = select(d24, moved[1], here88);
        place += u32(here88);
    }
    let here89 = has(links.z, 25u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x18, x25, ), Points(d18, d25, ));
        d18 = select(d18, moved[0], here89);
        d25 = select(d25, moved[1], here89);
        place += u32(here89);
    }
    let here90 = has(links.z, 26u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x19, x26, ), Points(d19, d26, ));
        d19 = select(d19, moved[0], here90);
        d26 = select(d26, moved[1], here90);
        place += u32(here90);
    }
    let here91 = has(links.z, 27u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x20, x27, ), Points(d20, d27, ));
        d20 = select(d20, moved[0], here91);
        d27 = select(d27, moved[1], here91);
        place += u32(here91);
    }
    let here92 = has(links.z, 28u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x25, x32, ), Points(d25, d32, ));
        d25 = select(d25, moved[0], here92);
        d32 = select(d32, moved[1], here92);
        place += u32(here92);
    }
    let here93 = has(links.z, 29u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x26, x33, ), Points(d26, d33, ));
        d26 = select(d26, moved[0], here93);
        d33 = select(d33, moved[1], here93);
        place += u32(here93);
    }
    let here94 = has(links.z, 30u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x27, x34, ), Points(d27, d34, ));
        d27 = select(d27, moved[0], here94);
        d34 = select(d34, moved[1], here94);
        place += u32(here94);
    }
    let here95 = has(links.z, 31u);
    {
        let moved = projected(place, opaque_record(vec4u(1041788918u, 0u, 0u, 0u)), m2, array(x28, x35, ), Points(d28, d35, ));
        d28 = select(d28, moved[0], here95);
        d35 = select(d35, moved[1], here95);
        place += u32(here95);
    }
    if has(tile.z, 0u) { set_displacement(i0, d0); }
    if has(tile.z, 1u) { set_displacement(i1, d1); }
    if has(tile.z, 2u) { set_displacement(i2, d2); }
    if has(tile.z, 3u) { set_displacement(i3, d3); }
    if has(tile.z, 4u) { set_displacement(i4, d4); }
    if has(tile.z, 5u) { set_displacement(i5, d5); }
    if has(tile.z, 8u) { set_displacement(i8, d8); }
    if has(tile.z, 9u) { set_displacement(i9, d9); }
    if has(tile.z, 10u) { set_displacement(i10, d10); }
    if has(tile.z, 11u) { set_displacement(i11, d11); }
    if has(tile.z, 12u) { set_displacement(i12, d12); }
    if has(tile.z, 13u) { set_displacement(i13, d13); }
    if has(tile.z, 16u) { set_displacement(i16, d16); }
    if has(tile.z, 17u) { set_displacement(i17, d17); }
    if has(tile.z, 18u) { set_displacement(i18, d18); }
    if has(tile.z, 19u) { set_displacement(i19, d19); }
    if has(tile.z, 20u) { set_displacement(i20, d20); }
    if has(tile.z, 21u) { set_displacement(i21, d21); }
    if has(tile.z, 24u) { set_displacement(i24, d24); }
    if has(tile.z, 25u) { set_displacement(i25, d25); }
    if has(tile.z, 26u) { set_displacement(i26, d26); }
    if has(tile.z, 27u) { set_displacement(i27, d27); }
    if has(tile.z, 28u) { set_displacement(i28, d28); }
    if has(tile.z, 29u) { set_displacement(i29, d29); }
    if has(tile.w, 0u) { set_displacement(i32, d32); }
    if has(tile.w, 1u) { set_displacement(i33, d33); }
    if has(tile.w, 2u) { set_displacement(i34, d34); }
    if has(tile.w, 3u) { set_displacement(i35, d35); }
    if has(tile.w, 4u) { set_displacement(i36, d36); }
    if has(tile.w, 8u) { set_displacement(i40, d40); }
    if has(tile.w, 9u) { set_displacement(i41, d41); }
    if has(tile.w, 10u) { set_displacement(i42, d42); }
    if has(tile.w, 11u) { set_displacement(i43, d43); }
}

// Accessors of particles in storage buffers: the slot of a particle is its index.

fn position_at(particle: u32) -> vec4f {
    return positions[particle];
}

fn displacement_at(particle: u32) -> vec3f {
    return displacements[particle].xyz;
}

fn set_displacement(particle: u32, d: vec3f) {
    displacements[particle] = vec4f(d, 0.0);
}

// XPBD projection of one constraint of a kind with a fixed number of particles, for all schedules.
// Input: positions at the start of the substep (xyz, inverse mass) and displacements d. The file of the kind
// evaluates C and ∇C (`evaluate`); scalar.wgsl, vector.wgsl or components.wgsl computes the impulses ∇C Δλ and the
// current places (`placed`).
// The including pass defines the access to x and d (`position_at`, `displacement_at`, `set_displacement`) and to λ
// (`place_of_lambda`), and the scale of an instance (`shrunk`, `grown`).

alias Points = array<vec3f, ARITY>;
alias Weights = array<f32, ARITY>;
alias Positions = array<vec4f, ARITY>;

// Returns ∇C Δλ of each particle.
fn project_constraint(place: u32, record: Record, material: ScaledMaterial, x: Positions, d: Points) -> Points {
    var travels: Points;
    var p: Points;
    var w: Weights;
    { const k = 0u; 
        w[k] = x[k].w;
        p[k] = placed(k, x[k].xyz, x[0].xyz, d[k]);
        travels[k] = shrunk(d[k]);
     }
{ const k = 1u; 
        w[k] = x[k].w;
        p[k] = placed(k, x[k].xyz, x[0].xyz, d[k]);
        travels[k] = shrunk(d[k]);
     }

    return impulses_of(place_of_lambda(place, LAMBDAS), record, material, p, travels, w);
}

// Returns the displacements after the projection: d + w ∇C Δλ.
fn projected(place: u32, record: Record, material: ScaledMaterial, x: Positions, d: Points) -> Points {
    let impulses = project_constraint(place, record, material, x, d);
    var moved: Points;
    { const k = 0u; 
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
     }
{ const k = 1u; 
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
     }

    return moved;
}

// Bindings of the projections of a kind with a fixed number of particles. The host defines `ARITY` and `ROWS`; the
// including pass defines `Record` and `parameter`.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// ROWS rows per constraint: particles, material, parameters. A row is one load, a struct would be several.
@group(0) @binding(3) var<storage, read> records: array<vec4u>;
@group(0) @binding(4) var<storage, read> materials: array<ScaledMaterial>;
@group(0) @binding(5) var<storage, read_write> lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;

// Scale and λ index of scenes. instances.wgsl defines these functions for instances.

fn shrunk(v: vec3f) -> vec3f {
    return v;
}

fn grown(w: f32) -> f32 {
    return w;
}

fn place_of_lambda(place: u32, count: u32) -> u32 {
    return place;
}

const ARITY = 2u;
const POINTS = 2u;
const ROWS = 1u;
const LAMBDAS = 1u;
const UNIT_GRADIENTS = true;
const UNILATERAL = false;
const OVER_RELAXED = false;
const MOST_PARTICLES = 256u;

// shaders/common/params.wgsl

// shaders/common/xpbd.wgsl
