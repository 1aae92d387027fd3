package copies

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Entry is one file or directory of a copy.
type Entry struct {
	Name   string `json:"name" maxLength:"4096" doc:"slash-separated; the first part is the name of the source"`
	Dir    bool   `json:"dir,omitempty"`
	Mode   uint32 `json:"mode" doc:"permission bits"`
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty" maxLength:"64" doc:"in hexadecimal, if known before: the file is refused if it is another"`

	// Modified is when it was changed last, in whole seconds, where times are kept: see Plan.Times. The zero time is none.
	Modified time.Time `json:"modified,omitzero" doc:"when it was changed last, in whole seconds, from 1970 to 2106; of a copy with times"`

	// NameB64 is of the JSON alone, which has no other way for such names: in Go the name is Name, whatever its bytes.
	NameB64 string `json:"name_b64,omitempty" maxLength:"5464" doc:"the name's bytes in base64, where they are not UTF-8; name has U+FFFD in their place"`
}

type plainEntry Entry // has no methods

// MarshalJSON implements json.Marshaler.
func (e Entry) MarshalJSON() ([]byte, error) {
	e.Name, e.NameB64 = jsonName(e.Name)
	return json.Marshal(plainEntry(e))
}

// UnmarshalJSON implements json.Unmarshaler. Two names that are not the same are refused: a reader of the JSON may have looked
// at either.
func (e *Entry) UnmarshalJSON(text []byte) error {
	var got plainEntry
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	name, err := nameOf(got.Name, got.NameB64)
	if err != nil {
		return errors.New("name_b64 is not the bytes of a name that is not UTF-8, or name is another")
	}
	got.Name, got.NameB64 = name, ""
	*e = Entry(got)
	return nil
}

// shownBytes is a name as JSON can have it.
func shownBytes(name string) string { return strings.ToValidUTF8(name, "\ufffd") }
