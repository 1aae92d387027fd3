package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// A socket below /run is the host's own, but not where .. leads out of it, or a variable may.
func TestWhatIsExceptedBelowADirectoryStaysBelowIt(t *testing.T) {
	open := func(text string) programs.Arg { return programs.Arg{Text: text, Operand: true, Source: text + "$x"} }
	for _, path := range []string{"/run/../tmp/evil", "/run/postgresql/../../tmp/evil", "/var/run/../../tmp"} {
		assert.NotEqual(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "psql", Args: literals("-h", path, "-l")}).Class, path)
		assert.NotEqual(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "pg_isready", Args: literals("-h", path)}).Class, path)
		assert.NotEqual(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "mysql", Args: literals("-S", path, "-e", "show databases")}).Class, path)
		assert.NotEqual(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "named-checkconf", Args: literals("/etc/" + path)}).Class, path)
	}
	for _, name := range []string{"psql", "pg_isready"} {
		c := programs.Call{Name: name, Args: []programs.Arg{{Text: "-h", Literal: true}, open("/run/"), {Text: "-V", Literal: true}}}
		assert.NotEqual(t, policy.ReadOnly, programs.Judge(c).Class, name)
	}
	assert.Equal(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "psql", Args: literals("-h", "/run/postgresql", "-l")}).Class)
	assert.Equal(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "mysql", Args: literals("-S", "/run/mysqld/mysqld.sock", "-e", "show databases")}).Class)
	assert.Equal(t, policy.ReadOnly, programs.Judge(programs.Call{Name: "named-checkconf", Args: literals("/etc/bind/named.conf")}).Class)
}
