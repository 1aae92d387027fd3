package copies_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A directory goes to all hosts of a pool at once.
func Example() {
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    localpty.Dial, // session/sshconn dials SSH
		Session: session.Config{Principal: "program/example", Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "app.conf"), []byte("port = 80\n"), 0o640); err != nil {
		panic(err)
	}
	local, err := copies.NewLocal([]string{filepath.Join(dir, "app.conf")})
	if err != nil {
		panic(err)
	}
	up := copies.Copy{
		Plan:   copies.Plan{Op: copies.Upload, Path: filepath.Join(dir, "copied.conf"), Entries: local.Entries},
		Source: func(hosts.Host) io.Reader { return local.Reader() },
	}
	cmd, err := up.Command()
	if err != nil {
		panic(err)
	}
	cmd.Streams = func(h hosts.Host) (stdout, stderr io.Writer) {
		return &copies.Reports{Take: func(r copies.Report) {
			if r.Done == copies.Copied {
				fmt.Println(h.Name, r.Name, r.Size, r.Mode)
			}
		}}, nil
	}
	for h, r := range pool.Each(context.Background(), []hosts.Host{{Name: "here", Transport: hosts.Local}}, cmd) {
		fmt.Println(h.Name, r.Status)
	}
	// Output:
	// here app.conf 10 0640
	// here ok
}
