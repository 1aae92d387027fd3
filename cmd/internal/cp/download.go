package cp

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// download copies from one host to a path here.
func (o *Options) download(ctx context.Context, src endpoint, dst string) error {
	hs, err := o.one(src)
	if err != nil {
		return err
	}
	tree := copies.Tree{Dir: dst, Mode: o.Mode, Times: o.Times, Merge: mergesThere(src.path)}
	st, err := os.Stat(dst)
	if !tree.Merge && (err != nil || !st.IsDir()) && !strings.HasSuffix(dst, "/") {
		tree.Dir, tree.Name = filepath.Dir(dst), filepath.Base(dst)
		if _, err := os.Stat(tree.Dir); err != nil {
			return cmdutil.Usagef("there is no directory %s here", tree.Dir)
		}
	}
	return o.receive(ctx, hs, src.path, func(hosts.Host) copies.Tree { return tree })
}

// one is the host that cp copies from.
func (o *Options) one(src endpoint) ([]hosts.Host, error) {
	hs, err := o.hosts(src.targets)
	if err == nil && len(hs) > 1 {
		err = cmdutil.Usagef("%s picks %d hosts, and cp copies from one: fairlead fetch %s DIR has a directory for each", src.targets, len(hs), printable.Word(src.String()))
	}
	return hs, err
}

// fetch copies from many hosts into a directory for each.
func (o *Options) fetch(ctx context.Context, src endpoint, dir string) error {
	hs, err := o.hosts(src.targets)
	if err != nil {
		return err
	}
	labels := targets.Labels(hs)
	below := map[targets.Key]string{}
	for i, h := range hs {
		below[targets.KeyOf(h)] = path.Join(directoryOf(labels[i]), strings.Trim(fixed(src.path), "/"))
	}
	return o.receive(ctx, hs, src.path, func(h hosts.Host) copies.Tree {
		return copies.Tree{Dir: dir, Below: below[targets.KeyOf(h)], Mode: o.Mode, Times: o.Times}
	})
}

// directoryOf is a host's name as that of a directory.
func directoryOf(label string) string {
	name := strings.Map(func(c rune) rune {
		if c < ' ' || c == '/' || c == os.PathSeparator {
			return '_'
		}
		return c
	}, label)
	if name == "" || name == "." || name == ".." {
		return "_" + name
	}
	return name
}

// fixed is the directory in which what a path matches is found, as far as no pattern and no ".." is in it.
func fixed(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "~"), "/")
	var keep []string
	parts := strings.Split(path.Dir("/"+strings.TrimRight(name, "/")), "/")
	for _, p := range parts {
		if strings.ContainsAny(p, "*?[") {
			break
		}
		if p != "" && p != "." && p != ".." {
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, "/")
}

// receive downloads what a path matches from each host into a tree of its own.
func (o *Options) receive(ctx context.Context, hs []hosts.Host, from string, tree func(hosts.Host) copies.Tree) error {
	v := newView(o, hs, "copied from")
	if from == "" {
		return cmdutil.Usagef("the path on the host is empty: write HOST:PATH")
	}
	v.sinks = map[targets.Key]*sink{}
	var mu sync.Mutex
	c := &copies.Copy{Plan: copies.Plan{Op: copies.Download, Path: from, Times: o.Times}, Sink: func(h hosts.Host) io.Writer {
		t := tree(h)
		s := newSink(ctx, &t)
		mu.Lock()
		defer mu.Unlock()
		v.sinks[targets.KeyOf(h)] = s
		return s
	}}
	v.sink = func(h hosts.Host) *sink {
		mu.Lock()
		defer mu.Unlock()
		return v.sinks[targets.KeyOf(h)]
	}
	return o.do(ctx, hs, c, v)
}

// sink gives what comes from one host to its tree, in a goroutine of its own.
type sink struct {
	*io.PipeWriter
	done chan struct{}
	err  error // once done is closed

	mu    sync.Mutex // guards local
	local []copies.Report
}

func newSink(ctx context.Context, t *copies.Tree) *sink {
	r, w := io.Pipe()
	s := &sink{PipeWriter: w, done: make(chan struct{})}
	also := t.Take
	t.Take = func(one copies.Report) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.local = append(s.local, one)
		if also != nil {
			also(one)
		}
	}
	go func() {
		defer close(s.done)
		s.err = t.Receive(ctx, r)
		r.CloseWithError(s.err)
	}()
	return s
}

// end waits until all that came is in its place, and returns why that is not all.
func (s *sink) end() ([]copies.Report, error) {
	s.PipeWriter.Close()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.local, s.err
}
