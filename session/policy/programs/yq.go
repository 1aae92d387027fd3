package programs

import "strings"

// yq's expressions are read like jq's, and for what only the yq written in Go has: it takes one behind the name of a subcommand, too.
func yq(c *call) {
	for i, a := range c.ops[:min(2, len(c.ops))] {
		if !a.certain() {
			continue
		}
		switch a.Text {
		case "e", "eval", "ea", "eval-all":
			if i == 0 {
				continue
			}
		}
		jqText(c, a)
		if first := c.ops[0].Text; (i == 0 || strings.HasPrefix(first, "e")) && yqReaches(a.Text) {
			c.say(unknown, "has an expression that loads files or shows the environment")
		}
	}
}

// yqReaches reports whether an expression may load a file, run one or show the environment. The yq written in Go takes its words out of
// the text wherever they begin, so that loadstr and notload_str hold one. Fields, variables and plain strings are passed over;
// behind what this and yq could read differently (an escape, a comment, a quote in the middle of a name) all counts.
func yqReaches(s string) bool {
	var rest strings.Builder
	for i := 0; i < len(s); {
		b := s[i]
		switch {
		case b == '.' && (i == 0 || s[i-1] != '.') && i+1 < len(s) && strings.IndexByte(identifier, s[i+1]) >= 0 && strings.IndexByte(digits, s[i+1]) < 0, b == '$' && !strings.HasPrefix(s[i:], "$ENV"):
			i += 1 + spanOf(s[i+1:], identifier+"-")
			rest.WriteByte(' ')
			continue
		case b == '"' && (i == 0 || strings.IndexByte(" ;}{:[],|()=\n!", s[i-1]) >= 0):
			end := strings.IndexAny(s[i+1:], `"\`)
			if end >= 0 && s[i+1+end] == '"' {
				i += end + 2
				rest.WriteByte(' ')
				continue
			}
			rest.WriteString(s[i:])
			i = len(s)
			continue
		case b == '"', b == '#':
			rest.WriteString(s[i:])
			i = len(s)
			continue
		}
		rest.WriteByte(b)
		i++
	}
	code := rest.String()
	for _, word := range []string{"load", "eval", "system", "envsubst", "$ENV", "env(", "env ("} {
		if strings.Contains(code, word) {
			return true
		}
	}
	return false
}

// spanOf returns how many of the first bytes of s are in set.
func spanOf(s, set string) int {
	n := 0
	for n < len(s) && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	return n
}
