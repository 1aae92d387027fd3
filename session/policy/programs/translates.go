package programs

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// translates: where tr maps letters or digits, nobody finds secrets in what it writes. Upper and lower case is no such thing.
func translates(c *call) {
	if len(c.ops) == 0 {
		return
	}
	cases := "a-z A-Z [a-z] [A-Z] [:upper:] [:lower:]"
	if len(c.ops) == 2 && c.ops[0].certain() && c.ops[1].certain() && listed(cases, c.ops[0].Text) && listed(cases, c.ops[1].Text) && !c.has("-c", "-d") {
		return
	}
	if c.has("-c") && c.has("-d") {
		return // what is left stands as it was
	}
	if !c.ops[0].certain() || c.has("-c") || letters(c.ops[0].Text) {
		c.say(recode, "maps letters")
	}
}

// noLetters is what names blanks, controls and signs in a set of tr.
var noLetters = lazyregexp.New(`\[:(?:space|blank|cntrl|punct):\]|\\(?:[abfnrtv\\]|13[3-6]|140|17[3-7]|0?(?:4[0-7]|5[0-467]|7[2-7]|[0-3]?[0-7]))`)

// letters says that a set of tr may hold a letter, a digit, or what stands within words.
func letters(set string) bool {
	return strings.ContainsFunc(noLetters.ReplaceAllString(set, ""), func(r rune) bool { return r >= 0x80 || strings.ContainsRune(identifier+"-", r) })
}
