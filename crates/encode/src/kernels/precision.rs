/// The precision of the factors of matrix products; their sums are in single precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// The upper 16 of them (bfloat16).
    Bf16,
}

impl Precision {
    /// What is quickest on this machine: bfloat16 where the processor multiplies in it, else single precision. The variable
    /// `PERICOPE_PRECISION` (`f32` or `bf16`) overrides.
    ///
    /// # Errors
    /// A line about a value that is neither.
    pub fn of_machine() -> Result<Self, String> {
        Self::chosen(std::env::var("PERICOPE_PRECISION").ok().as_deref(), pericope_bf16::available())
    }

    fn chosen(asked: Option<&str>, available: bool) -> Result<Self, String> {
        match asked {
            None | Some("") => Ok(if available { Self::Bf16 } else { Self::Single }),
            Some("f32") => Ok(Self::Single),
            Some("bf16") => Ok(Self::Bf16),
            Some(other) => Err(format!("PERICOPE_PRECISION is {other:?}: f32 or bf16")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Precision;

    #[test]
    fn the_machine_decides_where_nobody_does() {
        assert_eq!(Precision::chosen(None, true), Ok(Precision::Bf16));
        assert_eq!(Precision::chosen(Some(""), false), Ok(Precision::Single));
        assert_eq!(Precision::chosen(Some("f32"), true), Ok(Precision::Single));
        assert_eq!(Precision::chosen(Some("bf16"), false), Ok(Precision::Bf16));
        let error = Precision::chosen(Some("int8"), true);
        assert_eq!(error, Err("PERICOPE_PRECISION is \"int8\": f32 or bf16".into()));
    }
}
