package sshconn

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit/procgroup"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Bounds of a KnownHostsCommand.
const (
	knownTime = 10 * time.Second
	maxKnown  = 4 << 20
)

// commandKeys asks a program for lines of known_hosts, beside the files, as KnownHostsCommand names it: once to order the
// algorithms, and again for the key that the host has shown. Where it fails no key is trusted.
type commandKeys struct {
	*liveKeys
	argv func(more map[byte]string) ([]string, error)
	env  []string
	from string // where ssh_config says it
	name string // that the key is recorded under
}

func (k *commandKeys) Check(q knownhosts.Query, key hostKey) error {
	db, err := k.db("HOSTNAME", key)
	if err != nil {
		return err
	}
	return db.Check(q, key)
}

func (k *commandKeys) Algorithms(q knownhosts.Query) []string {
	db, err := k.db("ORDER", nil)
	if err != nil {
		return knownhosts.DefaultAlgorithms() // Check will say the error
	}
	return db.Algorithms(q)
}

// db is what the files and the program say. key is nil before the host has shown one.
func (k *commandKeys) db(why string, key hostKey) (*knownhosts.DB, error) {
	db, err := k.f.knownHosts(k.paths)
	if err != nil {
		return nil, err
	}
	text, err := k.run(why, key)
	if err != nil {
		return nil, fmt.Errorf("host keys cannot be checked: %s: KnownHostsCommand: %w", k.from, err)
	}
	return db.With("KnownHostsCommand", text), nil
}

func (k *commandKeys) run(why string, key hostKey) ([]byte, error) {
	more := map[byte]string{'H': k.name, 'I': why, 'K': "NONE", 'f': "NONE", 't': "NONE"}
	if key != nil {
		more['K'] = base64.StdEncoding.EncodeToString(key.Marshal())
		more['f'], more['t'] = fingerprint(key), key.Type()
	}
	argv, err := k.argv(more)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), knownTime)
	defer cancel()
	out, said := &head{most: maxKnown, full: cancel}, &head{most: maxProxySaid}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = k.env, out, said
	err = procgroup.Run(cmd)
	switch {
	case out.over:
		return nil, fmt.Errorf("the program printed more than %d MiB", maxKnown>>20)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the program has not ended after %v, and was killed", knownTime)
	case err != nil && cmd.ProcessState != nil:
		text := printable.Heard(strings.TrimSpace(said.text.String()), maxHeard)
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
