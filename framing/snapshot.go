package framing

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// State is what a shell that replaces another one can be given of it, besides the directory. Functions, aliases and
// options are no part of it: they are how a shell is made to lie.
type State struct {
	Umask string            // octal digits
	Vars  map[string]string // exported variables
}

// SnapshotScript is a script that prints a shell's [State]. It starts no process.
func SnapshotScript(d Dialect) string { return hostcode.Fill(snapshotText(), "builtin", d.builtin()) }

// ParseState reads what [SnapshotScript] has printed. ok is false where that is no such thing.
func ParseState(text string) (st State, ok bool) {
	mask, rest, found := strings.Cut(text, "\n")
	if _, err := strconv.ParseUint(mask, 8, 16); err != nil || !found {
		return st, false
	}
	st = State{Umask: mask, Vars: map[string]string{}}
	w := words{s: rest}
	for w.s != "" {
		// "declare -x A=1", "export A='1'", "typeset -x A": words up to the name, and a name without a value exports nothing.
		// zsh ties some to a list: "export -T PATH path=( /bin /usr/bin )".
		var before string
		for !w.lineEnds() {
			raw := w.s
			word, ok := w.next()
			if !ok {
				return st, false
			}
			raw = raw[:len(raw)-len(w.s)]
			name, value, assigned := strings.Cut(word, "=")
			switch {
			case assigned && value == "(" && strings.HasSuffix(raw, "=(") && before != "": // a quoted one is a value
				list, ok := w.list()
				if !ok {
					return st, false
				}
				st.Vars[before] = strings.Join(list, ":")
			case assigned && isVariable(word):
				st.Vars[name] = value
			case !assigned && isVariable(word+"="):
				before = word
			}
		}
	}
	return st, true
}

// words reads shell words as the builtins of the dialects quote them.
type words struct{ s string }

// lineEnds skips blanks, and the end of the line if that is next.
func (w *words) lineEnds() bool {
	w.s = strings.TrimLeft(w.s, " ")
	if w.s == "" {
		return true
	}
	if w.s[0] == '\n' {
		w.s = w.s[1:]
		return true
	}
	return false
}

// list reads words up to a closing parenthesis.
func (w *words) list() (list []string, ok bool) {
	for {
		w.s = strings.TrimLeft(w.s, " \n")
		if w.s == "" {
			return nil, false
		}
		if w.s[0] == ')' {
			w.s = w.s[1:]
			return list, true
		}
		word, ok := w.next()
		if !ok {
			return nil, false
		}
		list = append(list, word)
	}
}

func (w *words) next() (string, bool) {
	var b strings.Builder
	for w.s != "" {
		switch c := w.s[0]; {
		case c == ' ' || c == '\n':
			return b.String(), true
		case c == '\'':
			text, rest, ok := strings.Cut(w.s[1:], "'")
			if !ok {
				return "", false
			}
			b.WriteString(text)
			w.s = rest
		case c == '"':
			if !w.double(&b) {
				return "", false
			}
		case strings.HasPrefix(w.s, "$'"):
			if !w.escaped(&b) {
				return "", false
			}
		case c == '\\' && len(w.s) > 1:
			b.WriteByte(w.s[1])
			w.s = w.s[2:]
		default:
			b.WriteByte(c)
			w.s = w.s[1:]
		}
	}
	return b.String(), true
}

func (w *words) double(b *strings.Builder) bool {
	for i := 1; i < len(w.s); i++ {
		switch c := w.s[i]; {
		case c == '"':
			w.s = w.s[i+1:]
			return true
		case c == '\\' && i+1 < len(w.s) && strings.IndexByte("$`\"\\\n", w.s[i+1]) >= 0:
			i++
			if w.s[i] != '\n' {
				b.WriteByte(w.s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return false
}

// escaped reads $'…'.
func (w *words) escaped(b *strings.Builder) bool {
	s := w.s[2:]
	for s != "" {
		c := s[0]
		s = s[1:]
		if c == '\'' {
			w.s = s
			return true
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		if s == "" {
			return false
		}
		c, s = s[0], s[1:]
		switch c {
		case 'x':
			if hex, rest, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok && strings.HasPrefix(s, "[") { // ksh93
				v, err := strconv.ParseUint(hex, 16, 8)
				if err != nil {
					return false
				}
				b.WriteByte(byte(v))
				s = rest
				continue
			}
			n := digits(s, 2, 16)
			if n == 0 {
				return false
			}
			v, _ := strconv.ParseUint(s[:n], 16, 8)
			b.WriteByte(byte(v))
			s = s[n:]
		case 'u', 'U':
			n := digits(s, map[byte]int{'u': 4, 'U': 8}[c], 16)
			v, err := strconv.ParseUint(s[:n], 16, 32)
			if err != nil || v > utf8.MaxRune {
				return false
			}
			b.WriteRune(rune(v))
			s = s[n:]
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 1 + digits(s, 2, 8)
			v, _ := strconv.ParseUint((string(c) + s)[:n], 8, 16)
			b.WriteByte(byte(v))
			s = s[n-1:]
		case 'C', 'M': // zsh's \C-x, \M-x and \M-\C-x
			var meta byte
			if strings.HasPrefix(s, "-\\C-") && c == 'M' {
				meta, c, s = 0x80, 'C', s[3:]
			}
			if len(s) < 2 || s[0] != '-' {
				return false
			}
			switch v := s[1]; {
			case c == 'M':
				b.WriteByte(v | 0x80)
			case v == '?':
				b.WriteByte(0x7f | meta)
			default:
				b.WriteByte(v&0x1f | meta)
			}
			s = s[2:]
		default:
			if i := strings.IndexByte("abtnvfrEe", c); i >= 0 {
				c = "\a\b\t\n\v\f\r\x1b\x1b"[i]
			}
			b.WriteByte(c)
		}
	}
	return false
}

// digits counts those of the base that s begins with, up to most.
func digits(s string, most, base int) int {
	n := 0
	for n < len(s) && n < most {
		c := s[n] | 0x20
		if v := int(c - '0'); !('0' <= s[n] && s[n] <= '9' && v < base || base == 16 && 'a' <= c && c <= 'f') {
			break
		}
		n++
	}
	return n
}

// ownVariable reports whether a variable belongs to the connection or to the shell itself: a new one has its own.
func ownVariable(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "SHLVL", "_", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_AUTH_SOCK", "XDG_SESSION_ID":
		return true
	}
	return strings.HasPrefix(name, "_fl_")
}

// RestoreScript is a script that turns the state now into want, and says what of it differed. It is "" where nothing
// does. It starts no process.
func RestoreScript(d Dialect, now, want State) (script string, umask, vars bool, err error) {
	builtin := `\` + d.builtin() + " "
	var b strings.Builder
	if want.Umask != "" && octal(want.Umask) != octal(now.Umask) {
		umask = true
		b.WriteString(builtin + "umask " + want.Umask + "\n")
	}
	for _, name := range sorted(want.Vars) {
		if v, ok := now.Vars[name]; ownVariable(name) || ok && v == want.Vars[name] {
			continue
		}
		q, err := Quote(want.Vars[name])
		if err != nil {
			return "", false, false, err
		}
		vars = true
		b.WriteString(builtin + "export " + name + "=" + q + "\n")
	}
	for _, name := range sorted(now.Vars) {
		if _, ok := want.Vars[name]; !ok && !ownVariable(name) {
			vars = true
			b.WriteString(builtin + "unset " + name + "\n")
		}
	}
	return b.String(), umask, vars, nil
}

func octal(s string) uint64 {
	v, _ := strconv.ParseUint(s, 8, 16)
	return v
}

func sorted(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
