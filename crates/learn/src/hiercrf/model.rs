use candle_core::Device;
use pericope_encode::{ModelError, short};

use super::checkpoint::{Checkpoint, Settings};
use super::network::Network;
use pericope_encode::encoders::Tensors;

/// A trained HierCRF.
pub struct HierCrf {
    network: Network,
    settings: Settings,
    device: Device,
    fingerprint: String,
}

impl HierCrf {
    /// Builds the model of a checkpoint.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor, where settings or shapes do not fit.
    pub fn load(checkpoint: &Checkpoint, device: &Device) -> Result<Self, ModelError> {
        let settings = checkpoint.settings.clone();
        settings.check().map_err(|reason| checkpoint.unusable(reason))?;
        let network = Network::new(checkpoint, &settings, device)?;
        let fingerprint = format!("hiercrf:{}", short(checkpoint.sha256()));
        Ok(Self { network, settings, device: device.clone(), fingerprint })
    }

    /// A model in training.
    pub(crate) fn of(network: Network, settings: Settings, device: &Device) -> Self {
        Self { network, settings, device: device.clone(), fingerprint: String::new() }
    }

    /// The settings that it was trained with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Names the weights.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }
}
