package jobs_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Start a job on a host, wait for its end, and take it off the host. The job needs neither the connection nor this program:
// another one finds it by its id.
func ExampleOn() {
	home, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	server, err := sshserver.Start(sshserver.Config{Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, Dir: home}) // in place of a real one
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	addr, portText, _ := net.SplitHostPort(server.Addr())
	port, _ := strconv.ParseUint(portText, 10, 16)
	web1 := hosts.Host{Name: "web1", Addr: addr, Port: uint16(port), User: "deploy"}
	known, err := knownhosts.Static(knownhosts.StaticKey{Host: knownhosts.Name(web1.Addr, web1.Port), Key: server.HostKey()})
	if err != nil {
		log.Fatal(err)
	}
	dialer, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, known)
	if err != nil {
		log.Fatal(err)
	}
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    dialer.Dial,
		Session: session.Config{Principal: "program/backup", Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	ctx := context.Background()
	on := jobs.On(pool, web1)
	job, _, err := on.Start(ctx, jobs.Spec{Command: "echo saved; exit 3", Reason: "nightly backup"})
	if err != nil {
		log.Fatal(err)
	}
	look, err := on.Look(ctx, job.ID, jobs.LookOptions{Wait: 30 * time.Second, EndOnly: true, Stdout: jobs.Span{Limit: 1 << 10}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, exit code %d: %s", look.State, *look.ExitCode, look.Stdout)
	if _, err := on.Remove(ctx, job.ID, ""); err != nil {
		log.Fatal(err)
	}
	// Output: ended, exit code 3: saved
}
