package fairleadtest

import "strings"

// Schema is as much of a JSON schema as names need.
type Schema struct {
	Ref        string            `json:"$ref"`
	Properties map[string]Schema `json:"properties"`
	Items      *Schema           `json:"items"`
}

// Names tells the names of all fields, those below with the path to them; all are the document's schemas by name.
func (s Schema) Names(all map[string]Schema, prefix string, add func(string)) {
	if s.Ref != "" {
		s = all[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if s.Items != nil {
		s.Items.Names(all, prefix, add)
	}
	for name, p := range s.Properties {
		if name == "$schema" {
			continue
		}
		add(prefix + name)
		p.Names(all, prefix+name+".", add)
	}
}
