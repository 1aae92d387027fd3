package wire

import (
	"encoding/base64"
	"maps"

	"github.com/fairlead-ssh/fairlead/session"
)

// Result is a command as it is now: the stable format of session.Result, and what a running one seems to wait for.
type Result struct {
	session.ResultJSON
	WaitingFor *Waiting   `json:"waiting_for,omitempty"`
	Typed      *Typed     `json:"typed,omitempty" doc:"of a running command: the state of the last input that needed approval"`
	File       *FileFacts `json:"file,omitempty" doc:"of work on a file"`
}

// Waiting is a guess at what a running command waits for.
type Waiting struct {
	Kind   string `json:"kind"`
	Prompt string `json:"prompt,omitempty"`
}

// Typed is what has become of text that is typed only once somebody has approved it.
type Typed struct {
	State string             `json:"state" enum:"awaiting_approval,typed,refused"`
	Error *session.ErrorJSON `json:"error,omitempty" doc:"why it was refused: rejected, expired, canceled or denied"`
}

// ResultOf puts a Result into its JSON form. redacted counts what was taken out of it, by kind.
func ResultOf(r *session.Result, redacted map[string]int) *Result {
	j := &Result{ResultJSON: r.JSON()}
	j.Redacted = map[string]int{}
	maps.Copy(j.Redacted, redacted)
	return j
}

// Encode writes bytes as text, or as base64 where they are none.
func Encode(b []byte, text bool) (encoding, data string) {
	if text {
		return "utf-8", string(b)
	}
	return "base64", base64.StdEncoding.EncodeToString(b)
}

// Decode reads what Encode wrote.
func Decode(encoding, data string) ([]byte, error) {
	if encoding == "base64" {
		return base64.StdEncoding.DecodeString(data)
	}
	return []byte(data), nil
}
