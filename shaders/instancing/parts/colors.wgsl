// Solves the constraints of one kind in an instance that are in no tile, colour by colour. src/gpu/sweep.rs appends
// the name of the kind to the top-level names of its files.

// `head` is the head of the kind; its first two words are the start of its colours and their number.
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
