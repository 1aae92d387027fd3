package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// What stands between a name and its secret may be secret, too.
func TestSecretsBeforeThePasswordOfACommand(t *testing.T) {
	for _, line := range []string{
		`curl -H "Authorization: Bearer ‹abc123xyz›" -u admin:‹hunter2› http://x`,
		`curl -H "X-Foo: ‹ghp_{36}›" -u admin:‹hunter2› http://x`,
		`curl -H "X-Api-Key: ‹{32}›" -H "X-Foo: ‹glpat-{20}›" -u a:‹hunter2› h`,
		`machine github.com login ‹ghp_{36}› password ‹hunter2›`,
		`mysql --init-command=‹AKIA{upper:16}› -u root -p‹hunter2› app`,
		`ldapsearch -H ldap://x:‹hunter33›@h/ -w ‹hunter2› -b y`,
		`[smtp.example.com]:587 ‹ghp_{36}›:‹hunter2›`,
		`INSERT INTO users (name, password) VALUES ('‹ghp_{36}›', '‹S3cretPa55›');`,
		`kubectl create secret generic x --token=‹ghp_{36}› --from-literal=any=‹hunter2›`,
		`db:5432:app:‹ghp_{36}›:‹hunter2›`,
	} {
		text, secrets := marked(t, line)
		for _, frame := range []string{"", "before\n"} {
			got, counts := redact.New(redact.Config{}).String(frame+text+"\nafter\n", redact.Guarded)
			for _, s := range secrets {
				assert.NotContains(t, got, s, line)
			}
			assert.Equal(t, len(secrets), counts.Total(), "%s: %s", line, got)
			assert.True(t, strings.HasPrefix(got, frame+text[:4]), line)
		}
	}
}
