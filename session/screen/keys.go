package screen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainKeys are the keys that send the same in every mode.
var plainKeys = map[string]string{
	"enter": "\r", "tab": "\t", "btab": "\x1b[Z", "esc": "\x1b", "space": " ", "backspace": "\x7f",
	"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS",
}

// letterKeys end in a letter: CSI letter, SS3 letter in application mode, CSI 1;m letter with modifiers.
// From xterm's control sequences, "PC-Style Function Keys".
var letterKeys = map[string]byte{
	"up": 'A', "down": 'B', "right": 'C', "left": 'D', "home": 'H', "end": 'F',
	"f1": 'P', "f2": 'Q', "f3": 'R', "f4": 'S',
}

// numberKeys send CSI n ~, and CSI n;m ~ with modifiers.
var numberKeys = map[string]int{
	"insert": 2, "delete": 3, "pageup": 5, "pagedown": 6,
	"f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24,
}

var keyAliases = map[string]string{
	"return": "enter", "cr": "enter", "escape": "esc", "backtab": "btab", "bspace": "backspace", "bs": "backspace",
	"del": "delete", "dc": "delete", "ins": "insert", "ic": "insert", "pgup": "pageup", "ppage": "pageup",
	"page-up": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "npage": "pagedown", "page-down": "pagedown",
	"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right", "spc": "space",
}

// modifiers, with every name in lower case. The values are xterm's bits.
var modifiers = []struct {
	name string
	bit  int
}{
	{"ctrl", 4}, {"control", 4}, {"c", 4}, {"alt", 2}, {"meta", 2}, {"option", 2}, {"a", 2}, {"m", 2}, {"shift", 1}, {"s", 1},
}

// keyNames is what an unknown name is answered with.
const keyNames = "Enter Tab BTab Esc Space Backspace Delete Insert Up Down Left Right Home End PageUp PageDown F1 … F12, " +
	`C-a … C-z C-@ C-[ C-\ C-] C-^ C-_, M-x (alt), any single character; modifiers C- M- S- go before the named keys too`

// UnknownKeyError says that a name is no key.
type UnknownKeyError struct {
	Name string
	Near []string // names that look like it
}

func (e *UnknownKeyError) Error() string {
	near := ""
	if len(e.Near) > 0 {
		near = "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return fmt.Sprintf("screen: no key is called %q%s (keys: %s)", e.Name, near, keyNames)
}

// Keys returns the bytes that a terminal in these modes sends when the named keys are pressed one after the other.
//
// Names are those of tmux: "Enter", "C-c", "M-x", "Up", "F1"; case does not matter but in a single character, and
// "ctrl+c", "Return" or "^C" will do. A single character stands for itself. An *UnknownKeyError names the first name
// that is no key; then nothing is returned.
func Keys(m Modes, names ...string) ([]byte, error) {
	var b []byte
	for _, name := range names {
		k, ok := m.key(name)
		if !ok {
			return nil, &UnknownKeyError{Name: clip(name, 40), Near: nearKeys(name)}
		}
		b = append(b, k...)
	}
	return b, nil
}

func (m Modes) key(name string) (string, bool) {
	base, mods := splitModifiers(name)
	if utf8.RuneCountInString(base) == 1 {
		return character(base, mods)
	}
	low := strings.ToLower(base)
	if to, ok := keyAliases[low]; ok {
		low = to
	}
	if mods == 0 {
		if k, ok := plainKeys[low]; ok {
			return k, true
		}
	}
	if c, ok := letterKeys[low]; ok {
		switch {
		case mods != 0:
			return fmt.Sprintf("\x1b[1;%d%c", mods+1, c), true
		case m.AppCursor:
			return "\x1bO" + string(c), true
		}
		return "\x1b[" + string(c), true
	}
	if n, ok := numberKeys[low]; ok {
		if mods != 0 {
			return fmt.Sprintf("\x1b[%d;%d~", n, mods+1), true
		}
		return fmt.Sprintf("\x1b[%d~", n), true
	}
	return modified(low, mods)
}

// modified gives keys that have a character of their own together with modifiers.
func modified(low string, mods int) (string, bool) {
	k, ok := plainKeys[low]
	if !ok {
		return "", false
	}
	alt := ""
	if mods&2 != 0 {
		alt = "\x1b"
	}
	switch mods &^ 2 {
	case 0:
		return alt + k, true
	case 1:
		if low == "tab" {
			return alt + plainKeys["btab"], true
		}
		return alt + k, low != "btab"
	case 4:
		switch low {
		case "space":
			return alt + "\x00", true
		case "backspace":
			return alt + "\b", true
		case "enter", "tab", "esc": // a terminal sends the same with the control key
			return alt + k, true
		}
	}
	return "", false
}

// character gives a single character, maybe with modifiers.
func character(base string, mods int) (string, bool) {
	alt := ""
	if mods&2 != 0 {
		alt = "\x1b"
	}
	if mods&1 != 0 {
		base = strings.ToUpper(base)
	}
	if mods&4 == 0 {
		r, _ := utf8.DecodeRuneInString(base)
		return alt + base, r != utf8.RuneError && !unicode.IsControl(r)
	}
	switch c := unicode.ToUpper(rune(base[0])); {
	case len(base) != 1:
		return "", false
	case c >= '@' && c <= '_':
		return alt + string(c-'@'), true
	case c == '?':
		return alt + "\x7f", true
	case c == ' ' || c == '2':
		return alt + "\x00", true
	case c == '/':
		return alt + "\x1f", true
	}
	return "", false
}

// splitModifiers takes modifiers off the front of a name: C-, ctrl+, ^ and the like.
func splitModifiers(name string) (base string, mods int) {
	for {
		if utf8.RuneCountInString(name) == 2 && name[0] == '^' {
			return name[1:], mods | 4
		}
		rest, bit := modifier(name)
		if bit == 0 {
			return name, mods
		}
		name, mods = rest, mods|bit
	}
}

func modifier(name string) (rest string, bit int) {
	i := strings.IndexAny(name, "-+")
	if i < 1 || i == len(name)-1 {
		return name, 0
	}
	low := strings.ToLower(name[:i])
	for _, m := range modifiers {
		if low == m.name {
			return name[i+1:], m.bit
		}
	}
	return name, 0
}

// nearKeys returns the names that differ least from name, by two letters at most, or go on from it.
func nearKeys(name string) []string {
	base, _ := splitModifiers(name)
	low := strings.ToLower(clip(base, 20))
	var near []string
	best := 3
	for _, k := range strings.Fields("Enter Tab BTab Esc Space Backspace Delete Insert Up Down Left Right Home End PageUp PageDown " +
		"F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 Return Escape Control-c Ctrl-c") {
		l := strings.ToLower(k)
		d := distance(low, l)
		if len(low) > 2 && strings.HasPrefix(l, low) {
			d = min(d, 2)
		}
		switch {
		case d < best && (d < 2 || len(low) > 3 || strings.HasPrefix(l, low)):
			best, near = d, []string{k}
		case d == best && len(near) > 0:
			near = append(near, k)
		}
	}
	return near[:min(len(near), 3)]
}

// distance is how many letters must be added, dropped, changed or swapped with their neighbour.
func distance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			next[j+1] = slices.Min([]int{d, row[j+1] + 1, next[j] + 1})
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// clip cuts s after n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
