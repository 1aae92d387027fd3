package run_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secret = "hunter2hunter2"

// tells prints the secret, which its own command line gives away, on both streams.
const tells = "DB_PASSWORD=" + secret + "; export DB_PASSWORD; echo it is $DB_PASSWORD; printf 'and %s' $DB_PASSWORD >&2"

func TestTheRecordHasNoSecretAndTheOperatorTheExactBytes(t *testing.T) {
	w := newWorld(t, "web1")
	events := w.record()
	code, err := w.run(t.Context(), "web1", "--reason", "password="+secret, "--", tells)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Equal(t, "it is "+secret+"\n", w.out.String())
	assert.Equal(t, "and "+secret, w.err.String())
	require.Len(t, events.requests(), 1)
	e := events.requests()[0]
	assert.Regexp(t, `^DB_PASSWORD=«redacted:password:[0-9a-f]+»; export`, e.Command)
	assert.Equal(t, tells, string(e.Exact), "from which only a keyed hash is made")
	for _, e := range events.events {
		e.Exact = nil
		text, err := json.Marshal(e)
		require.NoError(t, err)
		assert.NotContains(t, string(text), secret)
	}
}

func TestRedactTakesSecretsOutOfEveryView(t *testing.T) {
	mark := regexp.MustCompile(`«redacted:password:[0-9a-f]+»`)
	for name, flags := range map[string][]string{"live": nil, "fold": {"--fold"}, "json": {"--json"}} {
		for hosts, targets := range map[string]string{"one": "web1", "two": "web1,web2"} {
			t.Run(name+" "+hosts, func(t *testing.T) {
				w := newWorld(t, "web1", "web2")
				code, err := w.run(t.Context(), append([]string{targets, "--redact"}, append(flags, "--", tells)...)...)
				require.NoError(t, err)
				assert.Zero(t, code)
				shown := w.out.String() + w.err.String()
				assert.NotContains(t, shown, secret)
				assert.Contains(t, mark.ReplaceAllString(shown, "M"), "it is M")
				assert.Contains(t, mark.ReplaceAllString(shown, "M"), "and M")
				assert.Contains(t, w.err.String(), "fairlead: secrets in the output were redacted: password ")
			})
		}
	}
}

func TestRedactTakesSecretsOutOfWhatIsCut(t *testing.T) {
	w := newWorld(t, "web1")
	code, err := w.run(t.Context(), "web1", "--redact", "--json", "--",
		"p=password="+secret+`; i=0; while [ $i -lt 9000 ]; do echo "$p"; i=$((i+1)); done`)
	require.NoError(t, err)
	assert.Zero(t, code)
	var r struct {
		Stdout  string
		Omitted map[string]int64
	}
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(w.out.String(), "\n", 2)[0]), &r))
	assert.NotContains(t, r.Stdout, secret[:6])
	assert.Positive(t, r.Omitted["stdout"])
	// One that was cut by a silence is counted for each of its parts.
	assert.Regexp(t, `password 90[0-9]{2}\n`, w.err.String())
}

func TestACommandWithTheMarkOfASecretIsDenied(t *testing.T) {
	w := newWorld(t, "web1")
	events := w.record()
	code, err := w.run(t.Context(), "web1", "--yes", "--", "echo «redacted:password:0123abcd»")
	require.NoError(t, err)
	assert.Equal(t, 5, code)
	assert.Equal(t, "fairlead: web1: denied: the command has a placeholder of a redacted secret: write the secret itself\n", w.err.String())
	assert.Equal(t, "deny", events.requests()[0].Verdict)
}
