#[test]
fn the_command_line_is_well_formed() {
    <super::Cli as clap::CommandFactory>::command().debug_assert();
}
