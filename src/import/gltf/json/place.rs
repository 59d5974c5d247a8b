//! The path of a value in a document, for messages.

/// Returns the path of the value at an offset of a document, such as `nodes[3].mesh`; empty at the top.
pub(in super::super) fn place_at(json: &str, offset: usize) -> String {
    /// The place of a value in its parent: the number of those before it in a list, or its name in
    /// an object.
    enum Step<'a> {
        Item(usize),
        Name(&'a str),
    }
    // Deeper nesting would take memory, and no character needs it.
    const DEEPEST: usize = 16;
    let bytes = &json.as_bytes()[..offset.min(json.len())];
    let (mut steps, mut deeper): (Vec<Step>, usize) = (Vec::new(), 0);
    let (mut at, mut is_name) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            // The error is in the list itself.
            b'[' if at == bytes.len() => {}
            b'{' | b'[' if steps.len() == DEEPEST => deeper += 1,
            b'}' | b']' if deeper > 0 => deeper -= 1,
            b'{' => {
                steps.push(Step::Name(""));
                is_name = true;
            }
            b'[' => steps.push(Step::Item(0)),
            b'}' | b']' => {
                steps.pop();
                is_name = false;
            }
            b',' if at < bytes.len() && deeper == 0 => match steps.last_mut() {
                Some(Step::Item(item)) => *item += 1,
                _ => is_name = true,
            },
            b'"' => {
                let start = at;
                while bytes.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(Step::Name(name)) = steps.last_mut().filter(|_| is_name && deeper == 0)
                {
                    *name = json.get(start..at).unwrap_or_default();
                    is_name = false;
                }
                at += 1;
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for step in &steps {
        match step {
            Step::Item(item) => path += &format!("[{item}]"),
            Step::Name("") => {}
            Step::Name(name) => {
                path += if path.is_empty() { "" } else { "." };
                path += name;
            }
        }
    }
    path
}

#[cfg(test)]
#[path = "tests/place.rs"]
mod tests;
