// Projects a constraint whose particles are in the given slots.

alias Slots = array<u32, ARITY>;

fn solve(place: u32, record: Record, slots: Slots, material: ScaledMaterial) {
    var x: Positions;
    var d: Points;
    for (var k = 0u; k < ARITY; k++) {
        x[k] = position_at(slots[k]);
        d[k] = displacement_at(slots[k]);
    }
    let moved = projected(place, record, material, x, d);
    for (var k = 0u; k < ARITY; k++) {
        set_displacement(slots[k], moved[k]);
    }
}

fn particles_of(record: Record) -> Slots {
    var particles: Slots;
    for (var k = 0u; k < ARITY; k++) {
        particles[k] = word(record, k);
    }
    return particles;
}
