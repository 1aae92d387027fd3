package copies_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/copies"
)

func TestADryRunReportsTheModesThatFilesGet(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "plain"), []byte("a"), 0o640)
		write(t, filepath.Join(src, "program"), []byte("b"), 0o755)
		for _, mode := range []string{"", "0600"} {
			to := filepath.Join(dir, "to"+mode)
			plan := copies.Plan{Path: to, Mode: mode, DryRun: true}
			res, planned := s.upload(plan, src)
			require.NoError(t, errOf(res))
			plan.DryRun = false
			res, done := s.upload(plan, src)
			require.NoError(t, errOf(res))
			modes := func(all []copies.Report, what string) map[string]string {
				got := map[string]string{}
				for _, r := range all {
					if r.Done == what {
						got[r.Path] = r.Mode
					}
				}
				delete(got, to)
				return got
			}
			assert.Len(t, modes(done, copies.Copied), 2)
			assert.Equal(t, modes(done, copies.Copied), modes(planned, copies.New), "mode %q", mode)
		}
	})
}

// What becomes of a file is its content, its mode and its owner.
func TestADryRunReportsModesAndOwnersThatChange(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src, to := filepath.Join(tempDir(t), "f"), filepath.Join(dir, "f")
		write(t, src, []byte("a"), 0o644)
		write(t, to, []byte("a"), 0o600)
		of := func(plan copies.Plan) copies.Report {
			plan.Path, plan.DryRun = to, true
			res, all := s.upload(plan, src)
			require.NoError(t, errOf(res))
			for _, r := range all {
				if r.Path == to {
					return r
				}
			}
			t.Fatal("it is not reported")
			return copies.Report{}
		}
		r := of(copies.Plan{})
		assert.Equal(t, []string{copies.Changed, "0600", "0644", "", ""}, []string{r.Done, r.WasMode, r.Mode, r.WasOwner, r.Owner})
		r = of(copies.Plan{Mode: "0600", Owner: "12345:54321"})
		assert.Equal(t, []string{copies.Changed, "", "0600", "12345:54321"}, []string{r.Done, r.WasMode, r.Mode, r.Owner})
		assert.Regexp(t, `^\d+:\d+$`, r.WasOwner)
		assert.Equal(t, copies.Unchanged, of(copies.Plan{Mode: "0600"}).Done)
	})
}

// A report of what would be copied has the files that can be read, and why the others cannot.
func TestReadableLeavesOutWhatCannotBeRead(t *testing.T) {
	src := filepath.Join(tempDir(t), "src")
	for _, name := range []string{"a", "b", "c"} {
		write(t, filepath.Join(src, name), []byte(name), 0o644)
	}
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(src, "b")))
	all, lost, err := local.Readable(t.Context())
	require.NoError(t, err)
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
		if !e.Dir {
			assert.Equal(t, hash([]byte(filepath.Base(e.Name))), e.SHA256)
		}
	}
	assert.Equal(t, []string{"src", "src/a", "src/c"}, names)
	assert.Equal(t, []copies.Report{{Done: copies.Failed, Name: "src/b", Why: "there is no such file or directory", Code: "not_found"}}, lost)
	assert.Len(t, local.Entries, 4, "a copy still reports it")
}
