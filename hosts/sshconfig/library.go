package sshconfig

import (
	"strings"

	"github.com/kevinburke/ssh_config"
)

// bodyLine is a plain directive inside a block.
type bodyLine struct {
	text  string
	index int // into the lines of the file
}

// isPlain reports whether the library reads a line as OpenSSH does: a keyword, blanks or one "=", and a value of
// printable ASCII without quotes, escapes, "#" or a further leading "=".
func isPlain(s string) bool {
	s = strings.TrimLeft(s, " \t")
	i := 0
	for i < len(s) && isAlnum(s[i]) {
		i++
	}
	if i == 0 || i == len(s) {
		return false
	}
	rest := strings.TrimLeft(s[i:], " \t")
	if eq := strings.TrimPrefix(rest, "="); eq != rest {
		rest = strings.TrimLeft(eq, " \t")
	} else if rest == s[i:] {
		return false // no separator
	}
	if rest == "" || rest[0] == '=' {
		return false
	}
	for k := range len(rest) {
		if c := rest[k]; c != '\t' && (c < ' ' || c > '~' || strings.IndexByte(`"'\#`, c) >= 0) {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// decodePlain lets the library decode the plain lines of one block and takes keyword and value from it: nothing else reads them.
func decodePlain(body []bodyLine, lines []line, p *problems) {
	if len(body) == 0 {
		return
	}
	var text strings.Builder
	for _, b := range body {
		text.WriteString(b.text)
		text.WriteByte('\n')
	}
	cfg, err := ssh_config.Decode(strings.NewReader(text.String()))
	if err != nil {
		p.add(&Error{Pos: lines[body[0].index].pos, Msg: "this block cannot be read", Err: err})
		return
	}
	for _, node := range cfg.Hosts[0].Nodes {
		kv, ok := node.(*ssh_config.KV)
		if !ok {
			continue
		}
		l := &lines[body[kv.Pos().Line-1].index]
		l.name, l.key, l.raw, l.args = kv.Key, lower(kv.Key), kv.Value, strings.Fields(kv.Value)
	}
}
