package audit

import (
	"bytes"
	"encoding/json"
)

// lineStart is how every entry of this version begins.
const lineStart = `{"v":1,"seq":`

// tornLine reports whether raw, a line behind the chain that does not continue it, is what a writer left that died
// within a write: the beginning of one entry, which the next writer ends with "~" and a newline. Everything else was put
// there by something else.
func (c *chain) tornLine(raw []byte) bool {
	part, ended := bytes.CutSuffix(raw, []byte("\n"))
	if ended {
		// A writer may have died between the two bytes of the lead, so there can be more than one "~".
		whole := len(part)
		if part = bytes.TrimRight(part, sealLead[:1]); len(part) == whole {
			return false
		}
	}
	if len(part) == 0 || !bytes.HasPrefix(part, []byte(lineStart[:min(len(part), len(lineStart))])) {
		return false
	}
	if !json.Valid(part) {
		return true
	}
	// A whole entry that lacks only its newline.
	_, _, kind, _ := c.check(append(bytes.Clone(part), '\n'))
	return kind == ""
}
