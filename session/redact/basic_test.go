package redact_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A name and a password in base64 are text in ASCII, with tabs and newlines as in a file; anything else is no password.
func TestNamesAndPasswordsInBase64AreText(t *testing.T) {
	for text, secret := range map[string]bool{
		"ada:correct-horse": true, "ada:correct\thorse": true, "ada:correct\nhorse": true, "ada:correct\r\nhorse": true,
		"ada:correct\x01horse": false, "ada:correct\x7fhorse": false, "ada:corr\xe9ct-horse": false, "correct-horse-9": false,
	} {
		coded := base64.StdEncoding.EncodeToString([]byte(text))
		got := guarded(knownSet(t), "curl -H 'Authorization: basic "+coded+"' and basic "+coded+" there")
		if secret {
			assert.NotContains(t, got, coded, "%q", text)
		} else {
			assert.Contains(t, got, " and basic "+coded, "%q", text)
		}
	}
}
