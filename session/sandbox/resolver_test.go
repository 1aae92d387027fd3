package sandbox_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// resolvers are all implementations that work here.
func resolvers(t *testing.T, fn func(t *testing.T, r sandbox.Resolver)) {
	resolversOf(t, fn, "bash", "dash", "ash", "zsh", "mksh", "ksh")
}

// resolversOf leaves shells out: each link on a way costs a host two processes.
func resolversOf(t *testing.T, fn func(t *testing.T, r sandbox.Resolver), shells ...string) {
	t.Run("local", func(t *testing.T) { fn(t, sandbox.Local{}) })
	for _, sh := range shellsToTry {
		if !slices.Contains(shells, sh.name) {
			continue
		}
		t.Run(sh.name, func(t *testing.T) {
			need(t, sh.argv[0])
			fn(t, sandbox.Remote{Run: runner(sh.argv...)})
		})
	}
}

func TestPathsAreResolvedAsTheKernelWould(t *testing.T) {
	dir := scratch(t)
	write(t, dir+"/box/file", "")
	write(t, dir+"/box/sub/deep/file", "")
	write(t, dir+"/box/a -> b/file", "")
	write(t, dir+"/out/secret", "")
	link(t, "sub/deep", dir+"/box/in")
	link(t, "../out", dir+"/box/rel")
	link(t, dir+"/out", dir+"/box/abs")
	link(t, "abs", dir+"/box/chain")
	link(t, "nowhere/x", dir+"/box/dangling")
	link(t, "/", dir+"/box/top")
	link(t, "/proc/self/root"+dir, dir+"/box/magic")
	link(t, "../../out/secret", dir+"/box/sub/up")
	link(t, "sub -> x", dir+"/box/odd -> name")
	link(t, "new\nline \n", dir+"/box/nl")
	link(t, "-n", dir+"/box/-dash")

	want := map[string]string{
		"file":                    "/box/file",
		".":                       "/box",
		"./sub//deep/":            "/box/sub/deep",
		"..":                      "",
		"../out/secret":           "/out/secret",
		"sub/../../out":           "/out",
		"in/file":                 "/box/sub/deep/file",
		"in/../x":                 "/box/sub/x",
		"in/../../x":              "/box/x",
		"rel/secret":              "/out/secret",
		"abs/../box":              "/box",
		"chain/secret":            "/out/secret",
		"dangling":                "/box/nowhere/x",
		"missing/x/../y":          "/box/missing/y",
		"missing/../../x":         "/x",
		"file/x":                  "/box/file/x",
		"top" + dir + "/box":      "/box",
		"sub/up":                  "/out/secret",
		"a -> b/file":             "/box/a -> b/file",
		"odd -> name":             "/box/sub -> x",
		"nl":                      "/box/new\nline \n",
		"-dash":                   "/box/-n",
		"*":                       "/box/*",
		"$HOME `id` 'q' \"d\" \\": "/box/$HOME `id` 'q' \"d\" \\",
		"new\nname":               "/box/new\nname",
		dir + "/box/../out":       "/out",
	}
	resolvers(t, func(t *testing.T, r sandbox.Resolver) {
		var paths []string
		for p := range want {
			paths = append(paths, p)
		}
		got, err := r.Resolve(t.Context(), "here", dir+"/box", paths)
		require.NoError(t, err)
		require.Len(t, got, len(paths))
		for i, p := range paths {
			assert.Equal(t, dir+want[p], got[i], "%q", p)
		}
		// Where the kernel's own answer can be had, it is the same.
		for i, p := range paths {
			if !filepath.IsAbs(p) {
				p = dir + "/box/" + p
			}
			if real, err := filepath.EvalSymlinks(p); err == nil {
				assert.Equal(t, real, got[i], "%q", p)
			}
		}
	})
}

func TestWhatLeadsThroughProcIsNotFollowed(t *testing.T) {
	dir := scratch(t)
	link(t, "/proc/self/root"+dir, dir+"/magic")
	link(t, "/dev/fd", dir+"/fds")
	resolvers(t, func(t *testing.T, r sandbox.Resolver) {
		got, err := r.Resolve(t.Context(), "here", dir, []string{
			"/proc/self/root" + dir, "magic/x", "/proc/self/cwd", "/proc", "/dev/fd/0", "fds/3", "/dev/stdin", "/../proc/1/root",
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"/proc/self/root" + dir, "/proc/self/root" + dir + "/x", "/proc/self/cwd", "/proc", "/dev/fd/0", "/dev/fd/3"}, got[:6])
		assert.Regexp(t, `^/(proc/self/fd/0|dev/fd/0)$`, got[6])
		assert.Equal(t, "/proc/1/root", got[7])
	})
}

