use super::int16;

/// The precision of the factors of matrix products; their sums have 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// The upper 16 of them (bfloat16).
    Bf16,
    /// Whole numbers of 16 bits, by a step for each 128 inputs of a row and for each output; their sums are exact.
    Int16,
}

impl Precision {
    /// What is quickest on this machine: bfloat16 where the processor multiplies in it, whole numbers of 16 bits where it has AVX2
    /// and no AVX-512, else single precision. The variable `PERICOPE_PRECISION` (`f32`, `bf16` or `int16`) overrides.
    ///
    /// # Errors
    /// A line about a value that is none of these.
    pub fn of_machine() -> Result<Self, String> {
        Self::chosen(std::env::var("PERICOPE_PRECISION").ok().as_deref(), Self::quickest())
    }

    fn quickest() -> Self {
        if pericope_bf16::available() {
            Self::Bf16
        } else if int16::quickest() {
            Self::Int16
        } else {
            Self::Single
        }
    }

    fn chosen(asked: Option<&str>, quickest: Self) -> Result<Self, String> {
        match asked {
            None | Some("") => Ok(quickest),
            Some("f32") => Ok(Self::Single),
            Some("bf16") => Ok(Self::Bf16),
            Some("int16") => Ok(Self::Int16),
            Some(other) => Err(format!("PERICOPE_PRECISION is {other:?}: f32, bf16 or int16")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Precision;

    #[test]
    fn the_machine_decides_where_nobody_does() {
        assert_eq!(Precision::chosen(None, Precision::Bf16), Ok(Precision::Bf16));
        assert_eq!(Precision::chosen(Some(""), Precision::Int16), Ok(Precision::Int16));
        for (name, asked) in [("f32", Precision::Single), ("bf16", Precision::Bf16), ("int16", Precision::Int16)] {
            for quickest in [Precision::Single, Precision::Bf16, Precision::Int16] {
                assert_eq!(Precision::chosen(Some(name), quickest), Ok(asked));
            }
        }
        let error = Precision::chosen(Some("int8"), Precision::Bf16);
        assert_eq!(error, Err("PERICOPE_PRECISION is \"int8\": f32, bf16 or int16".into()));
    }
}
