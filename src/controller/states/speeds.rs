//! Speeds that states name and the game sets.

use super::StatesError;
use crate::{
    controller::AnimationController,
    model::{MachineState, Speed},
    spelling::nearest,
};

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
        let states = self.states.as_deref_mut();
        let at = states.as_ref().and_then(|states| states.speed_index(name));
        let (Some(states), Some(at)) = (states, at) else {
            let states = self.states.as_ref();
            let known = states.iter().flat_map(|states| states.layers.speeds());
            let nearest = nearest(name, known).map(str::to_owned);
            return Err(StatesError::UnknownSpeed(name.to_owned(), nearest));
        };
        if states.speeds[at] == speed {
            return Ok(());
        }
        states.speeds[at] = speed;
        let is_named =
            |state: &MachineState| matches!(&state.speed, Speed::Named(other) if other == name);
        for (layer, run) in states.layers.layers().iter().zip(&states.runs) {
            let leader = layer.sync.map_or(run, |leader| &states.runs[leader]);
            let state = layer.machine.states().get(leader.state);
            let whole = match layer.mask {
                None => self.director.speed,
                Some(_) => 1.0,
            };
            if state.is_some_and(is_named)
                && let Some(track) = run.track.filter(|_| !run.replaced)
                && let Some(track) = self.tracks.of_mut(track)
            {
                track.speed = whole * speed;
            }
        }
        self.change();
        Ok(())
    }
}
