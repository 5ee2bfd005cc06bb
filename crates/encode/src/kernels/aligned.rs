use std::ops::{Deref, DerefMut};

/// Floats that start at a cache line, so that no vector load touches two lines.
#[derive(Debug, Default)]
pub struct Aligned {
    values: Vec<f32>,
    start: usize,
    len: usize,
}

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;
/// Floats that may have to be skipped to reach the start of a line.
const SLACK: usize = LINE / size_of::<f32>();

impl Aligned {
    /// `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        let values = vec![0.0; len + SLACK];
        // Alignment only saves time: where it cannot be had, any start will do.
        let start = Some(values.as_ptr().align_offset(LINE)).filter(|&offset| offset <= SLACK).unwrap_or(0);
        Self { values, start, len }
    }

    /// Makes room for at least `len` floats; what was there is lost where it has to grow.
    pub fn reserve(&mut self, len: usize) {
        if self.len < len {
            *self = Self::zeros(len);
        }
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.values[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.values[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;

    #[test]
    fn starts_at_a_cache_line_and_grows() {
        let mut buffer = Aligned::default();
        assert!(buffer.is_empty());
        for len in [1, 7, 5_000, 16] {
            buffer.reserve(len);
            assert!(buffer.len() >= len);
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
        }
        assert_eq!(buffer.len(), 5_000);
    }
}
