//! Puts copied text on the system clipboard.
//!
//! bevy_egui's own feature for this, `manage_clipboard`, pulls in the Wayland libraries.

use bevy::{prelude::*, window::RawHandleWrapper};
use bevy_egui::{EguiOutput, egui};

/// Kept open after copying: on X11 the owner of the clipboard serves its contents.
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
        self.open
            .insert(open)
            .set_text(text)
            .map_err(|error| error.to_string())
    }

    #[cfg(windows)]
    fn put(&mut self, text: &str) -> Result<(), String> {
        clipboard_win::set_clipboard_string(text).map_err(|error| error.to_string())
    }

    #[cfg(target_arch = "wasm32")]
    fn put(&mut self, text: &str) -> Result<(), String> {
        // The browser answers later, and shows a message of its own if it refuses.
        let window = web_sys::window().ok_or("there is no window")?;
        let _ = window.navigator().clipboard().write_text(text);
        Ok(())
    }

    #[cfg(not(any(windows, target_arch = "wasm32", all(unix, not(target_os = "android")))))]
    fn put(&mut self, _: &str) -> Result<(), String> {
        Err("not supported on this platform".into())
    }
}

/// Copies what egui asks for to the clipboard, or logs it where that fails.
///
/// Does nothing without a window on screen, so that tests leave the clipboard alone.
pub(super) fn copy_to_clipboard(
    mut clipboard: Local<SystemClipboard>,
    outputs: Query<&EguiOutput>,
    windows: Query<(), With<RawHandleWrapper>>,
) {
    let commands = outputs
        .iter()
        .flat_map(|output| &output.platform_output.commands);
    for command in commands {
        let egui::OutputCommand::CopyText(text) = command else {
            continue;
        };
        if windows.is_empty() || text.is_empty() {
            continue;
        }
        if let Err(error) = clipboard.put(text) {
            warn!("cannot access the clipboard: {error}\n{text}");
        }
    }
}

/// A note that briefly confirms a copy.
#[derive(Default)]
pub(super) struct CopyNote {
    until: f64,
}

impl CopyNote {
    /// Shows the note near the panel's lower edge if something was copied recently.
    pub(super) fn show(&mut self, ctx: &egui::Context, panel: egui::Rect) {
        const SECONDS: f64 = 1.2;
        let now = ctx.input(|input| input.time);
        let copies =
            |command: &egui::OutputCommand| matches!(command, egui::OutputCommand::CopyText(_));
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
            .show(ctx, |ui| {
                egui::Frame::popup(ui.style()).show(ui, |ui| ui.label("copied"))
            });
    }
}
