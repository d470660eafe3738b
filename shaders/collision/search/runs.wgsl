// Reads the grid after the sort. The pass declares `cells`.

// Consecutive cells along x whose sorted elements are contiguous: their number, and the range of the elements. The
// range may contain elements of other cells and levels that share the same table entries.
struct Run {
    cells: u32,
    start: u32,
    end: u32,
}

// Returns the first run of a row of at most `most` cells.
fn run_at(cell: vec3i, most: u32, kind: u32, level: u32) -> Run {
    let entry = kind * contact_params.table_size + hash_cell(cell, level, contact_params.table_size);
    let count = min(most, BLOCK - entry % BLOCK);
    // A cell holds the start of the next cell of its block.
    var start = contact_params.block_starts + entry / BLOCK;
    if entry % BLOCK > 0u {
        start = entry - 1u;
    }
    return Run(count, cells[start], cells[entry + count - 1u]);
}
