package sshsig_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
)

var message = []byte("fairlead-approval-v1\nid 3\na_1\n\x00\xff")

func sign(t testing.TB, s ssh.Signer) *sshsig.Signature {
	sig, err := sshsig.Sign(rand.Reader, s, namespace, message)
	require.NoError(t, err)
	return sig
}

func TestASignatureOfEveryKindOfKeyVerifiesAndNothingElseDoes(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := signer(t, kind)
			sig, err := sshsig.Parse(sign(t, s).Armor())
			require.NoError(t, err)
			assert.Equal(t, namespace, sig.Namespace())
			assert.Equal(t, sshsig.SHA512, sig.Hash())
			assert.Equal(t, s.PublicKey().Marshal(), sig.Key().Marshal())
			p, err := sig.Verify(namespace, message)
			require.NoError(t, err)
			if strings.HasPrefix(kind, "sk-") {
				assert.Equal(t, sshsig.Presence{Hardware: true, Touched: true, Counter: 1}, p)
				assert.True(t, sshsig.Hardware(sig.Key()))
			} else {
				assert.Zero(t, p)
				assert.False(t, sshsig.Hardware(sig.Key()))
			}
			_, err = sig.Verify(namespace, append(bytes.Clone(message), '\n'))
			require.ErrorIs(t, err, sshsig.ErrSignature)
			_, err = sig.Verify("file", message)
			require.ErrorIs(t, err, sshsig.ErrSignature)
		})
	}
}

func TestASecurityKeyThatNobodyTouchedProvesNothing(t *testing.T) {
	for _, kind := range []string{ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256} {
		for name, tt := range map[string]struct {
			flags byte
			want  sshsig.Presence
			err   error
		}{
			"no flags":                 {0, sshsig.Presence{}, sshsig.ErrPresence},
			"a PIN without a touch":    {4, sshsig.Presence{}, sshsig.ErrPresence},
			"a touch":                  {1, sshsig.Presence{Hardware: true, Touched: true, Counter: 1}, nil},
			"a touch and a PIN":        {5, sshsig.Presence{Hardware: true, Touched: true, Verified: true, Counter: 1}, nil},
			"bits that nobody defined": {0xfa, sshsig.Presence{}, sshsig.ErrPresence},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				tok := sshsigtest.New(t, kind)
				tok.Flags = tt.flags
				sig, err := sshsig.Sign(rand.Reader, tok, namespace, message)
				if tt.err != nil {
					require.ErrorIs(t, err, tt.err)
					return
				}
				require.NoError(t, err)
				got, err := sig.Verify(namespace, message)
				require.NoError(t, err)
				assert.Equal(t, tt.want, got)
			})
		}
	}
}

// What the hardware says is signed too: whoever sets the bit, or another counter, breaks the signature.
func TestWhatASecurityKeySaysCannotBeChanged(t *testing.T) {
	for _, kind := range []string{ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256} {
		for name, tt := range map[string]struct {
			flags byte
			forge func(rest []byte)
		}{
			"the flags":   {1, func(rest []byte) { rest[0] |= 4 }},
			"the touch":   {0, func(rest []byte) { rest[0] = 1 }},
			"the counter": {1, func(rest []byte) { rest[4]++ }},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				tok := sshsigtest.New(t, kind)
				tok.Flags, tok.Forge = tt.flags, tt.forge
				_, err := sshsig.Sign(rand.Reader, tok, namespace, message)
				require.ErrorIs(t, err, sshsig.ErrSignature)
			})
		}
	}
}

func TestSignNeedsANamespaceAndAKeyThatSigns(t *testing.T) {
	_, err := sshsig.Sign(rand.Reader, signer(t, "ed25519"), "", message)
	require.Error(t, err)
	_, err = sshsig.Sign(rand.Reader, broken{signer(t, "ed25519")}, namespace, message)
	require.ErrorIs(t, err, errBroken)
}

var errBroken = errors.New("broken")

type broken struct{ ssh.Signer }

func (broken) Sign(io.Reader, []byte) (*ssh.Signature, error) { return nil, errBroken }

