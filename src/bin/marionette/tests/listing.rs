use super::*;

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
}

fn tree(parents: &[Option<usize>]) -> String {
    let joints: Vec<_> = parents
        .iter()
        .map(|parent| (*parent, "j", some(7)))
        .collect();
    text(|out| write_tree(out, &joints))
}

#[test]
fn trees_have_rails_where_a_branch_goes_on() {
    let joints = [
        (None, "0", 1),
        (Some(0), "1", 0),
        (Some(1), "2", 5),
        (Some(0), "3", 5),
        (Some(3), "4", 5),
        (None, "5", 5),
    ]
    .map(|(parent, name, number)| (parent, name, some(number)));
    let drawn = text(|out| write_tree(out, &joints));
    assert_eq!(
        drawn,
        "  0 (1)\n  ├─ 1 (–)\n  │  └─ 2 (5)\n  └─ 3 (5)\n     └─ 4 (5)\n  5 (5)\n"
    );
}

#[test]
fn every_joint_is_drawn_once_even_in_circles_and_long_chains() {
    assert_eq!(tree(&[Some(1), Some(0), Some(9)]).lines().count(), 3);
    let chain: Vec<Option<usize>> = (0..20_000_usize)
        .map(|joint| joint.checked_sub(1))
        .collect();
    let drawn = tree(&chain);
    assert_eq!(drawn.lines().count(), 20_000);
    assert!(drawn.len() < 8 << 20, "{}", drawn.len());
}

#[test]
fn tables_align() {
    let rows = [["a", "10", ""], ["long", "5", ""]].map(|row| row.map(str::to_owned));
    assert_eq!(
        text(|out| write_table(out, &rows, [false, true, false])),
        "  a      10\n  long    5\n"
    );
}

#[test]
fn a_model_stands_at_0_but_for_rounding() {
    assert_eq!(
        [-1.31e-8, -0.0, -0.00106].map(|y| lowest(y, 1.87)),
        ["0", "0", "-0.00106"]
    );
    assert_eq!(lowest(-1.31e-8, 1e-7), "-1.31e-8");
}
