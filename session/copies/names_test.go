package copies_test

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// Names of files are bytes: two that differ are two files, on the host and here.
func TestFilesHaveTheirNamesWhateverTheirBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file systems of this system take text only as names")
	}
	names := []string{"a\xff", "a\xfe", "a\ufffd", "\xff/\xfe", "new\nline", "tab\t", "-rf", "[a]*?", `back\slash`, "'\"$(x)`", " lead", "trail ", "..x", "\x01\x7f", "x\xc3"}
	r := rand.New(rand.NewPCG(1, 9))
	for range 30 {
		name := make([]byte, 1+r.IntN(40))
		for i := range name {
			if name[i] = byte(1 + r.IntN(255)); name[i] == '/' {
				name[i] = 0xf0
			}
		}
		names = append(names, "r"+string(name))
	}
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(dir, "src")
		for _, name := range names {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(src, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(src, name), []byte("of "+name), 0o600))
		}
		res, _ := s.upload(copies.Plan{Path: filepath.Join(dir, "up")}, src)
		require.Equal(t, session.StatusOK, res.Status, res.Stderr)
		res, _, err := s.download(src, copies.Tree{Dir: dir, Name: "down"})
		require.NoError(t, err)
		require.Equal(t, session.StatusOK, res.Status, res.Stderr)
		for _, to := range []string{"up", "down"} {
			for _, name := range names {
				got, err := os.ReadFile(filepath.Join(dir, to, name))
				if assert.NoError(t, err, "%s %q", to, name) {
					assert.Equal(t, "of "+name, string(got))
				}
			}
		}
	})
}

func TestAnEntryOfJSONHasOneName(t *testing.T) {
	for _, name := range []string{"a", "a\xff", "\xfe\xff/b", "a\ufffd", "\x80\x80"} {
		text, err := json.Marshal(copies.Entry{Name: name, Size: 3})
		require.NoError(t, err)
		var back copies.Entry
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, copies.Entry{Name: name, Size: 3}, back)
	}
	for _, text := range []string{
		`{"name": "etc", "name_b64": "YWI="}`, // "ab", which is UTF-8
		`{"name": "b", "name_b64": "Yf8="}`,
		`{"name": "a\ufffd", "name_b64": "Yf8"}`,
	} {
		var e copies.Entry
		assert.Error(t, json.Unmarshal([]byte(text), &e), text)
	}
}

// What is in the way of one file keeps the others from nothing.
func TestADownloadGoesOnBesideWhatIsInTheWay(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src, to := filepath.Join(dir, "src"), filepath.Join(dir, "to")
		for _, name := range []string{"a", "b", "c"} {
			write(t, filepath.Join(src, name), []byte("of "+name), 0o644)
		}
		write(t, filepath.Join(dir, "else"), []byte("else"), 0o644)
		require.NoError(t, os.MkdirAll(filepath.Join(to, "src"), 0o755))
		require.NoError(t, symlink(filepath.Join(dir, "else"), filepath.Join(to, "src", "b")))
		var failed []copies.Report
		_, _, err := s.download(src, copies.Tree{Dir: to, Take: func(r copies.Report) {
			if r.Done == copies.Failed {
				failed = append(failed, r)
			}
		}})
		assert.EqualError(t, err, "1 of 3 files were not copied")
		require.Len(t, failed, 1)
		assert.Equal(t, filepath.Join(to, "src", "b"), failed[0].Path)
		assert.Equal(t, "of a", read(t, filepath.Join(to, "src", "a")))
		assert.Equal(t, "of c", read(t, filepath.Join(to, "src", "c")))
		assert.Equal(t, "else", read(t, filepath.Join(dir, "else")))
	})
}

