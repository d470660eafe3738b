// Plastic flow and rupture of constraints, at the start of each step (src/constraints/plasticity.rs has the law).
// One thread per plastic constraint. Reads positions, its row, and of joints the states of segments. Writes its state, and rest
// value and material of its record. A file of flow/ defines `Evaluation`, the elastic strain and the rest value of a kind.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> records: array<vec4u>;
@group(0) @binding(3) var<storage, read> plastic_rows: array<PlasticRow>;
@group(0) @binding(4) var<storage, read_write> plastic_states: array<PlasticState>;
@group(0) @binding(5) var<uniform> params: Params;
// Two rows a segment, as `PlasticState`.
@group(0) @binding(6) var<storage, read> segment_states: array<vec4u>;

// Counterpart: `PlasticRow` in src/constraints/plasticity.rs.
struct PlasticRow {
    rest: vec4f,
    constraint: u32,
    place: u32,
    material: u32,
    broken_material: u32,
    yield_strain: f32,
    flow_rate: f32,
    hardening: f32,
    most: f32,
    rupture: f32,
    segments: array<u32, 2>,
    padding: u32,
}

// Counterpart: `PlasticState` in src/constraints/plasticity.rs.
struct PlasticState {
    strain: vec3f,
    hardened: f32,
    is_broken: u32,
    padding: array<u32, 3>,
}

alias Points = array<vec3f, ARITY>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn flow(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&plastic_rows) {
        return;
    }
    let own = plastic_rows[i];
    let before = plastic_states[i];
    var record = load(own.place);
    let rest = rest_at(own, before.strain);
    for (var k = 0u; k < REST_WORDS; k++) {
        set_word(&record, ARITY + 1u + k, bitcast<u32>(rest[k]));
    }
    var p: Points;
    let x0 = positions[word(record, 0u)].xyz;
    for (var k = 0u; k < ARITY; k++) {
        let x = positions[word(record, k)].xyz;
        p[k] = select(x, opaque(x - x0, span.zero), k < POINTS);
    }
    var state = flowed(own, before, opaque(elastic_of(own, record, p, before.strain), span.zero));
    if JOINTS {
        for (var k = 0u; k < 2u; k++) {
            let segment = own.segments[k];
            if segment != NO_SEGMENT && segment_states[2u * segment + 1u].x == 1u {
                state.is_broken = 1u;
            }
        }
    }
    plastic_states[i] = state;
    let after = rest_at(own, state.strain);
    for (var k = 0u; k < REST_WORDS; k++) {
        store_word(own.place, ARITY + 1u + k, bitcast<u32>(after[k]));
    }
    store_word(own.place, ARITY, select(own.material, own.broken_material, state.is_broken == 1u));
}

const NO_SEGMENT = 0xffffffffu;

// Acts as infinity, as in src/constraints/plasticity.rs.
const UNLIMITED = 1e30;

fn size_of_strain(strain: vec3f) -> f32 {
    return sqrt(dot(strain, strain));
}

// Returns the state after a flow in a step; `elastic` is the elastic strain. A broken constraint keeps its state.
fn flowed(own: PlasticRow, state: PlasticState, elastic: vec3f) -> PlasticState {
    if state.is_broken == 1u {
        return state;
    }
    var after = state;
    let size = size_of_strain(elastic);
    let limit = opaque1(own.yield_strain + opaque1(own.hardening * state.hardened, span.zero), span.zero);
    let beyond = opaque1(size - limit, span.zero);
    if beyond > 0.0 && size > 0.0 && size < UNLIMITED {
        let share = min(own.flow_rate * params.dt, 1.0);
        let change = opaque1(share * beyond, span.zero) / (1.0 + own.hardening);
        let sum = opaque(state.strain + opaque(elastic * (change / size), span.zero), span.zero);
        let most = size_of_strain(sum);
        after.strain = select(sum, opaque(sum * (own.most / most), span.zero), most > own.most);
        after.hardened += size_of_strain(opaque(after.strain - state.strain, span.zero));
    }
    if own.rupture < UNLIMITED && size_of_strain(opaque(elastic + state.strain, span.zero)) > own.rupture {
        after.is_broken = 1u;
    }
    return after;
}

fn set_word(record: ptr<function, Record>, index: u32, value: u32) {
    (*record)[index / 4u][index % 4u] = value;
}

fn store_word(place: u32, index: u32, value: u32) {
    records[place * ROWS + index / 4u][index % 4u] = value;
}
