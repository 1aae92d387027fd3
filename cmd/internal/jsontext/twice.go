package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// TwiceError says that an object has a member twice.
type TwiceError struct {
	Name   string
	Offset int // of the second one's name, from 0
}

// Error implements error.
func (e *TwiceError) Error() string {
	if len(e.Name) > maxShown {
		return fmt.Sprintf("a name is there twice, again at byte %d", e.Offset)
	}
	return fmt.Sprintf("%q is there twice, again at byte %d", e.Name, e.Offset)
}

// maxShown is the longest name that is shown.
const maxShown = 64

// maxDepth is how deep encoding/json reads.
const maxDepth = 10000

// twice returns a *TwiceError for the first member that an object has twice. Decoders take the last one, or mix them, so that a
// value could be checked and another one used.
func twice(text []byte) error {
	var open []object
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{', '[':
			if len(open) == maxDepth {
				return nil // the decoder refuses it
			}
			open = append(open, object{named: text[at] == '[', list: text[at] == '['})
		case '}', ']':
			if len(open) == 0 {
				return nil // no JSON
			}
			open = open[:len(open)-1]
		case ',':
			if n := len(open); n > 0 {
				open[n-1].named = open[n-1].list
			}
		case '"':
			end := stringEnd(text, at)
			if n := len(open); n > 0 && !open[n-1].named {
				if name, ok := open[n-1].first(text[at:end]); !ok {
					return &TwiceError{name, at}
				}
			}
			at = end - 1
		}
	}
	return nil
}

// object is one that is open: a list has no names, so that named is always true.
type object struct {
	list, named bool // named: the name of the member is read, its value comes
	names       map[string]bool
}

// first reports whether an object has no such member yet, and notes that it has.
func (o *object) first(quoted []byte) (name string, ok bool) {
	o.named = true
	if name, ok = unquoted(quoted); !ok {
		return "", true // no JSON
	}
	if o.names[name] {
		return name, false
	}
	if o.names == nil {
		o.names = map[string]bool{}
	}
	o.names[name] = true
	return name, true
}

func unquoted(quoted []byte) (name string, ok bool) {
	if n := len(quoted); n > 1 && quoted[n-1] == '"' && bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : n-1]), true
	}
	return name, json.Unmarshal(quoted, &name) == nil
}

// stringEnd is the index after the string that begins at a place.
func stringEnd(text []byte, begin int) int {
	for at := begin + 1; at < len(text); at++ {
		next := bytes.IndexAny(text[at:], `"\`)
		if next < 0 {
			break
		}
		if at += next; text[at] == '"' {
			return at + 1
		}
		at++ // what the backslash is for
	}
	return len(text)
}
