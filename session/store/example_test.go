package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "fl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{Path: filepath.Join(dir, "store.db")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	document := []byte("what an approver is shown")
	c, _, err := s.Create(ctx, store.NewCommand{
		Command:  store.Command{Host: "web01", Command: "systemctl restart app", Status: store.Pending, Verdict: "ask", RequestedBy: "agent/mcp"},
		Exact:    []byte("systemctl restart app"),
		Document: document,
	})
	fmt.Println(c.Status, err)
	c, err = s.Decide(ctx, c.ID, store.Decision{Approve: true, By: "operator/ada", Proof: "unproven", Digest: store.Digest(document)})
	fmt.Println(c.Status, c.ApprovedBy, err)
	_, exact, err := s.Begin(ctx, c.ID, "keeper/here")
	fmt.Println(string(exact), err)
	code := 0
	c, err = s.Finish(ctx, c.ID, "keeper/here", store.End{Status: store.Executed, Outcome: "ok", ExitCode: &code})
	fmt.Println(c.Status, *c.ExitCode, err)
	// Output:
	// pending <nil>
	// approved operator/ada <nil>
	// systemctl restart app <nil>
	// executed 0 <nil>
}