func TestADownloadMergesTheOnlyDirectory(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src, to := filepath.Join(dir, "src"), filepath.Join(dir, "to")
		write(t, filepath.Join(src, "sub", "a"), []byte("of a"), 0o400)
		write(t, filepath.Join(to, "old"), []byte("old"), 0o644)
		_, _, err := s.download(src, copies.Tree{Dir: to, Merge: true, Private: true})
		require.NoError(t, err)
		assert.Equal(t, "of a", read(t, filepath.Join(to, "sub", "a")))
		assert.Equal(t, os.FileMode(0o600), mode(t, filepath.Join(to, "sub", "a")))
		assert.Equal(t, "old", read(t, filepath.Join(to, "old")))
		_, _, err = s.download(filepath.Join(src, "sub", "a"), copies.Tree{Dir: to, Merge: true})
		assert.ErrorContains(t, err, "a is not a directory on the host")
	})
}

// A file whose name is the pattern keeps no other file back. Only where the pattern does not match it, its name is meant.
func TestANameThatIsAPatternHidesNothing(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		for _, name := range []string{"*", "a", "b", "[id].tsx", "i.tsx"} {
			write(t, filepath.Join(dir, name), []byte(name), 0o644)
		}
		for pattern, want := range map[string][]string{
			"*": {"*", "[id].tsx", "a", "b", "i.tsx"}, "?": {"*", "a", "b"}, "[id].tsx": {"[id].tsx"}, "[i].tsx": {"i.tsx"},
		} {
			back := tempDir(t)
			res, _, err := s.download(dir+"/"+pattern, copies.Tree{Dir: back})
			require.NoError(t, err, pattern)
			require.Nil(t, res.Err, pattern)
			entries, err := os.ReadDir(back)
			require.NoError(t, err)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			assert.Equal(t, want, names, pattern)
		}
	})
}

// A link to nothing is not read. What else a pattern matches is.
func TestALinkToNothingKeepsNothingElseBack(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		write(t, filepath.Join(dir, "a.log"), []byte("a"), 0o644)
		write(t, filepath.Join(dir, "z.log"), []byte("z"), 0o644)
		require.NoError(t, symlink("/nonexistent/file", filepath.Join(dir, "old.log")))
		require.NoError(t, symlink("/nonexistent/file", filepath.Join(dir, "lonely")))
		back := tempDir(t)
		res, reports, err := s.download(dir+"/*.log", copies.Tree{Dir: back})
		require.NoError(t, err)
		require.NotNil(t, res.Err)
		assert.Contains(t, res.Err.Error(), "1 of 3 files")
		assert.Equal(t, "a", read(t, filepath.Join(back, "a.log")))
		assert.Equal(t, "z", read(t, filepath.Join(back, "z.log")))
		got := map[string]string{}
		for _, r := range reports {
			got[r.Path] = r.Done + " " + r.Code
		}
		assert.Equal(t, copies.Failed+" not_found", got[filepath.Join(dir, "old.log")])
		for _, path := range []string{dir + "/lone*", dir + "/lonely"} {
			res, _, _ = s.download(path, copies.Tree{Dir: back})
			require.NotNil(t, res.Err)
			assert.Equal(t, "not_found", res.Err.Code, path)
		}
	})
}

// Several things cannot have one name: nothing gets it.
func TestOfSeveralThingsForOneNameNoneIsMade(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		write(t, filepath.Join(dir, "files/a.log"), []byte("a"), 0o644)
		write(t, filepath.Join(dir, "files/b.log"), []byte("b"), 0o644)
		write(t, filepath.Join(dir, "both/a/deep/a"), []byte("a"), 0o644)
		write(t, filepath.Join(dir, "both/b"), []byte("b"), 0o644)
		write(t, filepath.Join(dir, "dirs/a/a"), []byte("a"), 0o644)
		write(t, filepath.Join(dir, "dirs/b/b"), []byte("b"), 0o644)
		for _, pattern := range []string{"files/*", "both/*", "dirs/*"} {
			back := tempDir(t)
			took := 0
			_, _, err := s.download(filepath.Join(dir, pattern), copies.Tree{Dir: back, Name: "new", Take: func(copies.Report) { took++ }})
			assert.EqualError(t, err, "several things match, and they cannot have one name: name a directory that exists", pattern)
			names, err := os.ReadDir(back)
			require.NoError(t, err)
			assert.Empty(t, names, pattern)
			assert.Zero(t, took, pattern)
		}
		back := tempDir(t)
		_, _, err := s.download(filepath.Join(dir, "files/a*"), copies.Tree{Dir: back, Name: "new"})
		require.NoError(t, err)
		assert.Equal(t, "a", read(t, filepath.Join(back, "new")))
		_, _, err = s.download(filepath.Join(dir, "both/*"), copies.Tree{Dir: back})
		require.NoError(t, err)
		assert.Equal(t, "a", read(t, filepath.Join(back, "a/deep/a")))
		assert.Equal(t, "b", read(t, filepath.Join(back, "b")))
	})
}

