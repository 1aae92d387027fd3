package mcpserver

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// maxStray bounds what is shown of late output.
const maxStray = 2 << 10

// redactor takes secrets out of a text; see registry.Registry.Redact.
type redactor func(text string) (string, redact.Counts)

// fit makes text fit for a model: cleaned, and without the secrets that only cleaning shows, as a control sequence or a
// hidden character stood in them. removed is what cleaning took out.
func (red redactor) fit(text string) (fit string, removed int, secrets redact.Counts) {
	fit, removed = screen.Clean(text)
	if removed > 0 { // else it still is what secrets were taken out of before
		fit, secrets = red(fit)
	}
	return fit, removed, secrets
}

// text is fit alone.
func (red redactor) text(text string) string {
	text, _, _ = red.fit(text)
	return text
}

// line is how a model sees a line.
func (red redactor) line(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r != '\t' && (r < ' ' || r >= 0x7f) }) {
		return text
	}
	shown, _, _ := red.fit(string(text))
	return []byte(shown)
}

// command shows a command as it was sent, with what cannot be seen spelled out; or cleaned, where a secret is hidden in it.
func (red redactor) command(text string) (shown string, secrets redact.Counts) {
	if shown, _, secrets = red.fit(text); secrets.Total() == 0 {
		shown = screen.Spell(text)
	}
	return printable.Clip(shown, maxCommand), secrets
}

// fill puts in what a command printed, fit for a model.
func (o *outputOut) fill(v *registry.View, b output.Budget, red redactor) {
	r := &v.Result
	for _, s := range []struct {
		name string
		view *output.View
		text *string

		total *int64
	}{{registry.Stdout, &v.Stdout, &o.Stdout, &o.StdoutBytes}, {registry.Stderr, &v.Stderr, &o.Stderr, &o.StderrBytes}} {
		grep := b.Grep != "" && s.name == registry.Stdout
		*s.text = o.readable(s.name, s.view, grep, red)
		if s.view.Omitted > 0 {
			put(&o.Omitted, s.name, s.view.Omitted)
			put(&o.CutAt, s.name, s.view.CutAt)
			*s.total = s.view.Total
		}
		if grep && s.view.Total > 0 {
			put(&o.Matched, s.name, s.view.Matched)
		}
	}
	if len(r.Stray) > 0 {
		stray, n, secrets := red.fit(string(r.Stray))
		o.Stray = printable.Clip(stray, maxStray)
		o.cleaned("stray", n)
		o.took(secrets)
	}
	o.took(v.Redacted)
}

func put[V any](m *map[string]V, k string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[k] = v
}

func (o *outputOut) cleaned(name string, n int) {
	if n > 0 {
		put(&o.Cleaned, name, n)
	}
}

// took counts secrets that were taken out.
func (o *outputOut) took(c redact.Counts) {
	for kind, n := range c.Kinds {
		if o.Redacted == nil {
			o.Redacted = map[string]int{}
		}
		o.Redacted[kind] += n
	}
}

// readable makes what is shown of a stream fit for a model, and says in it where something was left out. Of what is no
// text nothing is shown.
func (o *outputOut) readable(name string, v *output.View, grep bool, red redactor) string {
	if v.Binary {
		o.Binary = append(o.Binary, name)
		if isBinary(v.Text) {
			return ""
		}
	}
	var b strings.Builder
	removed, at := 0, 0
	piece := func(p []byte) {
		text, n, secrets := red.fit(string(p))
		removed += n
		o.took(secrets)
		b.WriteString(text)
	}
	if !grep { // there, lines of two dashes say it
		for _, g := range v.Gaps {
			piece(v.Text[at:g.At])
			at = g.At
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "[… %d bytes omitted, from offset %d …]\n", g.Bytes, g.Offset)
		}
	}
	piece(v.Text[at:])
	o.cleaned(name, removed)
	return b.String()
}

// isBinary reports whether much of p is no text.
func isBinary(p []byte) bool {
	bad := 0
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || r == 0 {
			bad++
		}
		rest = rest[n:]
	}
	return bad*10 > len(p)
}

// page tells one page: as text if that is exact, else as both; but never the bytes in which a secret was hidden. A page that
// had to be cleaned ends with a line, if it can: secrets that are hidden in lines are not cut in two then.
func (red redactor) page(stream string, p output.Page) *pageOut {
	text, removed, secrets := red.fit(string(p.Text))
	if end := bytes.LastIndexByte(p.Text, '\n') + 1; removed > 0 && !p.End && end > 0 && end < len(p.Text) {
		p.Next -= int64(len(p.Text) - end)
		p.Text = p.Text[:end]
		text, removed, secrets = red.fit(string(p.Text))
	}
	o := &pageOut{Stream: stream, Offset: p.Offset, Next: p.Next, End: p.End, Skipped: p.Skipped, Text: text, Redacted: secrets.Kinds, removed: removed}
	if secrets.Total() > 0 {
		return o.withoutBase64()
	}
	if removed > 0 || text != string(p.Text) {
		o.Base64 = base64.StdEncoding.EncodeToString(p.Text)
		if !utf8.Valid(p.Text) && isBinary(p.Text) {
			o.Text = ""
		}
	}
	return o
}

// withoutBase64 counts what was taken out of the text instead.
func (p *pageOut) withoutBase64() *pageOut {
	p.Base64 = ""
	if p.removed > 0 {
		put(&p.Cleaned, p.Stream, p.removed)
	}
	return p
}
