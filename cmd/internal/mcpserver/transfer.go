package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type transferArgs struct {
	Direction string   `json:"direction"`
	Targets   string   `json:"targets"`
	Local     string   `json:"local" jsonschema:"path in the exchange directory; a directory with / at the end: what is in it"`
	Remote    string   `json:"remote" jsonschema:"path on the hosts; download takes * ? []"`
	Times     bool     `json:"times,omitempty" jsonschema:"keep the files' times"`
	Reason    string   `json:"reason,omitempty"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
}

func (s *Server) addTransferTool() error {
	return add(s, &mcp.Tool{
		Name: "file_transfer", Annotations: hints("Copy files", false, true), OutputSchema: schemaOf(runFields),
		Description: "Copy files and directories between hosts and the operator's exchange directory, without showing their contents. Downloads go to local/HOST/. Reports each file with its sha256. The same approval rules as run.",
	}, s.fileTransfer)
}

// fileTransfer copies files between the exchange directory and hosts. They never pass through the model.
func (s *Server) fileTransfer(ctx context.Context, c *call, in transferArgs) (*runOut, error) {
	out := &runOut{}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, err
	}
	if in.Remote == "" {
		return out, invalid(`remote must be a path on the hosts; "." is the directory that the account logs in to`)
	}
	hs, err := s.selectHosts(in.Targets)
	if err != nil {
		return out, err
	}
	x, err := s.exchange(in.Local)
	if err != nil {
		return out, err
	}
	copy, err := x.copy(ctx, in)
	if err != nil {
		x.root.Close()
		return out, err
	}
	cmd := registry.Command{Reason: in.Reason, Action: copy.Action(), SlotWait: max(wait, time.Millisecond)}
	if cmd.Script, err = copy.Plan.Script(); err == nil {
		cmd.Timeout, err = s.timeout(nil)
	}
	if err != nil {
		x.root.Close()
		return out, err
	}
	f, refused, err := s.toHosts(ctx, hs, cmd, "", "", nil, false)
	if err != nil {
		x.root.Close()
		return out, err
	}
	go func() { // which ends with the registry at the latest
		<-f.Done()
		x.root.Close()
	}()
	s.awaitFleet(ctx, c, f, wait, true)
	b, err := (*outputArgs)(nil).budget(s.cfg.Limits().MaxOutput, s.redactor())
	if err != nil {
		return out, err
	}
	out, err = s.showFleet(f, b)
	if err == nil && refused != nil {
		out.Error, out.Next = faultOf(refused), ""
	}
	return out, err
}

// exchanging is a place in the exchange directory.
type exchanging struct {
	root *os.Root // the whole directory
	dir  string   // its path
	name string   // below it; "." is all of it
}

// exchange finds a place in the exchange directory, which nothing leads out of.
func (s *Server) exchange(local string) (*exchanging, error) {
	dir := s.cfg.Exchange
	if dir == "" {
		return nil, &callError{code: "denied", next: "an operator can name one: exchange: DIR in config.yaml", err: errors.New("no exchange directory is configured; nothing was copied")}
	}
	name := local
	if filepath.IsAbs(local) {
		var err error
		if name, err = filepath.Rel(dir, local); err != nil {
			name = ".."
		}
	}
	if name = filepath.Clean(filepath.FromSlash(name)); local == "" || !filepath.IsLocal(name) {
		return nil, &callError{code: "denied", err: fmt.Errorf("local must be a path in the exchange directory, %s; nothing was copied", dir)}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &callError{code: "error", err: fmt.Errorf("the exchange directory cannot be used: %w", err)}
	}
	return &exchanging{root, dir, name}, nil
}

// copy is what a call asks for.
func (x *exchanging) copy(ctx context.Context, in transferArgs) (*copies.Copy, error) {
	c := &copies.Copy{Plan: copies.Plan{Path: in.Remote, Times: in.Times, Guarded: true}, Quiet: true}
	if in.Direction == "download" {
		c.Plan.Op = copies.Download
		c.Sink = func(h hosts.Host) io.Writer { return x.receive(h, in.Times) }
	} else {
		c.Plan.Op = copies.Upload
		local, err := copies.NewLocalIn(x.root, x.name)
		if err == nil && len(local.Entries) == 0 {
			err = fmt.Errorf("%s: it is neither a file nor a directory; symbolic links are not followed", x.name)
		}
		if err == nil && len(local.Lost) > 0 {
			err = fmt.Errorf("%s: %s", local.Lost[0].Name, local.Lost[0].Why)
		}
		if err == nil {
			err = local.Hash(ctx) // what is approved has hashes
		}
		if err != nil {
			return nil, invalid("local: %w", err)
		}
		if in.Times {
			local.Times()
		}
		c.Plan.Entries = local.Entries
		c.Plan.Merge = strings.HasSuffix(in.Local, "/") && local.Entries[0].Dir
		c.Source = func(hosts.Host) io.Reader { return local.Reader() }
	}
	if err := c.Plan.Check(); err != nil {
		return nil, invalid("%w", err)
	}
	return c, nil
}

// receive takes what a host sends into a directory of its own.
func (x *exchanging) receive(h hosts.Host, times bool) *received {
	r, w := io.Pipe()
	to := &received{PipeWriter: w, done: make(chan struct{})}
	tree := copies.Tree{Dir: x.dir, Below: filepath.ToSlash(filepath.Join(x.name, directoryOf(h))), Times: times}
	go func() { // ends with Close
		defer close(to.done)
		to.err = tree.Receive(context.Background(), r)
		r.CloseWithError(to.err)
	}()
	return to
}

// directoryOf is the name of the directory of a host.
func directoryOf(h hosts.Host) string {
	name := strings.Map(func(c rune) rune {
		if c < ' ' || c == '/' || c == os.PathSeparator {
			return '_'
		}
		return c
	}, h.Name)
	if name == "." || name == ".." {
		return "_" + name
	}
	return name
}

// received takes the stream of a download.
type received struct {
	*io.PipeWriter
	done chan struct{}
	err  error // once done is closed
}

// Close returns when all that came is in its place, and why that is not all.
func (r *received) Close() error {
	r.PipeWriter.Close()
	<-r.done
	return r.err
}