// A directory does not take the place of a file, and the error says so.
func TestADirectoryDoesNotTakeThePlaceOfAFile(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		write(t, filepath.Join(dir, "src/a"), []byte("a"), 0o644)
		back := tempDir(t)
		file, link := filepath.Join(back, "file"), filepath.Join(back, "link")
		write(t, file, []byte("file"), 0o644)
		require.NoError(t, symlink(dir, link))
		for name, want := range map[string]string{
			"file": file + " is a file, and a directory cannot take its place",
			"link": link + " is a symbolic link or a special file, and a directory cannot take its place",
		} {
			_, _, err := s.download(filepath.Join(dir, "src"), copies.Tree{Dir: back, Name: name})
			assert.EqualError(t, err, want)
		}
		_, _, err := s.download(filepath.Join(dir, "src"), copies.Tree{Dir: file + "/"})
		assert.EqualError(t, err, file+"/: not a directory")
		assert.Equal(t, "file", read(t, file))
	})
}

// What is not wanted is refused before anything of it is kept.
func TestATreeIsAskedBeforeItTakesSomething(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		write(t, filepath.Join(dir, "src/a"), []byte("a"), 0o644)
		write(t, filepath.Join(dir, "src/b"), []byte("b"), 0o644)
		for path, want := range map[string][]string{dir + "/src": nil, dir + "/src/?": {"a"}} {
			back := tempDir(t)
			no := errors.New("no")
			_, _, err := s.download(path, copies.Tree{Dir: back, Accept: func(e copies.Entry) error {
				if e.Dir || e.Name == "b" {
					return no
				}
				return nil
			}})
			require.ErrorIs(t, err, no, path)
			var got []string
			names, err := os.ReadDir(back)
			require.NoError(t, err)
			for _, n := range names {
				got = append(got, n.Name())
			}
			assert.Equal(t, want, got, path)
		}
	})
}

// A file on the host that becomes shorter while it is read is not copied: what has come is neither the old file nor the new one.
func TestAFileThatShrinksWhileItIsReadIsNotCopied(t *testing.T) {
	for name, reach := range map[string]func() *site{"sftp": func() *site { return sshd(t) }, "local": func() *site {
		return newSite(t, hosts.Host{Name: "here", Transport: hosts.Local}, localpty.Dial)
	}} {
		s, file, back := reach(), filepath.Join(tempDir(t), "log"), tempDir(t)
		write(t, file, make([]byte, 64<<20), 0o644)
		r, w := io.Pipe()
		var received sync.WaitGroup
		received.Go(func() {
			tree := copies.Tree{Dir: back}
			r.CloseWithError(tree.Receive(t.Context(), &shrinking{Reader: r, file: file, after: 1 << 20}))
		})
		res, reports := s.run(&copies.Copy{Plan: copies.Plan{Op: copies.Download, Path: file}, Sink: func(hosts.Host) io.Writer { return w }})
		w.Close()
		received.Wait()
		require.Error(t, errOf(res))
		var why []string
		for _, one := range reports {
			if one.Done == copies.Failed {
				why = append(why, one.Why)
			}
		}
		assert.Equal(t, []string{"the source changed while it was read"}, why)
		assert.NoFileExists(t, filepath.Join(back, "log"), name)
		noLeftovers(t, back)
	}
}

// shrinking cuts a file off once so much was read.
type shrinking struct {
	io.Reader
	file  string
	after int
}

func (s *shrinking) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.after -= n; s.after <= 0 && s.file != "" {
		err = errors.Join(err, os.Truncate(s.file, 10))
		s.file = ""
	}
	return n, err
}
