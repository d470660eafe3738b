// The record of a constraint, for passes that load all of it.

alias Record = array<vec4u, ROWS>;

fn load(place: u32) -> Record {
    var record: Record;
    for (var k = 0u; k < ROWS; k++) {
        record[k] = records[place * ROWS + k];
    }
    return record;
}

fn word(record: Record, index: u32) -> u32 {
    return record[index / 4u][index % 4u];
}

// Returns a parameter of the kind; parameters follow particles and material.
fn parameter(record: Record, index: u32) -> f32 {
    return bitcast<f32>(word(record, ARITY + 1u + index));
}
