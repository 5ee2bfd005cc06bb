//! Networks that are read together.

use std::ops::Range;

use candle_core::{Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use rayon::prelude::*;

use super::network::{Network, Sizes};
use crate::rows::Inputs;
use crate::sequence::Parameter;

/// Networks of the same sizes that began with other weights. The mean of their log-odds is to leave out what each has learnt by chance;
/// three of them gained nothing over the one that ships (the card of `pericope-weights-topic`).
#[derive(Debug, Clone)]
pub(crate) struct Ensemble {
    members: Vec<Network>,
}

/// What stands before the names of a member's tensors; nothing for the first, as in models of one network.
fn prefix(member: usize) -> String {
    if member == 0 { String::new() } else { format!("member.{member}.") }
}

/// The tensors of a member.
struct Member<'a> {
    of: &'a dyn Tensors,
    prefix: String,
}

impl Tensors for Member<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> std::result::Result<Tensor, ModelError> {
        self.of.tensor(&format!("{}{name}", self.prefix), shape, device)
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.of.unusable(reason)
    }
}

impl Ensemble {
    /// The parameters of all members, as they are before training.
    pub(crate) fn parameters(sizes: &Sizes) -> Vec<Parameter> {
        let own = |member| {
            let named = move |one: Parameter| Parameter { name: format!("{}{}", prefix(member), one.name), ..one };
            Network::parameters(sizes).into_iter().map(named)
        };
        (0..sizes.members).flat_map(own).collect()
    }

    pub(crate) fn new(of: &dyn Tensors, sizes: &Sizes, device: &Device) -> std::result::Result<Self, ModelError> {
        let member = |member| Network::new(&Member { of, prefix: prefix(member) }, sizes, device);
        Ok(Self { members: (0..sizes.members).map(member).collect::<std::result::Result<_, _>>()? })
    }

    /// The networks.
    pub(crate) fn members(&self) -> &[Network] {
        &self.members
    }

    /// The mean of the members' log-odds, as [`Network::read`] gives them.
    pub(crate) fn read(&self, parts: &[(&Inputs, Range<usize>)], device: &Device) -> Result<Tensor> {
        let read = |network: &Network| network.read(parts, device, &mut Ok);
        let found = self.members.par_iter().map(read).collect::<Result<Vec<_>>>()?;
        match found.as_slice() {
            [alone] => Ok(alone.clone()),
            all => Tensor::stack(all, 0)?.mean(0),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::Device;
    use pericope_api::Document;

    use super::Ensemble;
    use crate::rows::Inputs;
    use crate::sequence::Parameters;
    use crate::topic::Sizes;

    #[test]
    fn log_odds_are_the_mean_of_the_members() {
        let sizes =
            Sizes { input: 2, projection: 6, hidden: 3, layers: 1, head: 4, cue: 0, members: 3, ..Sizes::default() };
        let parameters = Parameters::new(&Ensemble::parameters(&sizes), 7, &Device::Cpu).unwrap();
        let all = Ensemble::new(&parameters, &sizes, &Device::Cpu).unwrap();
        let texts = ["Ships sail far.", "A mast holds sails.", "Bread rises.", "Rye bread needs salt."];
        let vectors = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.6, 0.8];
        let inputs = Inputs::new(&Document::from_sentences("d", &texts), &vectors, 2).unwrap();
        let parts = [(&inputs, 0..4)];
        let together = all.read(&parts, &Device::Cpu).unwrap().to_vec2::<f32>().unwrap().concat();
        let each: Vec<Vec<f32>> = (all.members().iter())
            .map(|one| one.read(&parts, &Device::Cpu, &mut Ok).unwrap().to_vec2().unwrap().concat())
            .collect();
        assert!(each[0] != each[1] && each[1] != each[2]);
        for gap in 0..3 {
            let mean = each.iter().map(|one| one[gap]).sum::<f32>() / 3.0;
            assert!((together[gap] - mean).abs() < 1e-6, "{gap}");
        }
        // The first is what a model of one network has.
        let sizes = Sizes { members: 1, ..sizes };
        let alone = Ensemble::new(&parameters, &sizes, &Device::Cpu).unwrap();
        assert_eq!(alone.read(&parts, &Device::Cpu).unwrap().to_vec2::<f32>().unwrap().concat(), each[0]);
    }
}
