use super::*;

#[test]
fn a_label_ends_behind_its_colon() {
    let mut lexer = Lexer::new(b" Pos:1 #Keyframes: 2 Bone0{ :: (");
    let labels = std::iter::from_fn(|| {
        let label = lexer.label();
        (!label.is_empty() || lexer.eat(b'{')).then_some(label)
    });
    let text: Vec<_> = labels
        .map(|l| String::from_utf8_lossy(l).into_owned())
        .collect();
    assert_eq!(
        text,
        ["Pos:", "1", "#Keyframes:", "2", "Bone0", "", ":", ":"]
    );
}

#[test]
fn a_comment_mark_inside_quotes_is_text() {
    let mut lexer = Lexer::with_comments(b"shader \"//bope.tga\" // yes\r\nnext");
    assert!(lexer.eat_word(b"shader"));
    assert_eq!(lexer.quoted(), Ok(&b"//bope.tga"[..]));
    assert!(lexer.eat_word(b"next"));
    assert_eq!(lexer.next_token().kind, TokenKind::End);
}

#[test]
fn comments_are_skipped_wherever_white_space_is() {
    let words = |source: &'static [u8]| {
        let mut lexer = Lexer::with_comments(source);
        std::iter::from_fn(move || match lexer.next_token().kind {
            TokenKind::Word(word) => Some(std::str::from_utf8(word).unwrap()),
            TokenKind::Punctuation(_) => Some("()"),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(words(b"a /* b\n * // c */ d // e /* f\ng"), ["a", "d", "g"]);
    assert_eq!(words(b"/**//***//* */a/*/ b"), ["a/*/", "b"]);
    assert_eq!(words(b"(/* x */)// y"), ["()", "()"]);
    assert_eq!(words(b"a /*/ b"), ["a", "b"]);
    assert_eq!(words(b"a /* b"), ["a"]);
    assert_eq!(words(b"a /*"), ["a"]);
    assert_eq!(words(b"a /"), ["a", "/"]);
    let mut lexer = Lexer::with_comments(b"10// ten\n-3/* three */ 0.5/**/ 7 /* */ 8");
    assert_eq!(
        (
            lexer.u32(),
            lexer.i32(),
            lexer.f32(),
            lexer.u32(),
            lexer.u32()
        ),
        (Ok(10), Ok(-3), Ok(0.5), Ok(7), Ok(8))
    );
    assert!(Lexer::new(b"10// ten").u32().is_err());
}

#[test]
fn strings_have_any_quotes_or_none() {
    let strings = |source: &'static str| {
        let mut lexer = Lexer::with_comments(source.as_bytes());
        let string =
            |lexer: &mut Lexer| Some(String::from_utf8_lossy(lexer.string().ok()?).into_owned());
        std::iter::from_fn(|| string(&mut lexer)).collect::<Vec<_>>()
    };
    assert_eq!(
        strings("\"a b\" 'c \"d' e_1 /* f */ _g models/h '' -1"),
        ["a b", "c \"d", "e_1", "_g", "models/h", ""]
    );
    for source in ["'open\n'", "1", "{", "", "-a"] {
        assert!(strings(source).is_empty(), "{source}");
    }
}

#[test]
fn a_quote_that_never_closes_ends_with_its_line() {
    let mut lexer = Lexer::new(b"\"open\r\nnext");
    assert_eq!(lexer.quoted(), Ok(&b"open"[..]));
    assert!(lexer.eat_word(b"next"));
}
