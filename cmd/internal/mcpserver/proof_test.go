package mcpserver_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

const devAndProd = "version: 1\nhosts:\n  - {name: d1, transport: local, tier: dev}\n  - {name: p1, transport: local, tier: prod}\n"

// enrolled has one approver, with a key that a passphrase opens.
func enrolled(t *testing.T) func() ([]approval.Approver, error) {
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewPublicKey(pub)
	require.NoError(t, err)
	return func() ([]approval.Approver, error) {
		return []approval.Approver{{Name: "ada", Key: key, Proof: approval.Passphrase}}, nil
	}
}

// One approval of a command on several hosts takes what the strictest of them takes.
func TestAHostOfAnotherTierWeakensNoProof(t *testing.T) {
	const limit = "principals: [{name: agent/test, max_hosts: 1}]\n"
	for name, tt := range map[string]struct {
		policy, command string
		want            policy.Proof
	}{
		"a bare yes on dev":           {"approvals: {proof: {dev: unproven}}\n", "touch ", policy.Passphrase},
		"nothing is said":             {"", "touch ", policy.Passphrase},
		"a touch on prod":             {"approvals: {proof: {prod: touch}}\n", "touch ", policy.Touch},
		"a bare yes on both":          {"approvals: {proof: {dev: unproven, prod: unproven}}\n", "touch ", policy.Unproven},
		"too many hosts":              {limit, "ls -d ", policy.Passphrase},
		"too many hosts, and a touch": {limit + "approvals: {proof: {prod: touch}}\n", "ls -d ", policy.Touch},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := rules.Parse([]byte("version: 1\n"+tt.policy), "policy.yaml")
			require.NoError(t, err)
			in := under(t, newPlace(t, devAndProd, ""), rules.New(rules.Config{User: file}), approval.Config{Approvers: enrolled(t)}, false)
			c := in.connect(t, nil)
			for _, targets := range []string{"d1,p1", "p1,d1"} {
				at := filepath.Join(t.TempDir(), "f")
				r := c.call("run", args{"targets": targets, "command": tt.command + at, "wait_s": 0})
				require.Nil(t, r.Error, r.Raw)
				p := in.waiting(t)
				assert.Equal(t, tt.want, p.Question.Decision.LeastProof, targets)
				err := in.desk.Answer(approval.Response{ID: p.ID, Digest: p.Digest(), By: "operator/ada", Approved: true})
				if tt.want == policy.Unproven {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, approval.ErrProof)
				assert.NoFileExists(t, at)
				in.answer(t, p, false)
			}
		})
	}
}
