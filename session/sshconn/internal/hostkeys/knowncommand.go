package hostkeys

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit/procgroup"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// Bounds of a KnownHostsCommand.
const (
	knownTime = 10 * time.Second
	maxKnown  = 4 << 20
	maxErrors = 1 << 10 // of what it says on standard error
	maxShown  = 512     // of that in an error
)

// Command asks a program for lines of known_hosts, beside the files, as KnownHostsCommand names it: once to order the
// algorithms, and again for the key that the host has shown. Where it fails no key is trusted.
type Command struct {
	*Live
	Argv func(more map[byte]string) ([]string, error)
	Env  []string
	From string // where ssh_config says it
	Name string // that the key is recorded under
}

func (k *Command) Check(q knownhosts.Query, key ssh.PublicKey) error {
	db, err := k.db("HOSTNAME", key)
	if err != nil {
		return err
	}
	return db.Check(q, key)
}

func (k *Command) Algorithms(q knownhosts.Query) []string {
	db, err := k.db("ORDER", nil)
	if err != nil {
		return knownhosts.DefaultAlgorithms() // Check will say the error
	}
	return db.Algorithms(q)
}

// db is what the files and the program say. key is nil before the host has shown one.
func (k *Command) db(why string, key ssh.PublicKey) (*knownhosts.DB, error) {
	db, err := k.Files.open(k.Paths)
	if err != nil {
		return nil, err
	}
	text, err := k.run(why, key)
	if err != nil {
		return nil, fmt.Errorf("host keys cannot be checked: %s: KnownHostsCommand: %w", k.From, err)
	}
	return db.With("KnownHostsCommand", text), nil
}

func (k *Command) run(why string, key ssh.PublicKey) ([]byte, error) {
	more := map[byte]string{'H': k.Name, 'I': why, 'K': "NONE", 'f': "NONE", 't': "NONE"}
	if key != nil {
		more['K'] = base64.StdEncoding.EncodeToString(key.Marshal())
		more['f'], more['t'] = keyring.Fingerprint(key), key.Type()
	}
	argv, err := k.Argv(more)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), knownTime)
	defer cancel()
	out, said := &head{most: maxKnown, full: cancel}, &head{most: maxErrors}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = k.Env, out, said
	err = procgroup.Run(cmd)
	switch {
	case out.over:
		return nil, fmt.Errorf("the program printed more than %d MiB", maxKnown>>20)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the program has not ended after %v, and was killed", knownTime)
	case err != nil && cmd.ProcessState != nil:
		text := printable.Heard(strings.TrimSpace(said.text.String()), maxShown)
		if text != "" {
			text = fmt.Sprintf("; it says %q", text)
		}
		return nil, fmt.Errorf("the program ended with %s%s", cmd.ProcessState, text)
	case err != nil:
		return nil, fmt.Errorf("the program cannot be started: %w", errors.Unwrap(err))
	}
	return out.text.Bytes(), nil
}

// head keeps the first bytes that are written to it.
type head struct {
	text bytes.Buffer
	most int
	over bool
	full func() // called once there are more; may be nil
}

func (h *head) Write(b []byte) (int, error) {
	room := h.most - h.text.Len()
	h.text.Write(b[:min(room, len(b))])
	if room < len(b) && !h.over {
		if h.over = true; h.full != nil {
			h.full()
		}
	}
	return len(b), nil
}

// commandAge is for how long the answer of a KnownHostsCommand counts for a connection that lives.
const commandAge = time.Minute

// Version has the program asked again once in a while: nothing tells when it would say something else.
func (k *Command) Version() any {
	type answer struct {
		files any
		at    int64
	}
	return answer{k.Live.Version(), time.Now().UnixNano() / int64(commandAge)}
}
