package programs

import (
	"strconv"
	"strings"
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

// letters says that a set of tr may hold a letter, a digit, or what stands within words.
func letters(set string) bool {
	for _, class := range [...]string{"[:space:]", "[:blank:]", "[:cntrl:]", "[:punct:]"} {
		set = strings.ReplaceAll(set, class, "")
	}
	for i := 0; i < len(set); i++ {
		b := set[i]
		if b == '\\' && i+1 < len(set) {
			i++
			if strings.IndexByte(`abfnrtv\`, set[i]) >= 0 {
				continue
			}
			end := i
			for end < len(set) && end < i+3 && set[end] >= '0' && set[end] <= '7' {
				end++
			}
			if v, err := strconv.ParseUint(set[i:end], 8, 64); err == nil {
				b, i = byte(v), end-1
			} else {
				b = set[i]
			}
		}
		if b == '-' || b >= 0x80 || strings.IndexByte(identifier, b) >= 0 {
			return true
		}
	}
	return false
}
