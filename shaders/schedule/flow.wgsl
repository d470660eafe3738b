// Plastic flow and rupture of constraints, at the start of each step (src/constraints/plasticity.rs has the law).
// One thread per plastic constraint. Reads positions and its row. Writes its state, and rest value and material of its
// record. The host defines IS_ANGLE.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> records: array<vec4u>;
@group(0) @binding(3) var<storage, read> plastic_rows: array<PlasticRow>;
@group(0) @binding(4) var<storage, read_write> plastic_states: array<PlasticState>;
@group(0) @binding(5) var<uniform> params: Params;

// Counterpart: `PlasticRow` in src/constraints/plasticity.rs.
struct PlasticRow {
    constraint: u32,
    place: u32,
    material: u32,
    broken_material: u32,
    rest: f32,
    yield_strain: f32,
    flow_rate: f32,
    hardening: f32,
    most: f32,
    rupture: f32,
    padding: vec2u,
}

// Counterpart: `PlasticState` in src/constraints/plasticity.rs.
struct PlasticState {
    strain: f32,
    hardened: f32,
    is_broken: u32,
    padding: u32,
}

alias Points = array<vec3f, ARITY>;

struct Evaluation {
    c: f32,
    grad: Points,
}

const HALF_TURN = 3.1415927;

@compute @workgroup_size(WORKGROUP_SIZE)
fn flow(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&plastic_rows) {
        return;
    }
    let own = plastic_rows[i];
    var record = load(own.place);
    set_word(&record, ARITY + 1u, bitcast<u32>(rest_at(own, plastic_states[i].strain)));
    var p: Points;
    let x0 = positions[word(record, 0u)].xyz;
    for (var k = 0u; k < ARITY; k++) {
        p[k] = opaque(positions[word(record, k)].xyz - x0, span.zero);
    }
    let size = select(own.rest, parameter(record, 1u), IS_ANGLE);
    let state = flowed(own, plastic_states[i], opaque1(evaluate(record, p).c / size, span.zero));
    plastic_states[i] = state;
    store_word(own.place, ARITY + 1u, bitcast<u32>(rest_at(own, state.strain)));
    store_word(own.place, ARITY, select(own.material, own.broken_material, state.is_broken == 1u));
}

// Returns the state after a flow in a step; `elastic` is the elastic strain.
fn flowed(own: PlasticRow, state: PlasticState, elastic: f32) -> PlasticState {
    var after = state;
    let limit = opaque1(own.yield_strain + opaque1(own.hardening * state.hardened, span.zero), span.zero);
    let beyond = opaque1(abs(elastic) - limit, span.zero);
    if beyond > 0.0 {
        let share = min(own.flow_rate * params.dt, 1.0);
        let change = opaque1(share * beyond, span.zero) / (1.0 + own.hardening);
        after.strain = clamp(state.strain + select(change, -change, elastic < 0.0), -own.most, own.most);
        after.hardened += abs(opaque1(after.strain - state.strain, span.zero));
    }
    if abs(opaque1(elastic + state.strain, span.zero)) > own.rupture {
        after.is_broken = 1u;
    }
    return after;
}

// Returns the rest value with a plastic strain.
fn rest_at(own: PlasticRow, strain: f32) -> f32 {
    if IS_ANGLE {
        return clamp(own.rest + strain, -HALF_TURN, HALF_TURN);
    }
    return own.rest + opaque1(own.rest * strain, span.zero);
}

fn set_word(record: ptr<function, Record>, index: u32, value: u32) {
    (*record)[index / 4u][index % 4u] = value;
}

fn store_word(place: u32, index: u32, value: u32) {
    records[place * ROWS + index / 4u][index % 4u] = value;
}
