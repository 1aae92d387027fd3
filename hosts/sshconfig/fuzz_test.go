package sshconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Whatever a file holds: no panic, no hang, and an answer that keeps the promises of Settings.
func FuzzResolve(f *testing.F) {
	for _, s := range singleLines {
		f.Add(s, "foo")
	}
	f.Add("Host *\n HostName %h.example.com\nMatch final host *.com exec \"x\"\nUser y\nProxyJump a,b:3\n", "Web")
	dir := f.TempDir()
	file := filepath.Join(dir, "config")
	l := sshconfig.Loader{Home: dir, User: "u", UID: "1", Hostname: "h", SystemDir: dir,
		LookupEnv: func(string) (string, bool) { return "", false }}
	f.Fuzz(func(t *testing.T, text, host string) {
		if strings.Contains(strings.ToLower(text), "include") {
			return // reads what the pattern finds on this machine
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := l.Open(file)
		if err != nil {
			return
		}
		s, err := cfg.Resolve(host, sshconfig.Options{})
		if err != nil {
			return
		}
		if s.HostName.V == "" || s.HostName.V[0] == '-' || s.User.V == "" || s.User.V[0] == '-' || s.Port.V == 0 {
			t.Fatalf("unusable settings: %+v", s)
		}
		if s.ProxyCommand.V != "" && s.ProxyJump.V != nil {
			t.Fatal("both a jump and a proxy command")
		}
		for _, j := range s.ProxyJump.V {
			if j.Host == "" || j.Host[0] == '-' {
				t.Fatalf("unusable hop %+v", j)
			}
		}
		again, err := cfg.Resolve(host, sshconfig.Options{})
		if err != nil || again.HostName != s.HostName || again.Port != s.Port || len(again.Skipped) != len(s.Skipped) {
			t.Fatal("resolving twice gives two answers")
		}
	})
}
