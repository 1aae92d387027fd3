package held_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/held"
)

func TestUnfitProgramsAreKnownByTheirWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		unfit bool
	}{
		{"lsof", nil, true},
		{"lsof", []string{"-i"}, true},
		{"ss", []string{"-tln"}, false},
		{"ss", []string{"-tlnp"}, true},
		{"ss", []string{"--processes"}, true},
		{"ss", []string{"--proc"}, true},
		{"ss", []string{"-t", "sport", "=", ":80"}, false},
		{"hostname", nil, false},
		{"hostname", []string{"-f"}, true},
		{"hostname", []string{"--fqdn"}, true},
		{"id", []string{"-u"}, false},
		{"id", []string{"root"}, true},
		{"id", []string{""}, true},
		{"find", []string{"/", "-writable"}, true},
		{"find", []string{"/", "-name", "x"}, false},
		{"openssl", []string{"version"}, false},
		{"openssl", []string{"s_client"}, true},
		{"cat", []string{"/etc/hosts"}, false},
		{"dpkg", []string{"--info", "x.deb"}, true},
		{"dpkg", []string{"-l"}, false},
		{"nothing", nil, false},
	} {
		assert.Equal(t, c.unfit, held.Unfit(c.name, c.args) != "", "%s %q", c.name, c.args)
	}
	for command, sockets := range map[string]int{"systemctl status": 3, "systemctl --user status": 2, "systemctl -H web status": 0, "systemctl --host=web status": 0,
		"docker ps": 3, "docker --context x ps": 0, "journalctl -u x": 3, "journalctl -M x": 0, "lsof": 0, "cat /etc/hosts": 0} {
		words := strings.Fields(command)
		assert.Len(t, held.Sockets(words[0], words[1:]), sockets, command)
	}
	for source, unfit := range map[string]bool{
		"readlink /proc/1/exe": true, "ls -l /proc/$pid/fd": true, "cat /proc/*/environ": true, "cat /proc/1/status": false, "cat /proc/self/maps": false,
		"cat /proc/meminfo": false, "ls /proc/[0-9]*/cwd": true, "ls -l /proc/$(pgrep -o nginx)/fd": true, "cat /proc/$(pgrep -o nginx)/limits": false, "cat /proc/sys/fs/file-nr": false,
	} {
		assert.Equal(t, unfit, held.UnfitSource(source) != "", source)
	}
}

// What leads a program elsewhere is found by every shell, and nothing is where it leads to a socket that is open.
func TestWhatLeadsElsewhereIsFoundByEveryShell(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".docker"), 0o700))
	for _, name := range holdable {
		t.Run(name, func(t *testing.T) {
			has(t, name)
			for _, c := range []struct{ command, env, config, want string }{
				{"docker ps", "DOCKER_HOST=", "", ""},
				{"docker ps", "DOCKER_HOST=unix:///run/user/1000/docker.sock", "{\n\"auths\": {}\n}", ""},
				{"docker ps", "DOCKER_HOST=unix:///var/run/docker.sock", "", ""},
				{"docker ps", "DOCKER_HOST=unix:///home/a/docker.sock", "", "$DOCKER_HOST"},
				{"docker ps", "DOCKER_HOST=tcp://10.0.0.1:2375", "", "$DOCKER_HOST"},
				{"docker ps", "DOCKER_CONTEXT=a", "{\n\"currentContext\": \"b\"}", "$DOCKER_CONTEXT\n~/.docker/config.json"},
				{"docker ps", "DOCKER_HOST=*", "", "$DOCKER_HOST"},
				{"systemctl status", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket", "", ""},
				{"systemctl status", "DBUS_SYSTEM_BUS_ADDRESS=tcp:host=a", "", "$DBUS_SYSTEM_BUS_ADDRESS"},
				{"systemctl status", "DOCKER_HOST=tcp://10.0.0.1:2375", "", ""},
				{"systemctl --user status", "XDG_RUNTIME_DIR=/run/user/1000", "", ""},
				{"systemctl --user status", "XDG_RUNTIME_DIR=/tmp/a", "", "$XDG_RUNTIME_DIR"},
				{"systemctl --user status", "DBUS_SESSION_BUS_ADDRESS=unix:abstract=/tmp/dbus", "", "$DBUS_SESSION_BUS_ADDRESS"},
			} {
				require.NoError(t, os.WriteFile(filepath.Join(home, ".docker/config.json"), []byte(c.config), 0o600))
				words := strings.Fields(c.command)
				args := []string{"-c", held.Elsewhere(held.Sockets(words[0], words[1:]))}
				if name == "ash" {
					args = append([]string{"ash"}, args...)
				}
				cmd := exec.Command(program(name), args...)
				cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), c.env}
				out, err := cmd.CombinedOutput()
				require.NoError(t, err)
				assert.Equal(t, c.want, strings.TrimSpace(string(out)), "%+v", c)
			}
		})
	}
}
