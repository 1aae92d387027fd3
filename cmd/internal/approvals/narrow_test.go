package approvals

import (
	"crypto/ed25519"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// A fingerprint names a key for --remove: it is whole in a narrow window too.
func TestTheListOfApproversFitsTheTerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "approvers")
	public, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public())
	require.NoError(t, err)
	require.NoError(t, approval.Enroll(file, approval.Approver{Name: "ada", Key: public, Proof: approval.Passphrase, File: "/home/ada/.config/fairlead/approver-ada"}))
	all, err := approval.ReadApprovers(file)
	require.NoError(t, err)
	for _, width := range []int{60, 80, 120} {
		ios, _, out, _ := iostreams.Test()
		ios.OutTTY, ios.NoColor = true, true
		ios.SetWidth(width)
		require.NoError(t, (&EnrollOptions{Base: Base{IO: ios}}).list(file))
		assert.Contains(t, out.String(), all[0].Fingerprint(), width)
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), width)
		}
	}
}
