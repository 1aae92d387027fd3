package web_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
)

// signing is a keeper with approvers: "ada" with a key that a passphrase opens, "bob" with one that is touched.
type signing struct {
	*keepertest.World
	allowed       string // the file of approvers
	adaFile       string // ada's private key, as OpenSSH reads it
	ada, stranger ssh.Signer
	bob           *sshsigtest.SecurityKey
}

func startSigning(t *testing.T) *signing {
	t.Helper()
	s := &signing{bob: sshsigtest.New(t, ssh.KeyAlgoSKED25519)}
	dir := t.TempDir()
	s.allowed, s.adaFile = filepath.Join(dir, "approvers"), filepath.Join(dir, "ada")
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "ada")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.adaFile, pem.EncodeToMemory(block), 0o600))
	s.ada, err = ssh.NewSignerFromSigner(key)
	require.NoError(t, err)
	_, other, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	s.stranger, err = ssh.NewSignerFromSigner(other)
	require.NoError(t, err)
	require.NoError(t, approval.Enroll(s.allowed, approval.Approver{Name: "ada", Key: s.ada.PublicKey(), Proof: approval.Passphrase}))
	require.NoError(t, approval.Enroll(s.allowed, approval.Approver{Name: "bob", Key: s.bob.PublicKey(), Proof: approval.Touch}))
	s.World = keepertest.Start(t, func(c *keeper.Config) {
		c.Approvers = func() ([]approval.Approver, error) { return approval.ReadApprovers(s.allowed) }
	})
	return s
}

// sign makes a signature in OpenSSH's armor.
func sign(t *testing.T, by ssh.Signer, namespace, message string) string {
	t.Helper()
	sig, err := sshsig.Sign(rand.Reader, by, namespace, []byte(message))
	require.NoError(t, err)
	return string(sig.Armor())
}

// asked waits for the question of a command and returns it.
func (s *signing) asked(exec string) (q wire.Document) {
	s.T.Helper()
	require.Eventually(s.T, func() bool {
		all, err := s.Approvals(s.T.Context())
		require.NoError(s.T, err)
		for _, a := range all {
			if a.Exec == exec {
				q, err = s.Approval(s.T.Context(), a.ID)
				require.NoError(s.T, err)
				return true
			}
		}
		return false
	}, time.Minute, 5*time.Millisecond)
	return q
}

// faces are the two ways to answer over HTTP. ask returns what waits for an answer, where that goes, and what waits for
// what has become of it.
var faces = map[string]func(s *signing) (q wire.Document, path string, ended func() string){
	"/v1/approvals": func(s *signing) (wire.Document, string, func() string) {
		agent := s.As("agent/claude")
		e, err := agent.Open(s.T.Context(), wire.Open{Host: "there", CWD: s.Dir})
		require.NoError(s.T, err)
		r, err := agent.Start(s.T.Context(), e.ID, wire.Run{Command: "echo x >> ran"}, "")
		require.NoError(s.T, err)
		q := s.asked(r.Exec)
		return q, "/v1/approvals/" + q.ID, func() string {
			r, err := agent.Wait(s.T.Context(), r.Exec)
			require.NoError(s.T, err)
			return r.Status
		}
	},
	"/agent/terminal": func(s *signing) (wire.Document, string, func() string) {
		b, _ := s.Box("there")
		_, c := s.Post(wire.NewCommand{Sandbox: b.ID, Command: "echo x >> ran"})
		require.Equal(s.T, "pending", c.Status)
		return s.asked(c.ID), keepertest.CommandsPath + "/" + c.ID, func() string {
			var got wire.Command
			s.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
			return got.Outcome
		}
	},
}

// approvedEvent is the yes on record.
func (s *signing) approvedEvent() audit.Event {
	s.T.Helper()
	events, err := audit.Tail(filepath.Join(s.Dir, "audit"), 100)
	require.NoError(s.T, err)
	for _, e := range events {
		if e.Kind == audit.ApprovalResult && e.Status == "approved" {
			return e
		}
	}
	require.Fail(s.T, "no yes is on record")
	return audit.Event{}
}

func keygen(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ssh-keygen is needed: ", err)
		}
		t.Skip("no ssh-keygen")
	}
	return program
}

