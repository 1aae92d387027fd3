package redact

import "slices"

// Kinds returns the kinds of all rules.
func Kinds() []string {
	out := []string{"password", "token", "api-key"} // which valueRules tell apart by the name
	for _, r := range allRules() {
		if r.kind != "mark" {
			out = append(out, r.kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
