//go:build unix

// Package storetest gives tests a database to keep a store in.
package storetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Postgres is a server of one test binary's own, on a socket in a temporary directory, started by the first test that needs
// it. The zero value is ready for use; it may be used concurrently. Stop ends it.
type Postgres struct {
	once    sync.Once
	dir     string
	cmd     *exec.Cmd
	absent  string // why there is none
	err     error
	schemas atomic.Int64
}

// Schema returns the URL of an empty schema. Where there is no Postgres the test is skipped; with CI=true it fails.
func (p *Postgres) Schema(t *testing.T) string {
	t.Helper()
	p.once.Do(p.start)
	if p.absent != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(p.absent)
		}
		t.Skip(p.absent)
	}
	require.NoError(t, p.err)
	conn, err := pgx.Connect(t.Context(), p.url(""))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	name := fmt.Sprintf("test_%d", p.schemas.Add(1))
	_, err = conn.Exec(t.Context(), "CREATE SCHEMA "+name)
	require.NoError(t, err)
	return p.url("&search_path=" + name)
}

// Ahead returns the URL of an empty schema as Schema does. There the database's clock is so far ahead of this machine's.
func (p *Postgres) Ahead(t *testing.T, by time.Duration) string {
	t.Helper()
	url := p.Schema(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
		$$ SELECT pg_catalog.clock_timestamp() + interval '%d microseconds' $$`, by.Microseconds()))
	require.NoError(t, err)
	return url + ",pg_catalog" // named, it comes after the schema
}

func (p *Postgres) url(more string) string {
	return "postgres://postgres@/postgres?connect_timeout=120&host=" + p.dir + more
}

func (p *Postgres) start() {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		bins = append(bins, path)
	}
	if len(bins) == 0 {
		p.absent = "no Postgres here: initdb is neither in the PATH nor in /usr/lib/postgresql/*/bin"
		return
	}
	slices.Sort(bins)
	bin := filepath.Dir(bins[len(bins)-1])
	p.err = p.run(bin)
}

func (p *Postgres) run(bin string) error {
	var err error
	if p.dir, err = os.MkdirTemp("", "flpg"); err != nil {
		return err
	}
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // which Postgres refuses to run as
		u, err := user.Lookup("nobody")
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(p.dir, uid, gid); err != nil {
			return err
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
	}
	env := append(os.Environ(), "LC_ALL=C", "TZ=UTC", "HOME="+p.dir)
	data := filepath.Join(p.dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.Env, initdb.SysProcAttr = p.dir, env, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	leashed := *attr
	leash(&leashed)
	p.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", p.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "max_connections=200", "-c", "deadlock_timeout=100ms")
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr, p.cmd.Stdout, p.cmd.Stderr = p.dir, env, &leashed, log, log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		conn, err := pgx.Connect(ctx, p.url(""))
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("postgres does not answer: %w: %s", err, text)
		}
	}
}

// Stop ends the server, if it was started.
func (p *Postgres) Stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Signal(syscall.SIGINT) // its fast shutdown
		p.cmd.Wait()
	}
	if p.dir != "" {
		os.RemoveAll(p.dir)
	}
}

// Freeze stops the server and all its processes where they are, as a hung machine would. It runs on with thaw, or with the end of
// the test.
func (p *Postgres) Freeze(t *testing.T) (thaw func()) {
	t.Helper()
	all := []int{p.cmd.Process.Pid}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the system has no /proc to find Postgres' processes in")
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP)) // first: it makes a process for each new connection
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(all[0]) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			require.NoError(t, err)
			all = append(all, pid)
		}
	}
	signal := func(s syscall.Signal) {
		for _, pid := range all {
			_ = syscall.Kill(pid, s) // a backend may have ended
		}
	}
	signal(syscall.SIGSTOP)
	thaw = sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	t.Cleanup(thaw)
	return thaw
}
