// Characters that are taken for others: letters of one script that look like those of ASCII, and its signs.

const letters = {
  // Cyrillic
  а: "a", в: "b", с: "c", ԁ: "d", е: "e", һ: "h", і: "i", ј: "j", к: "k", ӏ: "l", м: "m", о: "o", р: "p", ԛ: "q", ѕ: "s", т: "t",
  ѵ: "v", ԝ: "w", х: "x", у: "y", А: "A", В: "B", С: "C", Е: "E", Ԍ: "G", Н: "H", І: "I", Ј: "J", К: "K", М: "M", О: "O", Р: "P", Ѕ: "S", Т: "T", Х: "X",
  У: "Y", Ү: "Y", З: "3", Ь: "b", Ԛ: "Q", Ԝ: "W", ё: "e", ї: "i", Ӏ: "l",
  // Greek
  α: "a", β: "b", γ: "y", ε: "e", η: "n", ι: "i", κ: "k", ν: "v", ο: "o", ρ: "p", σ: "o", τ: "t", υ: "u", χ: "x", ω: "w", Α: "A", Β: "B", Ε: "E", Ζ: "Z",
  Η: "H", Ι: "I", Κ: "K", Μ: "M", Ν: "N", Ο: "O", Ρ: "P", Τ: "T", Υ: "Y", Χ: "X", ϲ: "c", ϳ: "j", Ϲ: "C",
  // Armenian, Hebrew, Georgian, Lisu and others
  օ: "o", ո: "n", ս: "u", հ: "h", ց: "g", զ: "q", ա: "w", Տ: "S", Օ: "O", Լ: "L", ו: "l", ן: "l", ס: "o", ა: "s", ყ: "y", ꓐ: "B", ꓑ: "P", ꓓ: "D", ꓔ: "T",
  ꓖ: "G", ꓗ: "K", ꓙ: "J", ꓚ: "C", ꓝ: "F", ꓟ: "M", ꓠ: "N", ꓡ: "L", ꓢ: "S", ꓣ: "R", ꓦ: "V", ꓧ: "H", ꓪ: "W", ꓫ: "X", ꓬ: "Y", ꓮ: "A", ꓰ: "E", ꓲ: "I", ꓳ: "O",
  ꓴ: "U", ꓜ: "Z", Ꭺ: "A", Ᏼ: "B", Ꮯ: "C", Ꭰ: "D", Ꭼ: "E", Ꮐ: "G", Ꮋ: "H", Ꭻ: "J", Ꮶ: "K", Ꮮ: "L", Ꮇ: "M", Ꮲ: "P", Ꮪ: "S", Ꭲ: "T", Ꮩ: "V", Ꮃ: "W", Ꮓ: "Z",
  // Latin that is not of ASCII
  ı: "i", ȷ: "j", ɑ: "a", ɡ: "g", ɩ: "i", ʀ: "R", ʏ: "y", ƅ: "b", ǀ: "|", ǃ: "!", ꜱ: "s", ᴄ: "c", ᴏ: "o", ᴠ: "v", ᴡ: "w", ᴢ: "z", ᴜ: "u", ɪ: "i", ʟ: "L", ɴ: "N",
};

const signs = {
  "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "➖": "-", "ー": "-", "⁃": "-", "˗": "-", "۔": "-", "‘": "'", "’": "'", "‚": ",", "‛": "'", "′": "'", "ʹ": "'", "ʻ": "'",
  "ʼ": "'", "ˈ": "'", "´": "'", "΄": "'", "׳": "'", "ʽ": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"', "ʺ": '"', "״": '"', "ˋ": "`", "‵": "`", "⁄": "/", "∕": "/",
  "⧸": "/", "╱": "/", "⟋": "/", "〳": "/", "∖": "\\", "⧵": "\\", "⧹": "\\", "╲": "\\", "⟍": "\\", "﹨": "\\", "∣": "|", "│": "|", "❘": "|", "ǀ": "|", "׀": "|", "¦": "|",
  "‖": "||", ";": ";", "؛": ";", "⁏": ";", "：": ":", "∶": ":", "꞉": ":", "ː": ":", "˸": ":", "։": ":", "܃": ":", "׃": ":", "․": ".", "܁": ".", "܂": ".", "۰": ".", "٠": ".", "·": ".",
  "‥": "..", "…": "...", "⋯": "...", "，": ",", "،": ",", "٫": ",", "¸": ",", "ꓹ": ",", "‹": "<", "❮": "<", "˂": "<", "›": ">", "❯": ">", "˃": ">", "∗": "*", "⁎": "*", "٭": "*",
  "✱": "*", "∼": "~", "˜": "~", "⁓": "~", "〜": "~", "＆": "&", "ꝸ": "&", "ˆ": "^", "‸": "^", "＄": "$", "＃": "#", "♯": "#", "﹟": "#", "⁺": "+", "᛭": "+", "➕": "+", "═": "=", "᐀": "=",
  "꓿": "=", "゠": "=", "❨": "(", "❲": "(", "〔": "(", "❩": ")", "❳": ")", "〕": ")", "❴": "{", "❵": "}", "⟦": "[", "⟧": "]", "⁅": "[", "⁆": "]", "ǃ": "!", "ⵑ": "!", "‼": "!!", "ʔ": "?",
  "ॽ": "?", "‗": "_", "ߺ": "_", "﹍": "_", "％": "%", "٪": "%", "⁒": "%", "߀": "0", "०": "0", "০": "0", "๐": "0", "〇": "0",
};

/** standsFor is what of ASCII a character looks like; "" if nothing. */
export function standsFor(char) {
  if (char.codePointAt(0) < 0x80) return "";
  const own = letters[char] ?? signs[char];
  if (own) return own;
  const plain = char.normalize("NFKC"); // fullwidth forms, mathematical letters, ligatures
  return plain !== char && /^[\x21-\x7e]+$/.test(plain) ? plain : "";
}

/**
 * deceives reports whether a character of a word is likely to be taken for another: one that looks like ASCII, unless the
 * word is plainly of another script. Such a word has no letter of ASCII, and one that looks like none.
 */
export function deceives(char, word) {
  if (!standsFor(char)) return false;
  if (!/\p{L}/u.test(char) || /^\p{Script=Latin}$/u.test(char) || /[a-z]/i.test(word)) return true;
  return [...word].every((c) => standsFor(c) !== "" || !/\p{L}/u.test(c));
}
