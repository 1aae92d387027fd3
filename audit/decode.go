package audit

import "encoding/json"

// decode reads a record's JSON. Fields this version does not know are left out.
func decode(raw []byte) (Event, error) {
	var e Event
	err := json.Unmarshal(raw, &e)
	return e, err
}
