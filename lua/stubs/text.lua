---@meta
text = {}

---Cuts blanks at both ends.
---@param s string
---@return string
function text.trim(s) end

---Cuts blanks at the start.
---@param s string
---@return string
function text.ltrim(s) end

---Cuts blanks at the end.
---@param s string
---@return string
function text.rtrim(s) end

---The pieces between separators (plain text, no pattern), at most `max` of them.
---@param s string
---@param separator string
---@param max? integer
---@return string[]
function text.split(s, separator, max) end

---The lines, without their ends.
---@param s string
---@return string[]
function text.lines(s) end

---The pieces between blanks.
---@param s string
---@return string[]
function text.words(s) end

---The characters.
---@param s string
---@return string[]
function text.chars(s) end

---Joins texts, numbers and booleans.
---@param list (string|number|boolean)[]
---@param separator? string
---@return string
function text.join(list, separator) end

---Whether it starts with a text.
---@param s string
---@param prefix string
---@return boolean
function text.starts_with(s, prefix) end

---Whether it ends with a text.
---@param s string
---@param suffix string
---@return boolean
function text.ends_with(s, suffix) end

---Whether a text is in it (plain, no pattern).
---@param s string
---@param part string
---@return boolean
function text.contains(s, part) end

---How often a text is in it.
---@param s string
---@param part string
---@return integer
function text.count(s, part) end

---Replaces a text (plain, no pattern), at most `max` times.
---@param s string
---@param old string
---@param new string
---@param max? integer
---@return string
function text.replace(s, old, new, max) end

---Whether it is nil, empty or only blanks.
---@param s? string
---@return boolean
function text.is_blank(s) end

---How many characters it has.
---@param s string
---@return integer
function text.len(s) end

---Characters `from` to `to`, negative ones counted from the end.
---@param s string
---@param from integer
---@param to? integer
---@return string
function text.sub(s, from, to) end

---In upper case, any alphabet.
---@param s string
---@return string
function text.upper(s) end

---In lower case, any alphabet.
---@param s string
---@return string
function text.lower(s) end

---Each Word With A Capital.
---@param s string
---@return string
function text.title(s) end

---A name for URLs and files: "Crème Brûlée!" is "creme-brulee".
---@param s string
---@param separator? string
---@return string
function text.slug(s, separator) end

---At most n characters, the ellipsis among them.
---@param s string
---@param n integer
---@param ellipsis? string "…" without it
---@return string
function text.truncate(s, n, ellipsis) end

---Fills up at the left to a width in characters.
---@param s string|number
---@param width integer
---@param fill? string
---@return string
function text.pad_left(s, width, fill) end

---Fills up at the right to a width in characters.
---@param s string|number
---@param width integer
---@param fill? string
---@return string
function text.pad_right(s, width, fill) end

---Breaks lines at blanks (72 characters without a width).
---@param s string
---@param width? integer
---@return string
function text.wrap(s, width) end

---Puts a prefix, or so many spaces (2 without it), before each line that is not blank.
---@param s string
---@param prefix? string|integer
---@return string
function text.indent(s, prefix) end

---A number for reading: text.number(1234567.891, 2) is "1,234,567.89".
---@param x number|string
---@param digits? integer
---@param separator? string "," without it
---@return string
function text.number(x, digits, separator) end

---Safe in HTML content and quoted attributes.
---@param s string
---@return string
function text.escape_html(s) end

---The way back, with the common named and all numeric references.
---@param s string
---@return string
function text.unescape_html(s) end
