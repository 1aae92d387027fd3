package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

func (b *builder) json(data []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{b, dec, data}
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, b.fail(r.here(), "not valid JSON: something follows the end")
	}
	return root, nil
}

type jsonReader struct {
	*builder
	dec  *json.Decoder
	data []byte
}

// here returns the line of the token read last. No token of JSON spans lines.
func (r jsonReader) here() int { return r.line(int(r.dec.InputOffset())) }

func (r jsonReader) token() (json.Token, error) {
	t, err := r.dec.Token()
	if err == nil {
		return t, nil
	}
	line := r.here()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line = max(line, r.line(int(syntax.Offset)-1))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, r.fail(r.line(len(bytes.TrimSpace(r.data))), "not valid JSON: it ends in the middle")
	}
	return nil, r.fail(line, "not valid JSON: %s", clip(err.Error()))
}

func (r jsonReader) value(depth int) (*node, error) {
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	n, err := r.node(scalar, r.here(), depth)
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case nil:
		n.kind = null
	case string:
		n.text = t
	case json.Number:
		n.text = t.String()
	case bool:
		n.text = map[bool]string{true: "true", false: "false"}[t]
	case json.Delim:
		return n, r.fill(n, t, depth)
	}
	return n, nil
}

// fill reads the rest of a list or an object.
func (r jsonReader) fill(n *node, open json.Delim, depth int) error {
	n.kind = mapping
	if open == '[' {
		n.kind = list
	}
	for r.dec.More() {
		var key string
		var line int
		if n.kind == mapping {
			t, err := r.token()
			if err != nil {
				return err
			}
			key, _ = t.(string) // the decoder lets nothing else through
			line = r.here()
		}
		val, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if n.kind == list {
			n.items = append(n.items, val)
		} else if err := r.put(n, key, line, val); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}
