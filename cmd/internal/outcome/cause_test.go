package outcome_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestHostsThatFailAlikeAreToldTogether(t *testing.T) {
	key := func(c string) string { return "SHA256:" + strings.Repeat(c, 43) }
	failed := func(host string, s session.Status, why string) *outcome.Cause {
		return outcome.CauseOf(host, session.Result{Host: host, Status: s, Err: &session.Error{Op: "run", Host: host, Code: string(s), Err: errors.New(why)}}, "")
	}
	unknown := func(host, key string) *outcome.Cause {
		return failed(host, session.StatusHostKey, "the key of ["+host+"]:22 is not known: it shows ssh-ed25519 "+key+"; record the key: fairlead hosts trust "+host)
	}
	var cs outcome.Causes
	cs.Add(unknown("web2", key("b")))
	cs.Add(failed("db1", session.StatusUnreachable, "connection refused"))
	cs.Add(unknown("web1", key("a")))
	cs.Add(failed("db2", session.StatusUnreachable, "connection refused"))
	cs.Add(failed("db3", session.StatusLost, "connection refused"))
	var b strings.Builder
	cs.Tell(&b)
	assert.Equal(t, `fairlead: web[1-2]: not trusted: the key of the host is not known: it shows ssh-ed25519 SHA256:…; record the key: fairlead hosts trust 'web[1-2]'
  web1: `+key("a")+`
  web2: `+key("b")+`
fairlead: db[1-2]: unreachable: connection refused
fairlead: db3: outcome unknown: connection refused
`, b.String())

	var one outcome.Causes
	one.Add(unknown("web1", key("a")))
	b.Reset()
	one.Tell(&b)
	assert.Equal(t, "fairlead: web1: not trusted: the key of [web1]:22 is not known: it shows ssh-ed25519 "+key("a")+"; record the key: fairlead hosts trust web1\n", b.String())
}
