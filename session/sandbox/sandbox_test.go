package sandbox_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

func box(path string) sandbox.Sandbox {
	return sandbox.Sandbox{ID: "sb_1", Principal: "agent/mcp", Host: "web1", Label: "app", Path: path, Active: true}
}

func TestASandboxIsADirectoryBelowTheRoot(t *testing.T) {
	for p, want := range map[string]string{
		"/srv/app":                      "",
		"/srv/my app":                   "",
		"/a":                            "",
		"":                              "is empty",
		"srv/app":                       "is not absolute",
		"~/app":                         "is not absolute",
		"/":                             "is the whole host",
		"/srv/":                         `is not clean: write "/srv"`,
		"/srv/../etc":                   `is not clean: write "/etc"`,
		"//srv":                         "is not clean",
		"/srv/./app":                    "is not clean",
		"/proc":                         "belongs to the kernel",
		"/proc/self/root/srv":           "belongs to the kernel",
		"/dev/fd":                       "belongs to the kernel",
		"/sys/fs":                       "belongs to the kernel",
		"/srv/a\nb":                     "control characters",
		"/srv/a\x00b":                   "control characters",
		"/srv/\xff":                     "not UTF-8",
		"/" + strings.Repeat("a", 4095): "longer than",
	} {
		err := box(p).Validate()
		if want == "" {
			assert.NoError(t, err, p)
			continue
		}
		assert.ErrorContains(t, err, want, p)
	}
	assert.NoError(t, box("/devices/x").Validate())
}

func TestAllMistakesOfASandboxAreToldAtOnce(t *testing.T) {
	err := sandbox.Sandbox{Label: "a\x1bb"}.Validate()
	for _, want := range []string{"principal is missing", "host is missing", "label holds control", "is empty"} {
		assert.ErrorContains(t, err, want)
	}
}

func TestADirectoryIsTakenRelativeToTheSandboxAndStaysInside(t *testing.T) {
	for dir, want := range map[string]string{
		"": "/srv/app", ".": "/srv/app", "sub": "/srv/app/sub", "sub/../x/": "/srv/app/x", "/srv/app": "/srv/app",
		"/srv/app/": "/srv/app", "/srv/app/x/..": "/srv/app", "..app": "/srv/app/..app", "a b": "/srv/app/a b",
	} {
		got, err := box("/srv/app").Resolve(dir)
		require.NoError(t, err, dir)
		assert.Equal(t, want, got, dir)
	}
	for _, dir := range []string{"..", "/", "/srv", "/srv/application", "/srv/app/..", "sub/../..", "../app2", "/etc"} {
		_, err := box("/srv/app").Resolve(dir)
		require.ErrorIs(t, err, sandbox.ErrOutside, dir)
	}
	for _, dir := range []string{"a\nb", "\x00", "\xff"} {
		_, err := box("/srv/app").Resolve(dir)
		require.Error(t, err, dir)
	}
}

func TestASwitchedOffSandboxHoldsNothing(t *testing.T) {
	b := box("/srv/app")
	b.Active = false
	_, err := b.Resolve("")
	require.ErrorIs(t, err, sandbox.ErrInactive)
	_, err = sandbox.Sandbox{}.Resolve("")
	require.Error(t, err)
}

// Whatever is accepted is absolute, clean and below the sandbox, and accepting it again changes nothing.
func FuzzResolve(f *testing.F) {
	for _, s := range [][2]string{{"/srv/app", "x"}, {"/srv/app", "../app/x"}, {"/a", "/a/../a/b"}, {"/a/b", "..//b"}, {"/", "x"}, {"a", ""}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, root, dir string) {
		b := box(root)
		got, err := b.Resolve(dir)
		if err != nil {
			return
		}
		if b.Validate() != nil {
			t.Fatalf("a sandbox at %q is not valid, and resolves %q", root, dir)
		}
		if path.Clean(got) != got || got != root && !strings.HasPrefix(got, root+"/") {
			t.Fatalf("%q in %q is %q", dir, root, got)
		}
		again, err := b.Resolve(got)
		if err != nil || again != got {
			t.Fatalf("%q is %q the second time: %v", got, again, err)
		}
	})
}
