package approvals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sshconn/privatekey"
)

// way is how somebody could sign here.
type way struct {
	who   approval.Approver
	agent bool           // by the ssh-agent, which may hold the key open; else from who.File
	proof approval.Proof // what a signature proves then
}

// ways returns how approvers could sign here, those that prove more last.
func (b *Base) ways(ctx context.Context, all []approval.Approver) []way {
	var out []way
	held := b.held(ctx)
	for _, who := range all {
		inAgent := slices.ContainsFunc(held, func(k *agent.Key) bool { return bytes.Equal(k.Blob, who.Key.Marshal()) })
		_, err := os.Stat(who.File)
		switch {
		case sshsig.Hardware(who.Key) && inAgent:
			out = append(out, way{who, true, approval.Touch})
		case sshsig.Hardware(who.Key):
		case who.File != "" && err == nil:
			out = append(out, way{who, false, who.Proof})
		case inAgent:
			out = append(out, way{who, true, approval.Unproven})
		}
	}
	slices.SortStableFunc(out, func(x, y way) int {
		return slices.Index(policy.Proofs[:], x.proof) - slices.Index(policy.Proofs[:], y.proof)
	})
	return out
}

// pick returns the way that asks least of a person and proves enough, but better than nothing where that can be.
func pick(ways []way, least approval.Proof) (way, bool) {
	for _, enough := range []approval.Proof{least.Stronger(approval.Passphrase), least} {
		for _, w := range ways {
			if w.proof.AtLeast(enough) {
				return w, true
			}
		}
	}
	return way{}, false
}

// errNoWay is wrapped where nobody can sign here what would do.
var errNoWay = errors.New("no enrolled key is available")

// wayFor returns how the yes to p is signed here; nil is not at all, where that does.
func (b *Base) wayFor(ctx context.Context, p approval.Pending) (*way, error) {
	least := p.Question.Decision.LeastProof
	all, err := b.Approvers()
	if err != nil {
		return nil, err
	}
	w, ok := pick(b.ways(ctx, all), least)
	switch {
	case ok:
		return &w, nil
	case approval.Unproven.AtLeast(least):
		return nil, nil
	}
	return nil, fmt.Errorf("needs %s, and %w; fairlead approvals enroll --list shows which there are, and enroll --new makes one. "+
		"A security key must be in the ssh-agent: ssh-add it", proves(least), errNoWay)
}

// sign signs a yes to p.
func (b *Base) sign(ctx context.Context, p approval.Pending, w way) (sig []byte, err error) {
	if w.agent {
		if w.proof == approval.Touch {
			fmt.Fprintf(b.IO.Err, "fairlead: touch the security key of %s\n", line(w.who.Name))
		}
		return b.signByAgent(ctx, p, w)
	}
	for try := range 3 {
		prompt := fmt.Sprintf("Passphrase of %s's key %s: ", line(w.who.Name), line(w.who.File))
		if try > 0 {
			prompt = "That is not the passphrase. " + prompt
		}
		phrase, err := b.secret(ctx, prompt)
		if err != nil {
			return nil, err
		}
		sig, err = signWith(p, w, phrase)
		clear(phrase)
		if !errors.Is(err, errPassphrase) {
			return sig, err
		}
	}
	return nil, errPassphrase
}

var errPassphrase = errors.New("that is not the passphrase of the key")

// signWith signs with the key of w's file, which phrase opens.
func signWith(p approval.Pending, w way, phrase []byte) ([]byte, error) {
	data, err := os.ReadFile(w.who.File)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	defer clear(data)
	key, err := privatekey.Parse(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the key %s: %w", w.who.File, err)
	case !key.Encrypted() && w.proof != approval.Unproven:
		return nil, fmt.Errorf("the key %s has no passphrase any more, and proves nothing: ssh-keygen -p -f gives it one", w.who.File)
	case key.Encrypted() && len(phrase) == 0:
		return nil, errNoAnswer
	}
	signer, err := key.Open(phrase)
	switch {
	case errors.Is(err, privatekey.ErrPassphrase):
		return nil, errPassphrase
	case err != nil:
		return nil, fmt.Errorf("cannot read the key %s: %w", w.who.File, err)
	case !bytes.Equal(signer.PublicKey().Marshal(), w.who.Key.Marshal()):
		return nil, fmt.Errorf("%s holds another key than the one that is enrolled (%s)", w.who.File, w.who.Fingerprint())
	}
	return approval.Sign(p, signer)
}

// maxTouch is how long a person may take to touch a security key. The agent asks for that.
const maxTouch = 2 * time.Minute

func (b *Base) signByAgent(ctx context.Context, p approval.Pending, w way) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTouch)
	defer cancel()
	client, done, err := b.dialAgent(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the ssh-agent: %w", err)
	}
	defer done()
	signers, err := client.Signers()
	if err != nil {
		return nil, fmt.Errorf("the ssh-agent does not say what it holds: %w", err)
	}
	for _, s := range signers {
		if bytes.Equal(s.PublicKey().Marshal(), w.who.Key.Marshal()) {
			return approval.Sign(p, s)
		}
	}
	return nil, errors.New("the ssh-agent does not hold the key any more")
}

// held returns the keys that the ssh-agent holds; none where there is no agent.
func (b *Base) held(ctx context.Context) []*agent.Key {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, done, err := b.dialAgent(ctx)
	if err != nil {
		return nil
	}
	defer done()
	keys, err := client.List()
	if err != nil {
		return nil
	}
	return keys
}

// dialAgent reaches the ssh-agent. The end of ctx ends the conversation.
func (b *Base) dialAgent(ctx context.Context) (agent.ExtendedAgent, func(), error) {
	socket := b.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, nil, errors.New("no SSH agent is running (SSH_AUTH_SOCK is not set)")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return agent.NewClient(conn), func() { stop(); conn.Close() }, nil
}
