// Characters that are taken for others: letters of one script that look like those of ASCII, and its signs.

// Each is a character and what it looks like: Cyrillic, Greek, Armenian, Hebrew, Georgian, Lisu, Cherokee, other Latin, and signs.
const pairs = `
  аa вb сc ԁd еe һh іi јj кk ӏl мm оo рp ԛq ѕs тt ѵv ԝw хx уy АA ВB СC ЕE ԌG НH ІI ЈJ КK МM ОO РP ЅS ТT ХX УY ҮY З3 Ьb
  ԚQ ԜW ёe їi Ӏl
  αa βb γy εe ηn ιi κk νv οo ρp σo τt υu χx ωw ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϲc ϳj ϹC
  օo ոn սu հh ցg զq աw ՏS ՕO ԼL וl ןl סo აs ყy ꓐB ꓑP ꓓD ꓔT ꓖG ꓗK ꓙJ ꓚC ꓝF ꓟM ꓠN ꓡL ꓢS ꓣR ꓦV ꓧH ꓪW ꓫX ꓬY ꓮA ꓰE ꓲI ꓳO ꓴU
  ꓜZ ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH ᎫJ ᏦK ᏞL ᎷM ᏢP ᏚS ᎢT ᏙV ᎳW ᏃZ
  ıi ȷj ɑa ɡg ɩi ʀR ʏy ƅb ǀ| ǃ! ꜱs ᴄc ᴏo ᴠv ᴡw ᴢz ᴜu ɪi ʟL ɴN
  ‐- ‑- ‒- –- —- ―- −- ➖- ー- ⁃- ˗- ۔- ‘' ’' ‚, ‛' ′' ʹ' ʻ' ʼ' ˈ' ´' ΄' ׳' ʽ' “" ”" „" ‟" ″" ʺ" ״" ˋ\` ‵\` ⁄/ ∕/ ⧸/ ╱/ ⟋/
  〳/ ∖\\ ⧵\\ ⧹\\ ╲\\ ⟍\\ ﹨\\ ∣| │| ❘| ǀ| ׀| ¦| ‖|| ;; ؛; ⁏; ：: ∶: ꞉: ː: ˸: ։: ܃: ׃: ․. ܁. ܂. ۰. ٠. ·. ‥.. …... ⋯... ，, ،, ٫,
  ¸, ꓹ, ‹< ❮< ˂< ›> ❯> ˃> ∗* ⁎* ٭* ✱* ∼~ ˜~ ⁓~ 〜~ ＆& ꝸ& ˆ^ ‸^ ＄$ ＃# ♯# ﹟# ⁺+ ᛭+ ➕+ ═= ᐀= ꓿= ゠= ❨( ❲( 〔( ❩) ❳) 〕) ❴{ ❵}
  ⟦[ ⟧] ⁅[ ⁆] ǃ! ⵑ! ‼!! ʔ? ॽ? ‗_ ߺ_ ﹍_ ％% ٪% ⁒% ߀0 ०0 ০0 ๐0 〇0
`;

const like = new Map(
  pairs
    .trim()
    .split(/\s+/)
    .map((pair) => [...pair])
    .map(([char, ...ascii]) => [char, ascii.join("")]),
);

/** standsFor is what of ASCII a character looks like; "" if nothing. */
export function standsFor(char) {
  if (char.codePointAt(0) < 0x80) return "";
  const own = like.get(char);
  if (own) return own;
  const plain = char.normalize("NFKC"); // fullwidth forms, mathematical letters, ligatures
  return plain !== char && /^[\x21-\x7e]+$/.test(plain) ? plain : "";
}

/** isForeign reports whether a word is plainly of another script: it has no letter of ASCII, and one that looks like none. */
export function isForeign(word) {
  if (/[a-z]/i.test(word)) return false;
  for (const c of word) if (/\p{L}/u.test(c) && !standsFor(c)) return true;
  return false;
}

/** deceives reports whether a character is likely to be taken for one of ASCII. foreign says that of the word it stands in. */
export function deceives(char, foreign) {
  if (!standsFor(char)) return false;
  return !foreign || !/\p{L}/u.test(char) || /\p{Script=Latin}/u.test(char);
}
