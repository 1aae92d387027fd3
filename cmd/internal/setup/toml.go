package setup

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

var errTOML = errors.New("it is not TOML")

// section finds the lines of a table: from its header up to the next header, without what stands directly above that. to
// is 0 if there is no such table.
func section(lines []string, header *regexp.Regexp) (from, to int) {
	for i, l := range lines {
		if !header.MatchString(l) {
			continue
		}
		to := i + 1
		for to < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[to]), "[") {
			to++
		}
		for to > i+1 && to < len(lines) && (strings.TrimSpace(lines[to-1]) == "" || strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#")) {
			to--
		}
		return i, to
	}
	return 0, 0
}

func headerOf(table, name, more string) *regexp.Regexp {
	return regexp.MustCompile(`^\s*\[\s*` + table + `\s*\.\s*(?:` + name + `|"` + name + `"|'` + name + `')\s*` + more + `\]\s*(?:#.*)?\r?\n?$`)
}

// setTOML sets the values of a table's keys, making the table if it is not there.
func setTOML(text, table, name string, keys []string, values map[string]any) (string, error) {
	lines := slices.Collect(strings.Lines(text))
	from, to := section(lines, headerOf(table, name, ""))
	if to == 0 {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if strings.TrimSpace(text) != "" {
			text += "\n"
		}
		text += fmt.Sprintf("[%s.%s]\n", table, name)
		for _, k := range keys {
			text += assignment(k, values[k])
		}
		return text, nil
	}
	for _, k := range keys {
		i, j := valueLines(lines, from+1, to, k)
		new := assignment(k, values[k])
		if j == 0 {
			i, j = from+1, from+1
		} else if strings.TrimSpace(strings.Join(lines[i:j], "")) == strings.TrimSpace(new) {
			continue
		}
		lines = slices.Replace(lines, i, j, new)
		to += 1 - (j - i)
	}
	return strings.Join(lines, ""), nil
}

// valueLines finds the lines of a key and its value, which may have several; j is 0 if it is not there.
func valueLines(lines []string, from, to int, key string) (i, j int) {
	is := regexp.MustCompile(`^\s*(?:` + key + `|"` + key + `"|'` + key + `')\s*=`)
	for i := from; i < to; i++ {
		if !is.MatchString(lines[i]) {
			continue
		}
		for j := i + 1; j <= to; j++ {
			var v map[string]any
			if toml.Unmarshal([]byte(strings.Join(lines[i:j], "")), &v) == nil {
				return i, j
			}
		}
	}
	return 0, 0
}

func assignment(key string, v any) string {
	b, err := toml.Marshal(map[string]any{key: v})
	if err != nil {
		panic("setup: internal error: " + err.Error()) // strings and lists of them
	}
	return string(b)
}

// unsetTOML takes a table away with all below it.
func unsetTOML(text, table, name string) string {
	lines := slices.Collect(strings.Lines(text))
	for {
		from, to := section(lines, headerOf(table, name, `(?:\..*)?`))
		if to == 0 {
			return strings.Join(lines, "")
		}
		if from > 0 && strings.TrimSpace(lines[from-1]) == "" { // the blank line that parted it
			from--
		}
		lines = slices.Delete(lines, from, to)
	}
}

func plainTOML(text string) (map[string]any, error) {
	var v map[string]any
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		return nil, errTOML
	}
	return v, nil
}
