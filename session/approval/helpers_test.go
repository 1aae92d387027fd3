package approval_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// serveDir has the test's own program be a server that asks one question, instead of a test.
const serveDir = "APPROVAL_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveDir); dir != "" {
		if err := serveOne(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// serveOne says when it can be asked, and then what the answer was.
func serveOne(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	desk := approval.NewDesk(approval.Config{})
	s, err := approval.Listen(desk, dir)
	if err != nil {
		return err
	}
	events, stop := desk.Subscribe(1)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	go func() { <-events; fmt.Println("ready") }()
	a, err := desk.Approve(ctx, question("agent/x"))
	if err != nil {
		return err
	}
	fmt.Println(a.Approved, a.By, a.Proof, a.Reason)
	cancel()
	return <-served
}

func question(principal string) policy.Question {
	now := time.Now()
	return policy.Question{
		Exec: "e_1", Session: "s_1", Principal: principal, Shell: "bash", Command: "systemctl restart nginx\necho \xff\u202e", Dir: "/srv/\xfe",
		Host:   hosts.Host{Name: "web1", Transport: hosts.SSH, Addr: "10.0.0.1", Port: 22, Via: []string{"a", "b"}, Env: []string{"A=1\n2"}, Groups: []string{"web"}},
		Reason: "it hangs", Interactive: true, Decision: policy.Decision{Verdict: policy.Ask, Class: policy.Dangerous, Rule: "r", Reason: "stops", Hint: "h"},
		Asked: now, Expires: now.Add(15 * time.Minute),
	}
}

// answered is what Approve returned.
type answered struct {
	policy.Answer
	err error
}

// asks puts q, and returns what waits then and where the outcome comes.
func asks(t *testing.T, ctx context.Context, d *approval.Desk, q policy.Question) (approval.Pending, <-chan answered) {
	t.Helper()
	events, stop := d.Subscribe(1)
	defer stop()
	c := make(chan answered, 1)
	go func() {
		a, err := d.Approve(ctx, q)
		c <- answered{a, err}
	}()
	select {
	case e := <-events:
		p, err := d.Get(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		return p, c
	case a := <-c:
		t.Fatal("not asked: ", a.err)
	}
	return approval.Pending{}, nil
}

func yes(p approval.Pending) approval.Response {
	return approval.Response{ID: p.ID, Digest: p.Digest(), By: "operator/ada", Approved: true}
}
