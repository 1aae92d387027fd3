package dialer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Run a command on a selection of an inventory, whatever the transports of its hosts are. The demo hosts are reached over
// real SSH on a server that is built in.
func Example() {
	const file = `version: 1
defaults: {tier: dev}
hosts:
  - {name: here, transport: local}
  - {name: "demo[1-3]", transport: demo}
`
	inv, _, err := inventory.Parse([]byte(file), "inventory.yaml", inventory.Options{})
	if err != nil {
		log.Fatal(err)
	}
	d, err := dialer.Of(inv)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    d.Dial,
		Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	sel, err := hosts.ParseSelector("all & !demo3")
	if err != nil {
		log.Fatal(err)
	}
	picked, err := inv.Select(sel)
	if err != nil {
		log.Fatal(err)
	}
	for h, r := range pool.Each(context.Background(), picked, session.Command{Script: "echo hello from $((1+1))", Keep: 64}) {
		fmt.Printf("%s: %s", h.Name, r.Stdout)
	}
	// Unordered output:
	// here: hello from 2
	// demo1: hello from 2
	// demo2: hello from 2
}
