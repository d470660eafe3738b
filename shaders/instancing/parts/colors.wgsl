// The constraints of one kind in an instance that are not in tiles, colour by colour. As kinds share names, src/gpu/sweep.rs puts the name of
// the kind behind each top-level name of this file and of the others that belong to the kind.

// `head`: the head of the kind, whose first two words say where its colours stand, and how many colours.
fn solve_colors(head: u32, thread: u32) {
    let colors_at = asset[head];
    let color_count = asset[head + 1u];
    for (var color = 0u; color < color_count; color++) {
        let first = asset[colors_at + 2u * color];
        let end = first + asset[colors_at + 2u * color + 1u];
        for (var place = first + thread; place < end; place += THREADS) {
            let record = load(place);
            solve(place, record, particles_of(record), materials[word(record, ARITY)]);
        }
        workgroupBarrier();
    }
}
