// The state of particles at the last search. The pass declares `tracked`.

// Position and displacement at the end of that substep, and the displacement per substep that is predicted for the
// following substeps, relative to the drift.
struct TrackedParticle {
    place: vec3f,
    displacement: vec3f,
    predicted: vec3f,
}

// A tracked particle is stored in two rows. The last words hold the predicted displacement as three 16-bit integers,
// in units of `ContactParams::prediction_quantum`. Any rounding is valid because all passes read the rounded value.
// Counterpart: `ContactParams::rounded_prediction` in src/sim/contact_params.rs.
fn rows_of_tracked(own: TrackedParticle) -> array<vec4u, 2> {
    let quanta = clamp(own.predicted * contact_params.inverse_prediction_quantum, vec3f(-32767.0), vec3f(32767.0));
    let q = bitcast<vec3u>(vec3i(round(quanta))) & vec3u(0xffffu);
    let place = vec4u(bitcast<vec3u>(own.place), q.x | (q.y << 16u));
    return array(place, vec4u(bitcast<vec3u>(own.displacement), q.z));
}

fn tracked_particle(i: u32) -> TrackedParticle {
    let rows = tracked[i];
    let words = vec3u(rows[0].w << 16u, rows[0].w, rows[1].w << 16u);
    let predicted = vec3f(bitcast<vec3i>(words) >> vec3u(16u)) * contact_params.prediction_quantum;
    return TrackedParticle(bitcast<vec3f>(rows[0].xyz), bitcast<vec3f>(rows[1].xyz), predicted);
}
