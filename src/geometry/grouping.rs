//! Sorting of values into buckets by an integer key, and removal of duplicates; no hashing.

/// The distinct values of a list, and the index of each list entry among them.
pub(crate) struct Distinct<T> {
    /// Each distinct value once, with its key; in ascending order.
    pub values: Vec<(u32, T)>,
    /// For each list entry, its index in `values`.
    pub places: Vec<u32>,
}

impl<T: Copy + Ord + Default> Distinct<T> {
    /// Builds the distinct values of `list`; all keys are below `key_count`. Fast if few values share a key, as edges
    /// share their lower vertex; if all values share one key, it is a plain sort.
    pub fn new(key_count: usize, list: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut ends = vec![0u32; key_count + 1];
        for (key, _) in list.clone() {
            ends[key as usize + 1] += 1;
        }
        for key in 0..key_count {
            ends[key + 1] += ends[key];
        }
        let count = ends[key_count] as usize;
        // The entries of `ends` start as bucket beginnings; filling the buckets turns them into bucket ends.
        let mut buckets = vec![(T::default(), 0u32); count];
        for (index, (key, value)) in (0..).zip(list) {
            let end = &mut ends[key as usize];
            buckets[*end as usize] = (value, index);
            *end += 1;
        }
        let (mut values, mut places) = (Vec::with_capacity(count), vec![0u32; count]);
        let mut first = 0;
        for (key, &end) in (0..).zip(&ends[..key_count]) {
            let bucket = &mut buckets[first as usize..end as usize];
            bucket.sort_unstable();
            let mut last = None;
            for &(value, index) in bucket.iter() {
                if last != Some(value) {
                    values.push((key, value));
                    last = Some(value);
                }
                places[index as usize] = values.len() as u32 - 1;
            }
            first = end;
        }
        Self { values, places }
    }
}

/// Compressed sparse rows: for each of `count` keys, its values in input order.
pub(crate) fn grouped<T: Copy + Default>(
    count: usize,
    pairs: impl Iterator<Item = (u32, T)> + Clone,
) -> (Vec<u32>, Vec<T>) {
    let mut offsets = vec![0u32; count + 1];
    for (key, _) in pairs.clone() {
        offsets[key as usize + 1] += 1;
    }
    for key in 0..count {
        offsets[key + 1] += offsets[key];
    }
    let mut next = offsets.clone();
    let mut values = vec![T::default(); offsets[count] as usize];
    for (key, value) in pairs {
        values[next[key as usize] as usize] = value;
        next[key as usize] += 1;
    }
    (offsets, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_value_occurs_once_and_is_found() {
        for count in [0u32, 1, 2, 50, 2000] {
            let random = |k: u32| k.wrapping_mul(2_654_435_761) >> 9;
            let list: Vec<(u32, u32)> = (0..count).map(|k| (random(k) % 7, random(k + 999) % 40)).collect();
            let distinct = Distinct::new(7, list.iter().copied());
            let expected: Vec<(u32, u32)> = BTreeSet::from_iter(list.iter().copied()).into_iter().collect();
            assert_eq!(distinct.values, expected);
            let found: Vec<(u32, u32)> = distinct.places.iter().map(|&place| expected[place as usize]).collect();
            assert_eq!(found, list);
        }
    }
}
