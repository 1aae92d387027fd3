package foreign

import (
	"encoding/json"
	"slices"
)

// reduce takes out of what a program prints all values that nothing is made of: there may be passwords among them, and the
// answer is kept. The names stay, for the notes.
func reduce(data []byte) ([]byte, error) {
	var top map[string]any
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, err
	}
	for name, v := range top {
		group, ok := v.(map[string]any)
		if !ok {
			continue
		}
		_, h := group["hosts"]
		_, c := group["children"]
		vars, v := group["vars"].(map[string]any)
		switch {
		case name == "_meta":
			all, _ := group["hostvars"].(map[string]any)
			for _, one := range all {
				if m, ok := one.(map[string]any); ok {
					empty(m)
				}
			}
		case v:
			empty(vars)
		case !h && !c:
			empty(group)
		}
	}
	return json.MarshalIndent(top, "", " ")
}

// empty takes the values away that no field is made of.
func empty(vars map[string]any) {
	for name := range vars {
		if !slices.Contains(read, name) && name != "ansible_group_priority" {
			vars[name] = ""
		}
	}
}
