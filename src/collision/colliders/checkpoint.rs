//! Colliders as words of a checkpoint.

use super::{Baked, ColliderRow, Colliders};
use crate::error::Result;
use crate::words::{WordReader, WordWriter, damaged};

impl Colliders {
    pub fn write_words(&self, w: &mut WordWriter) {
        w.list(&self.rows);
        w.list(&self.generations);
        w.word(self.last_generation);
        // The data of a removed collider remain in the list until another one is added.
        w.list(&self.data);
        w.list(&self.baked.iter().map(|baked| baked.data.len() as u32).collect::<Vec<_>>());
    }

    pub fn read_words(r: &mut WordReader<'_>) -> Result<Self> {
        let rows: Vec<ColliderRow> = r.list()?;
        if rows.len() > Self::MOST {
            return Err(damaged(format!("it has {} colliders, but the most are {}", rows.len(), Self::MOST)));
        }
        let (generations, last_generation) = (r.list_of("numbers of colliders", rows.len())?, r.word()?);
        let (data, counts): (Vec<f32>, Vec<u32>) = (r.list()?, r.list_of("shapes", rows.len())?);
        let baked = rows.iter().zip(counts).map(|(row, count)| {
            let ColliderRow { shape, size, bound, counts, data: first, .. } = *row;
            let own = match count {
                0 => Some([].as_slice()),
                _ => first.checked_add(count).and_then(|end| data.get(first as usize..end as usize)),
            };
            let data = own.ok_or_else(|| damaged("the shape of a collider ends early"))?.to_vec();
            Ok(Baked { shape, size, bound, counts, data })
        });
        Ok(Self { baked: baked.collect::<Result<_>>()?, rows, generations, last_generation, data })
    }
}