// What a signer makes is judged as what is read: an agent may be anybody's program.
func TestSignRefusesWhatParseWouldRefuse(t *testing.T) {
	for name, tt := range map[string]struct {
		signer ssh.Signer
		want   string
	}{
		"SHA-1, where RSA cannot be asked for more": {plainSigner{signer(t, "rsa")}, `does not sign with "ssh-rsa"`},
		"the signature of another algorithm":        {changed{signer(t, "ed25519"), func(s *ssh.Signature) { s.Format = ssh.KeyAlgoRSASHA512 }}, "does not sign with"},
		"more behind it":                            {changed{signer(t, "ed25519"), func(s *ssh.Signature) { s.Rest = []byte{0} }}, "1 bytes follow it"},
		"too little from a security key":            {changed{signer(t, "sk-ed25519"), func(s *ssh.Signature) { s.Rest = s.Rest[:4] }}, "has 4 bytes, not 5"},
	} {
		t.Run(name, func(t *testing.T) {
			sig, err := sshsig.Sign(rand.Reader, tt.signer, namespace, message)
			require.ErrorIs(t, err, sshsig.ErrFormat)
			assert.ErrorContains(t, err, "the key's own signature is of no use")
			assert.ErrorContains(t, err, tt.want)
			assert.Nil(t, sig)
		})
	}
}

// plainSigner cannot be asked for an algorithm.
type plainSigner struct{ ssh.Signer }

type changed struct {
	ssh.Signer
	change func(*ssh.Signature)
}

func (c changed) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	made, err := c.Signer.Sign(rand, data)
	if err == nil {
		c.change(made)
	}
	return made, err
}

func TestTheRealProgramTakesOurs(t *testing.T) {
	program := keygen(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			dir, s := t.TempDir(), signer(t, kind)
			file, allowed := filepath.Join(dir, "sig"), filepath.Join(dir, "allowed")
			require.NoError(t, os.WriteFile(file, sign(t, s).Armor(), 0o600))
			line := `ada namespaces="` + namespace + `" ` + string(ssh.MarshalAuthorizedKey(s.PublicKey()))
			require.NoError(t, os.WriteFile(allowed, []byte(line), 0o600))
			for name, argv := range map[string][]string{
				"verify":           {"-Y", "verify", "-f", allowed, "-I", "ada", "-n", namespace, "-s", file},
				"check-novalidate": {"-Y", "check-novalidate", "-n", namespace, "-s", file},
			} {
				cmd := exec.CommandContext(t.Context(), program, argv...)
				cmd.Stdin = bytes.NewReader(message)
				out, err := cmd.CombinedOutput()
				assert.NoError(t, err, "%s: %s", name, out)
				cmd = exec.CommandContext(t.Context(), program, argv...)
				cmd.Stdin = strings.NewReader("another message")
				out, err = cmd.CombinedOutput()
				assert.Error(t, err, "%s: %s", name, out)
			}
		})
	}
}

func TestTheRealProgramsAreTaken(t *testing.T) {
	program := keygen(t)
	for _, kind := range []string{"ed25519", "rsa", "ecdsa"} {
		for _, hash := range []string{sshsig.SHA256, sshsig.SHA512} {
			t.Run(kind+" "+hash, func(t *testing.T) {
				key := filepath.Join(t.TempDir(), "key")
				out, err := exec.CommandContext(t.Context(), program, "-q", "-t", kind, "-N", "", "-f", key).CombinedOutput()
				require.NoError(t, err, "%s", out)
				cmd := exec.CommandContext(t.Context(), program, "-Y", "sign", "-f", key, "-n", namespace, "-O", "hashalg="+hash)
				cmd.Stdin = bytes.NewReader(message)
				armored, err := cmd.Output()
				require.NoError(t, err)
				sig, err := sshsig.Parse(armored)
				require.NoError(t, err)
				assert.Equal(t, hash, sig.Hash())
				_, err = sig.Verify(namespace, message)
				require.NoError(t, err)
				_, err = sig.Verify(namespace, message[1:])
				require.ErrorIs(t, err, sshsig.ErrSignature)
			})
		}
	}
}
