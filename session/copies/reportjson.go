package copies

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

type plainReport Report // has no methods

// MarshalJSON implements json.Marshaler.
func (r Report) MarshalJSON() ([]byte, error) {
	r.Name, r.NameB64 = jsonName(r.Name)
	r.Path, r.PathB64 = jsonName(r.Path)
	return json.Marshal(plainReport(r))
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Report) UnmarshalJSON(text []byte) error {
	var got plainReport
	err := json.Unmarshal(text, &got)
	if err != nil {
		return err
	}
	if got.Name, err = nameOf(got.Name, got.NameB64); err != nil {
		return err
	}
	if got.Path, err = nameOf(got.Path, got.PathB64); err != nil {
		return err
	}
	got.NameB64, got.PathB64 = "", ""
	*r = Report(got)
	return nil
}

// jsonName is a name as JSON can have it, and its bytes in base64 where those are others.
func jsonName(name string) (shown, b64 string) {
	if utf8.ValidString(name) {
		return name, ""
	}
	return shownBytes(name), base64.StdEncoding.EncodeToString([]byte(name))
}

var errNameB64 = errors.New("name_b64 or path_b64 is not the bytes of what is not UTF-8, or name or path is another")

// nameOf is the name of what jsonName returned.
func nameOf(shown, b64 string) (name string, err error) {
	if b64 == "" {
		return shown, nil
	}
	raw, err := base64.StdEncoding.DecodeString(b64)
	if err != nil || utf8.Valid(raw) || shownBytes(string(raw)) != shown {
		return "", errNameB64
	}
	return string(raw), nil
}
