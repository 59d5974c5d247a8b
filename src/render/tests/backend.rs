use super::*;

#[test]
fn windows_gets_dx12_unless_another_backend_is_asked_for() {
    let bevys = Some(Backends::all());
    assert_eq!(choose(None, true, bevys), Some(Backends::DX12));
    assert_eq!(
        choose(Some(Backends::VULKAN), true, bevys),
        Some(Backends::VULKAN)
    );
    assert_eq!(choose(None, false, bevys), bevys);
    assert_eq!(choose(Some(Backends::GL), false, bevys), Some(Backends::GL));
}
