//! Speeds that states name and the game sets.

use super::{StateRuns, StatesError};
use crate::{
    controller::AnimationController,
    model::{MachineLayer, Speed},
    spelling::nearest,
};
use std::sync::Arc;

impl AnimationController {
    /// Sets a speed that states name, such as `"pace"` in `speed: "pace"`. From now on, they play at this speed: those that
    /// are entered, and the present one. 1 is the clip's own speed, and a negative one is backward.
    ///
    /// It takes effect at once, and multiplies with the one of [`set_speed`](Self::set_speed).
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, internals::model::StateLayers, model::State};
    /// # use std::sync::Arc;
    /// let states = [("walk".to_owned(), State::playing("walk").speed("pace").start())].into();
    /// let mut controller = AnimationController::default();
    /// # controller.set_states(&Arc::new(StateLayers::new(&states, &Default::default()).unwrap()), 0);
    /// controller.set_state_speed("pace", 1.5)?;
    /// assert_eq!(controller.speed(), 1.5);
    /// let error = controller.set_state_speed("pcae", 1.5).unwrap_err();
    /// assert_eq!(error.to_string(), "no state has the speed `pcae`; did you mean `pace`?");
    /// # Ok::<(), bevy_marionette::controller::StatesError>(())
    /// ```
    ///
    /// # Errors
    /// If no state names it, or it isn't a finite number. Then nothing changes.
    pub fn set_state_speed(&mut self, name: &str, speed: f64) -> Result<(), StatesError> {
        if !speed.is_finite() {
            return Err(StatesError::SpeedNotFinite(speed));
        }
        let states = self.extras.states_mut();
        let at = states.as_ref().and_then(|states| states.speed_index(name));
        let (Some(states), Some(at)) = (states, at) else {
            let states = self.extras.states.as_ref();
            let known = states.iter().flat_map(|states| states.layers.speeds());
            let nearest = nearest(name, known).map(str::to_owned);
            return Err(StatesError::UnknownSpeed(name.to_owned(), nearest));
        };
        if states.speeds[at] == speed {
            return Ok(());
        }
        states.speeds[at] = speed;
        let layers: Arc<_> = states.layers.clone();
        for (at, MachineLayer { machine, mask, .. }) in layers.layers().iter().enumerate() {
            let state = machine.states().get(self.state_index(at));
            if !state
                .is_some_and(|state| matches!(&state.speed, Speed::Named(other) if other == name))
            {
                continue;
            }
            let states = self.extras.states.as_ref();
            let run = states.and_then(|states| states.runs.get(at));
            let track = run.filter(|run| !run.replaced).and_then(|run| run.track);
            let whole = match mask {
                None => self.extras.playback.speed,
                Some(_) => 1.0,
            };
            if let Some(track) = track.and_then(|track| self.track_mut(track)) {
                track.speed = whole * speed;
            }
        }
        Ok(())
    }

    /// The speed of the present state of the whole body, if what it plays is current, or 1.
    pub(in crate::controller) fn speed_of_current_state(&self) -> f64 {
        let Some(states) = self.extras.states.as_deref() else {
            return 1.0;
        };
        let current = self.extras.playback.current;
        let layer = current.and_then(|track| states.layer_of(track));
        let layer = layer.filter(|layer| !states.runs[*layer].replaced);
        layer.map_or(1.0, |layer| states.speed_of(layer))
    }
}

impl StateRuns {
    fn speed_index(&self, name: &str) -> Option<usize> {
        self.layers.speeds().position(|speed| speed == name)
    }

    pub(super) fn speed(&self, name: &str) -> Option<f64> {
        self.speeds.get(self.speed_index(name)?).copied()
    }

    /// The speed of a layer's present state.
    pub(super) fn speed_of(&self, layer: usize) -> f64 {
        let machine = self.layers.layers().get(layer).map(|layer| &layer.machine);
        let run = self.runs.get(layer);
        let state = machine
            .zip(run)
            .and_then(|(machine, run)| machine.states().get(run.state));
        match state.map(|state| &state.speed) {
            Some(Speed::Fixed(speed)) => *speed,
            Some(Speed::Named(name)) => self.speed(name).unwrap_or(1.0),
            None => 1.0,
        }
    }
}
