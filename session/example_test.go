package session_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// newPool is a pool whose hosts are all this machine; sshconn.Default gives the Dial for SSH.
func newPool() *session.Pool {
	p, err := session.NewPool(session.PoolConfig{
		Dial:    localpty.Dial,
		Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

var here = hosts.Host{Name: "here", Transport: hosts.Local}

// Load an inventory file.
func Example_load() {
	const file = `version: 1
hosts:
  - {name: "web[1-3]", transport: local, tier: dev}
`
	inv, _, err := inventory.Parse([]byte(file), "inventory.yaml", inventory.Options{})
	if err != nil {
		log.Fatal(err) // every complaint, with file and line
	}
	fmt.Println(inv.Len(), "hosts")
	// Output: 3 hosts
}

// Select hosts with an expression.
func Example_select() {
	inv, err := hosts.NewInventory([]hosts.Host{{Name: "web1"}, {Name: "web2"}, {Name: "db1"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	sel, err := hosts.ParseSelector("web* & !web2")
	if err != nil {
		log.Fatal(err)
	}
	picked, err := inv.Select(sel)
	if err != nil {
		log.Fatal(err) // no match is an error, with near misses
	}
	fmt.Println(picked[0].Name)
	// Output: web1
}

// Run a command on one host.
func ExamplePool_Run() {
	pool := newPool()
	defer pool.Close()
	r, err := pool.Run(context.Background(), here, session.Command{Script: "echo out; echo err >&2; exit 3"})
	if err != nil {
		log.Fatal(err) // the host did not answer; a non-zero exit is no error
	}
	fmt.Printf("%s %d %q %q\n", r.Status, *r.ExitCode, r.Stdout, r.Stderr)
	// Output: exit 3 "out\n" "err\n"
}

// Run a command on many hosts, and read the results as they come.
func ExamplePool_Each() {
	pool := newPool()
	defer pool.Close()
	fleet := []hosts.Host{{Name: "a", Transport: hosts.Local}, {Name: "b", Transport: hosts.Local}}
	ok := 0
	for _, r := range pool.Each(context.Background(), fleet, session.Command{Script: "uname"}) {
		if r.Status == session.StatusOK {
			ok++
		}
	}
	fmt.Println(ok, "of", len(fleet))
	// Output: 2 of 2
}

// Keep a session: directory, variables and functions stay from command to command.
func ExamplePool_Open() {
	pool := newPool()
	defer pool.Close()
	s, err := pool.Open(here)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	s.Run(ctx, session.Command{Script: "cd /tmp; greet() { echo hello $1; }"})
	r, _ := s.Run(ctx, session.Command{Script: "greet $PWD", Stdout: os.Stdout})
	fmt.Println(r.Dir)
	// Output:
	// hello /tmp
	// /tmp
}

// Close waits for everything: no shell, connection or goroutine is left.
func ExamplePool_Close() {
	pool := newPool()
	pool.Run(context.Background(), here, session.Command{Script: "true"})
	fmt.Println(pool.Close(), pool.Stats().Sessions)
	// Output: <nil> 0
}
