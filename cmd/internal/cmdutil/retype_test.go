package cmdutil

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestACommandIsTypedAgainExactlyAndWithoutSecrets(t *testing.T) {
	for want, words := range map[string][]string{
		"ls -l":              {"ls", "-l"},
		`'df -h / | tail'`:   {"df -h / | tail"},
		`'echo $HOME' 'a b'`: {"echo $HOME", "a b"},
	} {
		assert.Equal(t, want, Retype(words))
	}
	for _, words := range [][]string{
		{"mysql -pHunter22hunter app"}, {"mysql", "--password=Hunter22hunter"}, {"curl", "-u", "joe:Hunter22hunter", "https://x.example"},
		{"API_TOKEN=Hunter22hunter22 deploy"},
	} {
		assert.Equal(t, "COMMAND", Retype(words), words)
	}
}
