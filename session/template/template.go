// Package template fills what differs between hosts into a command that is for many of them.
//
// Begin with [Source] or [Words]. A [Template] is made with [Source] of shell source, or with [Words] of exact words. [Template.Render] gives the command of one
// host, in which these places are filled in, and nothing else is changed:
//
//	{host}       the host's name
//	{addr}       its address in the inventory, or its name where it has none
//	{n}          its number among the hosts of the command, from 1
//	{label.KEY}  the value of its label KEY
//
// What is filled in is quoted for the shell: it is one word, or a part of one, and never shell source. Other braces stay as they
// are, such as ${host}, {{host}}, \{host}, {print}, {a,b} and {}. There is no global state, and a Template is a value. All of
// it is stable; more places may come.
package template

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Template is a command with places to fill in. The zero Template is the empty command.
type Template struct {
	source string
	words  []string
}

// Source is the Template of shell source.
func Source(text string) Template { return Template{source: text} }

// Words is the Template of exact words: the first is the command.
func Words(words []string) Template { return Template{words: words} }

// Used reports whether there is a place to fill in.
func (t Template) Used() bool { return Has(append([]string{t.source}, t.words...)...) }

// Has reports whether there is a place to fill in, in any of these texts.
func Has(texts ...string) bool {
	for _, text := range texts {
		for i := range len(text) {
			if _, ok := placeAt(text, i); ok {
				return true
			}
		}
	}
	return false
}

// Render is the command of a host, whose number is n. The error is about the host or the template, and names both: a label that
// the host does not have, or a value that cannot stand where its place is.
func (t Template) Render(h hosts.Host, n int) (string, error) {
	if t.words == nil {
		return fill(t.source, h, n)
	}
	words := make([]string, len(t.words))
	for i, w := range t.words {
		var err error
		if words[i], err = Exact(w, h, n); err != nil {
			return "", err
		}
	}
	return framing.QuoteWords(words)
}

// Exact fills in the places of a text that no shell reads, without quoting.
func Exact(text string, h hosts.Host, n int) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		name, ok := placeAt(text, i)
		if !ok {
			b.WriteByte(text[i])
			continue
		}
		v, err := value(name, h, n)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		i += len(name) + 1
	}
	return b.String(), nil
}

const label = "label."

// placeAt returns the name of the place that begins at text[i].
func placeAt(text string, i int) (name string, ok bool) {
	if text[i] != '{' || i > 0 && strings.IndexByte(`${\`, text[i-1]) >= 0 {
		return "", false
	}
	end := strings.IndexByte(text[i:], '}')
	if end < 0 || strings.HasPrefix(text[i+end+1:], "}") {
		return "", false
	}
	name = text[i+1 : i+end]
	key, isLabel := strings.CutPrefix(name, label)
	switch {
	case name == "host", name == "addr", name == "n":
	case isLabel && hosts.CheckLabel(key, "x") == nil:
	default:
		return "", false
	}
	return name, true
}

// value is what is filled in.
func value(name string, h hosts.Host, n int) (string, error) {
	switch name {
	case "host":
		return h.Name, nil
	case "addr":
		if h.Addr != "" {
			return h.Addr, nil
		}
		return h.Name, nil
	case "n":
		return strconv.Itoa(n), nil
	}
	key := strings.TrimPrefix(name, label)
	v, ok := h.Labels[key]
	if !ok {
		return "", fmt.Errorf("%s has no label %s to fill in {%s}", h.Name, key, name)
	}
	if strings.IndexByte(v, 0) >= 0 {
		return "", fmt.Errorf("the label %s of %s holds a NUL byte, which cannot be sent", key, h.Name)
	}
	return v, nil
}
