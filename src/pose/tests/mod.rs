use super::*;

#[test]
fn a_recycled_list_keeps_its_memory() {
    let mut list: Vec<&mut [u8]> = Vec::with_capacity(7);
    list.push(&mut []);
    let memory = list.as_ptr().addr();
    let list: Vec<&mut [u8]> = recycle(list);
    assert_eq!(
        (list.len(), list.capacity(), list.as_ptr().addr()),
        (0, 7, memory)
    );
}