func TestASignedYesOverHTTPIsOnRecordWithItsProof(t *testing.T) {
	t.Parallel()
	program := keygen(t)
	raw := func(armored string) string {
		_, text, _ := strings.Cut(armored, "-----BEGIN SSH SIGNATURE-----\n")
		text, _, _ = strings.Cut(text, "-----END")
		return strings.ReplaceAll(text, "\n", "")
	}
	for face, ask := range faces {
		for name, tt := range map[string]struct {
			sign  func(s *signing, digest string) wire.Answer
			by    string
			proof string
		}{
			"made by ssh-keygen": {func(s *signing, digest string) wire.Answer {
				cmd := exec.CommandContext(t.Context(), program, "-Y", "sign", "-f", s.adaFile, "-n", "approve@fairlead")
				cmd.Stdin = strings.NewReader(digest)
				out, err := cmd.Output()
				require.NoError(t, err)
				return wire.Answer{Signature: string(out), Proof: "passphrase"}
			}, "ada", "passphrase"},
			"in base64": {func(s *signing, digest string) wire.Answer {
				return wire.Answer{Signature: base64.StdEncoding.EncodeToString([]byte(sign(t, s.ada, approval.Namespace, digest)))}
			}, "ada", "passphrase"},
			"as its lines hold it": {func(s *signing, digest string) wire.Answer {
				return wire.Answer{Signature: raw(sign(t, s.ada, approval.Namespace, digest))}
			}, "ada", "passphrase"},
			"with a touch": {func(s *signing, digest string) wire.Answer {
				return wire.Answer{Signature: sign(t, s.bob, approval.Namespace, digest)}
			}, "bob", "touch"},
		} {
			t.Run(face+" "+name, func(t *testing.T) {
				s := startSigning(t)
				q, path, ended := ask(s)
				in := tt.sign(s, q.Digest)
				in.Digest = q.Digest
				status, p := s.API("", "POST", path+"/approve", in, nil)
				require.Less(t, status, http.StatusMultipleChoices, "%+v", p)
				assert.Equal(t, "ok", ended())

				e := s.approvedEvent()
				assert.Equal(t, "operator/ada", e.ApprovedBy, "who answered is who called")
				assert.Equal(t, tt.by, e.Approver)
				assert.Equal(t, tt.proof, e.ApprovalProof)
				assert.Equal(t, q.Digest, e.ApprovalDigest)
				back, err := approval.Parse([]byte(e.ApprovalDocument))
				require.NoError(t, err)
				assert.Equal(t, q.Digest, string(back.Digest()), "the document on record is what was signed")
				assert.Equal(t, "echo x >> ran", back.Question.Command)

				file := filepath.Join(t.TempDir(), "sig")
				require.NoError(t, os.WriteFile(file, []byte(e.ApprovalSignature), 0o600))
				for digest, right := range map[string]bool{e.ApprovalDigest: true, e.ApprovalDigest + "0": false} {
					cmd := exec.CommandContext(t.Context(), program, "-Y", "verify", "-f", s.allowed, "-I", e.Approver, "-n", "approve@fairlead", "-s", file)
					cmd.Stdin = strings.NewReader(digest)
					out, err := cmd.CombinedOutput()
					assert.Equal(t, right, err == nil, "%s", out)
				}
			})
		}
	}
}

func TestAYesOverHTTPWithAnythingButTheRightSignatureIsNone(t *testing.T) {
	for face, ask := range faces {
		t.Run(face, func(t *testing.T) {
			s := startSigning(t)
			q, path, ended := ask(s)
			good := sign(t, s.ada, approval.Namespace, q.Digest)
			otherDigest := "sha256:" + strings.Repeat("0", 64)
			for name, tt := range map[string]struct {
				in     wire.Answer
				status int
				code   string
			}{
				"no signature":      {wire.Answer{}, http.StatusForbidden, "proof"},
				"another digest":    {wire.Answer{Signature: sign(t, s.ada, approval.Namespace, otherDigest)}, http.StatusForbidden, "proof"},
				"another document":  {wire.Answer{Digest: otherDigest, Signature: sign(t, s.ada, approval.Namespace, otherDigest)}, http.StatusConflict, "conflict"},
				"another namespace": {wire.Answer{Signature: sign(t, s.ada, "file", q.Digest)}, http.StatusForbidden, "proof"},
				"a key of nobody's": {wire.Answer{Signature: sign(t, s.stranger, approval.Namespace, q.Digest)}, http.StatusForbidden, "proof"},
				"a byte is another": {wire.Answer{Signature: tampered(t, good)}, http.StatusForbidden, "proof"},
				"cut off":           {wire.Answer{Signature: good[:len(good)/2]}, http.StatusForbidden, "proof"},
				"no base64 either":  {wire.Answer{Signature: "%%%"}, http.StatusUnprocessableEntity, "invalid"},
				"a key held open":   {wire.Answer{Signature: good, Proof: "unproven"}, http.StatusForbidden, "proof"},
			} {
				if tt.in.Digest == "" {
					tt.in.Digest = q.Digest
				}
				status, p := s.API("", "POST", path+"/approve", tt.in, nil)
				assert.Equal(t, tt.status, status, "%s: %+v", name, p)
				assert.Equal(t, tt.code, p.Code, "%s: %s", name, p.Detail)
			}
			assert.NoFileExists(t, filepath.Join(s.Dir, "ran"))
			again, err := s.Approval(t.Context(), q.ID)
			require.NoError(t, err, "it stays pending")
			assert.Equal(t, q, again)
			status, p := s.API("", "POST", path+"/approve", wire.Answer{Digest: q.Digest, Signature: good}, nil)
			require.Less(t, status, http.StatusMultipleChoices, "%+v", p)
			assert.Equal(t, "ok", ended())
		})
	}
}

// tampered changes a signature in what the key has made of the message, and nothing of its form.
func tampered(t *testing.T, armored string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(armored))
	require.NotNil(t, block)
	block.Bytes[len(block.Bytes)-1] ^= 1
	return base64.StdEncoding.EncodeToString(block.Bytes)
}
