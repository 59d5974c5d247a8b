//! The way of copied text to the system's clipboard.
//!
//! bevy_egui has one too, behind its feature `manage_clipboard`, which brings Wayland's libraries along.

use bevy::{prelude::*, window::RawHandleWrapper};
use bevy_egui::{EguiOutput, egui};

/// The clipboard while texts of ours may be asked for: under X11 the owner hands them out.
#[derive(Default)]
pub(super) struct SystemClipboard {
    #[cfg(all(unix, not(target_os = "android")))]
    open: Option<arboard::Clipboard>,
}

impl SystemClipboard {
    #[cfg(all(unix, not(target_os = "android")))]
    fn put(&mut self, text: &str) -> Result<(), String> {
        let open = match self.open.take() {
            Some(open) => open,
            None => arboard::Clipboard::new().map_err(|error| error.to_string())?,
        };
        self.open.insert(open).set_text(text).map_err(|error| error.to_string())
    }

    #[cfg(windows)]
    fn put(&mut self, text: &str) -> Result<(), String> {
        clipboard_win::set_clipboard_string(text).map_err(|error| error.to_string())
    }

    #[cfg(not(any(windows, all(unix, not(target_os = "android")))))]
    fn put(&mut self, _: &str) -> Result<(), String> {
        Err("there is none on this platform".into())
    }
}

/// Hands over what egui was told to copy; where there is no clipboard, to the log.
///
/// Without a window on screen nothing is handed over: tests leave the clipboard alone.
pub(super) fn hand_over(
    mut clipboard: Local<SystemClipboard>,
    outputs: Query<&EguiOutput>,
    windows: Query<(), With<RawHandleWrapper>>,
) {
    let commands = outputs.iter().flat_map(|output| &output.platform_output.commands);
    for command in commands {
        let egui::OutputCommand::CopyText(text) = command else { continue };
        if windows.is_empty() || text.is_empty() {
            continue;
        }
        if let Err(error) = clipboard.put(text) {
            warn!("the clipboard cannot be reached ({error}). What was to be copied:\n{text}");
        }
    }
}

/// Says for a moment that something was copied.
#[derive(Default)]
pub(super) struct CopyNote {
    until: f64,
}

impl CopyNote {
    /// Looks at what the frame copied, and shows the note over the panel's lower edge.
    pub(super) fn show(&mut self, ctx: &egui::Context, panel: egui::Rect) {
        const SECONDS: f64 = 1.2;
        let now = ctx.input(|input| input.time);
        let copies = |command: &egui::OutputCommand| matches!(command, egui::OutputCommand::CopyText(_));
        if ctx.output(|output| output.commands.iter().any(copies)) {
            self.until = now + SECONDS;
        }
        if now >= self.until {
            return;
        }
        ctx.request_repaint();
        let at = panel.center_bottom() - egui::vec2(0.0, 12.0);
        egui::Area::new("marionette_copied".into())
            .fixed_pos(at)
            .pivot(egui::Align2::CENTER_BOTTOM)
            .interactable(false)
            .order(egui::Order::Tooltip)
            .show(ctx, |ui| egui::Frame::popup(ui.style()).show(ui, |ui| ui.label("copied")));
    }
}
