package sshconn

import (
	"errors"
	"net"
	"os"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// firstContact says what becomes of the unknown key of a host.
type firstContact struct {
	file    string // where a key is recorded; "" means nowhere
	hash    bool   // with the name hidden
	accept  bool   // unasked
	silent  string // why no person is asked about it; "" means that one is
	command string // what records it, for messages; "" names none
}

var errNotTrusted = errors.New("its key was not trusted")

// checkHostKey is called once the host has proved that it owns key, and whenever keys are exchanged again. As with ssh, a key that this
// connection has verified is not judged anew then: no person waits for a question, and programs run.
func (l *login) checkHostKey(_ string, remote net.Addr, key ssh.PublicKey) error {
	if verified, _, _ := l.verdict(); keyring.Same(verified, key) {
		return nil
	}
	vouched, err := l.judgeHostKey(key)
	if err == nil {
		err = l.t.checkAddress(remote, key)
	}
	l.traceHostKey(key, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused = err; err == nil {
		l.hostKey, l.vouched = key, vouched
	}
	return err
}

// judgeHostKey decides about a key. vouched means that it is trusted for now, and recorded nowhere.
func (l *login) judgeHostKey(key ssh.PublicKey) (vouched bool, err error) {
	err = l.t.checkHostKey(key)
	if l.t.scan {
		return false, &scanned{key, err}
	}
	unknown, ok := err.(*knownhosts.UnknownError)
	if !ok {
		return false, err
	}
	first := l.t.first
	unknown.Command = first.command
	if first.accept && len(unknown.Skipped) == 0 && unknown.Certificate == nil {
		return first.record(unknown)
	}
	if first.silent != "" || l.t.ask == nil {
		return false, unknown
	}
	l.clk.Pause() // also while somebody else is asked about the same key
	defer l.clk.Resume()
	done, err := l.t.turns.take(l.clk, unknown.Host)
	if err != nil {
		return false, err
	}
	defer done()
	if err = l.t.checkHostKey(key); err == nil {
		return false, nil // it has been recorded meanwhile
	}
	if unknown, ok = err.(*knownhosts.UnknownError); !ok {
		return false, err
	}
	unknown.Command = first.command
	a, err := l.put(Question{Kind: AskHostKey, Unknown: unknown, File: first.file, Try: 1})
	switch {
	case errors.Is(err, ErrNoPerson):
		return false, unknown
	case err != nil:
		return false, err
	case !a.Trust:
		return false, errNotTrusted
	case first.file == "":
		return true, nil
	}
	return first.record(unknown)
}

// record writes a key down. lost says that the file keeps nothing: it is /dev/null.
func (f firstContact) record(e *knownhosts.UnknownError) (lost bool, err error) {
	if f.file == "" {
		return false, e
	}
	if err := knownhosts.Append(f.file, e.Host, e.Key, knownhosts.AppendOptions{Hash: f.hash}); err != nil {
		return false, err
	}
	info, err := os.Stat(f.file)
	return err == nil && !info.Mode().IsRegular(), nil
}
