//! Patterns of Lua, and what replaces their matches.

use super::Generator;

impl Generator {
    /// A pattern as a Lua literal; rarely a broken one.
    pub(super) fn pattern(&mut self) -> String {
        if self.wild_one_in > 0 && self.chance.one_in(25) {
            return self
                .chance
                .pick(&[
                    "\"[a\"", "\"%\"", "\"(\"", "\")\"", "\"%1\"", "\"%b\"", "\"%f\"", "\"(()\"", "\"[]\"",
                    "\"[^\"",
                ])
                .to_owned();
        }
        let mut text = String::new();
        let mut captures = 0;
        if self.chance.one_in(6) {
            text.push('^');
        }
        for _ in 0..=self.chance.below(4) {
            match self.chance.below(14) {
                0 => {
                    text.push_str("()");
                    captures += 1;
                }
                1 | 2 => {
                    let inside = self.single();
                    let times = self.times();
                    text.push_str(&format!("({inside}{times})"));
                    captures += 1;
                }
                3 => text.push_str(self.chance.pick(&["%b()", "%b[]", "%bxy"])),
                4 => text.push_str(self.chance.pick(&["%f[%w]", "%f[%s]", "%f[^%w]", "%f[%z]", "%f[\\0]"])),
                5 if captures > 0 => text.push_str(&format!("%{}", 1 + self.chance.below(captures))),
                _ => {
                    let single = self.single();
                    text.push_str(&single);
                    text.push_str(self.times());
                }
            }
        }
        if self.chance.one_in(6) {
            text.push('$');
        }
        format!("\"{text}\"")
    }

    fn single(&mut self) -> String {
        match self.chance.below(4) {
            0 => self.chance.pick(&["a", "b", "l", "o", "x", "1", " ", ",", "=", "e"]).to_owned(),
            1 => self
                .chance
                .pick(&[
                    "[abc]",
                    "[^abc]",
                    "[a-f]",
                    "[%a_]",
                    "[^%s]",
                    "[]]",
                    "[^]]",
                    "[%]x]",
                    "[0-9%.]",
                    "[a-]",
                    "[\\128-\\255]",
                    "[%w%-]",
                ])
                .to_owned(),
            _ => self
                .chance
                .pick(&[
                    ".", "%a", "%d", "%s", "%w", "%p", "%u", "%l", "%x", "%c", "%g", "%A", "%D", "%S", "%W",
                    "%.", "%%", "%-",
                ])
                .to_owned(),
        }
    }

    fn times(&mut self) -> &'static str {
        self.chance.pick(&["", "", "", "*", "+", "-", "?"])
    }

    /// The third argument of gsub.
    pub(super) fn replacement(&mut self) -> String {
        match self.chance.below(9) {
            0 => "\"<%0>\"".to_owned(),
            1 => "\"\"".to_owned(),
            2 => "\"%%\"".to_owned(),
            3 => "{ a = \"A\", hello = 1, x = false, [\"1\"] = 2.5 }".to_owned(),
            4 => "function(m, n) tick() return n and tostring(n) .. \"|\" or nil end".to_owned(),
            5 => "function(m) tick() if m == \"a\" then return false end return type(m) end".to_owned(),
            6 => "string.upper".to_owned(),
            7 if self.wild_one_in > 0 => {
                self.chance.pick(&["\"%2\"", "\"%\"", "true", "print", "\"%x\""]).to_owned()
            }
            8 if self.taste.tools && !self.in_coroutine => {
                "function(m) tick() return weigh(#tostring(m)) end".to_owned()
            }
            _ => self.chance.between(0, 9).to_string(),
        }
    }
}