func TestALoopOfLinksIsAnError(t *testing.T) {
	dir := scratch(t)
	link(t, "b", dir+"/a")
	link(t, "a", dir+"/b")
	resolversOf(t, func(t *testing.T, r sandbox.Resolver) {
		_, err := r.Resolve(t.Context(), "here", dir, []string{"a/x"})
		require.ErrorContains(t, err, "loop")
		assert.NotContains(t, err.Error(), dir)
	}, "bash", "zsh", "mksh")
}

func TestLinksAreReadWithoutReadlinkToo(t *testing.T) {
	dir := scratch(t)
	link(t, "../out -> x", dir+"/box/a -> b")
	link(t, dir+"/out\nx\n", dir+"/box/nl")
	need(t, "dash")
	run := runner("dash", "-c")
	r := sandbox.Remote{Run: func(ctx context.Context, host, script string) (string, error) {
		return run(ctx, host, "readlink() { return 127; }\n"+script)
	}}
	got, err := r.Resolve(t.Context(), "here", dir+"/box", []string{"a -> b/y", "nl"})
	require.NoError(t, err)
	assert.Equal(t, []string{dir + "/out -> x/y", dir + "/out\nx\n"}, got)
}

func TestAHostThatAnswersNonsenseIsNotBelieved(t *testing.T) {
	for _, said := range []string{"", "E", "/x", "/x\x00", "/x\x00/y\x00E", "x\x00E", "motd\n/x\x00E", "/x\x00E\n"} {
		r := sandbox.Remote{Run: func(context.Context, string, string) (string, error) { return said, nil }}
		_, err := r.Resolve(t.Context(), "web1", "/srv", []string{"a"})
		require.Error(t, err, "%q", said)
		assert.Contains(t, err.Error(), "sandbox: ")
	}
	gone := errors.New("gone")
	r := sandbox.Remote{Run: func(context.Context, string, string) (string, error) { return "", gone }}
	_, err := r.Resolve(t.Context(), "web1", "/srv", []string{"a"})
	require.ErrorIs(t, err, gone)
	_, err = r.Resolve(t.Context(), "web1", "srv", []string{"a"})
	require.ErrorContains(t, err, "not absolute")
	_, err = r.Resolve(t.Context(), "web1", "/srv", []string{"a\x00b"})
	require.Error(t, err)
}

// A shell keeps the name of its directory when that is moved away, or when a link on the way is made anew. Names that are
// relative then mean something else than they seem to.
func TestAShellThatDoesNotStandWhereItSeemsToIsNoticed(t *testing.T) {
	for _, sh := range shellsToTry {
		t.Run(sh.name, func(t *testing.T) {
			need(t, sh.argv[0])
			for name, happens := range map[string]string{
				"nothing happens":      "",
				"it was moved":         "cd BOX/sub/deep; mv BOX/sub/deep BOX/moved; mkdir BOX/sub/deep",
				"it was moved away":    "cd BOX/sub/deep; mv BOX/sub/deep BOX/moved",
				"a link was made anew": "ln -s sub BOX/l; cd BOX/l; rm BOX/l; ln -s sub/deep BOX/l",
				"it was removed":       "cd BOX/sub/deep; rm -r BOX/sub/deep",
			} {
				dir := tree(t)
				cwd := dir + "/box/sub/deep"
				if strings.Contains(happens, "BOX/l") {
					cwd = dir + "/box/l"
				}
				run := runner(sh.argv...)
				r := sandbox.Remote{Here: true, Run: func(ctx context.Context, host, script string) (string, error) {
					if happens == "" {
						script = "cd " + cwd + "\n" + script
					}
					return run(ctx, host, expand(dir, happens)+"\n"+script)
				}}
				got, err := r.Resolve(t.Context(), "here", cwd, []string{"x"})
				if happens == "" {
					require.NoError(t, err)
					assert.Equal(t, []string{cwd + "/x"}, got)
					continue
				}
				require.ErrorIs(t, err, sandbox.ErrMoved, name)
			}
		})
	}
}
