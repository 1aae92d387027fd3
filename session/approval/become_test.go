package approval_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// As whom a command runs is a part of what is approved.
func TestADocumentSaysWhomACommandBecomes(t *testing.T) {
	p := approval.Pending{ID: "a_1", Question: question("agent/x")}
	before := p.Digest()
	for _, b := range []hosts.Become{{User: "root", Method: "sudo"}, {User: "app", Method: "su", ByCall: true}, {User: "root", Method: "sudo", ByCall: true}} {
		p.Question.Host.Become = b
		assert.NotEqual(t, before, p.Digest())
		before = p.Digest()
		got, err := approval.Parse(p.Document())
		require.NoError(t, err)
		assert.Equal(t, b, got.Question.Host.Become)
	}
	p.Question.Host.Become = hosts.Become{User: "root"} // sudo goes without saying
	_, err := approval.Parse(p.Document())
	require.NoError(t, err)
}
