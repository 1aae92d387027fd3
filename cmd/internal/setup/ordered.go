package setup

import "strings"

// ordered is an object whose keys stand in the order of a list.
type ordered struct {
	keys   []string
	values map[string]any
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, k := range o.keys {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.WriteString(encode(k, "", "") + ":" + encode(o.values[k], "", ""))
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
