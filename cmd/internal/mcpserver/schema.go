package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// The list of the tools is part of every conversation that a model has, so it is kept short. Arguments whose meaning is
// plain by their names have no description, and results have schemas that name what every model looks for;
// what there is to know about a result is in the result, as text.

// listed is a schema of arguments as clients get it: what they may leave out need not be called null as well.
func listed(s *jsonschema.Schema) (json.RawMessage, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	simplify(tree)
	return json.Marshal(tree)
}

// simplify takes null out of types, and spells out that no other arguments are taken as most schemas do.
func simplify(tree any) {
	switch t := tree.(type) {
	case []any:
		for _, v := range t {
			simplify(v)
		}
	case map[string]any:
		if types, ok := t["type"].([]any); ok && len(types) == 2 && types[0] == "null" {
			t["type"] = types[1]
		}
		if more, ok := t["additionalProperties"].(map[string]any); ok && more["not"] != nil {
			t["additionalProperties"] = false
		}
		for _, v := range t {
			simplify(v)
		}
	}
}

// schemaOf is the schema of a tool's result: an object, some of whose fields are named with their types.
func schemaOf(fields string) json.RawMessage {
	if fields == "" {
		return json.RawMessage(`{"type":"object"}`)
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s}}`, fields))
}

// What results have.
const (
	commandFields = `"status":{"type":"string"},"exit_code":{"type":"integer"},"stdout":{"type":"string"},"stderr":{"type":"string"},"state":{"type":"string"},"exec":{"type":"string"},"next":{"type":"string"}`
	runFields     = `"groups":{"type":"array"},"state":{"type":"string"},"run":{"type":"string"},"next":{"type":"string"}`
	fileFields    = `"content":{"type":"string"},"sha256":{"type":"string"},"next_offset":{"type":"integer"},"next":{"type":"string"}`
)

// why is what is wrong with arguments, in the words of whoever gave them.
func why(err error) string {
	text := err.Error()
	if m := missingArgument.FindStringSubmatch(text); m != nil {
		return strings.ReplaceAll(strings.ReplaceAll(m[1], `"`, ""), " ", ", ") + " missing"
	}
	if m := unknownArgument.FindStringSubmatch(text); m != nil {
		return "unknown argument " + strings.ReplaceAll(strings.ReplaceAll(m[1], `"`, ""), " ", ", ")
	}
	where := wherePrefix.FindString(text)
	text = text[len(where):]
	if m := wrongType.FindStringSubmatch(text); m != nil {
		text = "it is " + m[1] + ", and must be " + strings.TrimPrefix(strings.ReplaceAll(m[2], "integer", "a whole number"), "null, ")
	} else if m := notOneOf.FindStringSubmatch(text); m != nil {
		text = "it must be one of " + strings.Join(strings.Fields(m[1]), ", ")
	}
	if names := propertyName.FindAllStringSubmatch(where, -1); names != nil {
		text = names[len(names)-1][1] + ": " + text
	}
	return printable.Clip(text, maxCommand)
}

// whyNoObject is what is wrong with arguments that cannot be read.
func whyNoObject(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case bytes.HasPrefix(raw, []byte("{")):
		return "do not fit the tool: a number is out of range"
	case bytes.HasPrefix(raw, []byte("[")):
		return "must be an object, and are an array"
	case bytes.HasPrefix(raw, []byte(`"`)):
		return "must be an object, and are a string"
	}
	return "must be an object"
}

// whyTooLarge is why arguments of the right types cannot be read: a whole number is too large.
func whyTooLarge(err error) string {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return "they cannot be read"
	}
	// Field begins with the names of embedded structs, which are no arguments.
	if name := t.Field[strings.LastIndexByte(t.Field, '.')+1:]; name != "" {
		return name + ": it is out of range"
	}
	return "a number is out of range"
}

// known lists a tool's arguments for a caller who gave one that it does not have.
func known(err error, fields map[string]any, schema *jsonschema.Schema) string {
	if schema == nil || !unknownArgument.MatchString(err.Error()) {
		return ""
	}
	for name := range fields {
		if schema.Properties[name] == nil {
			return "; it takes " + strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
		}
	}
	return ""
}

var (
	missingArgument = lazyregexp.New(`required: missing properties: \[([^\]]*)\]`)
	unknownArgument = lazyregexp.New(`unexpected additional properties \[([^\]]*)\]`)
	wherePrefix     = lazyregexp.New(`^(validating [^:]*: )+`)
	propertyName    = lazyregexp.New(`/properties/([^/:]+)`)
	wrongType       = lazyregexp.New(`(?s)^type: .* has type "(\w+)", want (?:one of )?"([^"]*)"$`)
	notOneOf        = lazyregexp.New(`(?s)^enum: .* does not equal any of: \[([^\]]*)\]$`)
)
