package audit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// What would keep a request from being recorded is said by Check, and by nothing else: the chain is as it was, and no file is left.
func TestACheckSaysWhyNothingCanBeRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		spoil, mend func(t *testing.T, dir string)
		is          error
	}{
		"the directory was moved": {
			func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir, dir+".away")) },
			func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir+".away", dir)) },
			os.ErrNotExist,
		},
		"a file was moved": {
			func(t *testing.T, dir string) {
				require.NoError(t, os.Rename(filepath.Join(dir, "000001.jsonl"), filepath.Join(dir, "away")))
			},
			func(t *testing.T, dir string) {
				require.NoError(t, os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "000001.jsonl")))
			},
			os.ErrNotExist,
		},
		"entries were removed": {
			func(t *testing.T, dir string) {
				require.NoError(t, os.Truncate(filepath.Join(dir, "000001.jsonl"), 10))
			},
			nil,
			audit.ErrDamaged,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			f := open(t, dir, audit.Config{})
			require.NoError(t, f.Check(t.Context()))
			require.NoError(t, f.Record(t.Context(), request("e_1", false)))
			require.NoError(t, audit.Check(t.Context(), audit.As(f, audit.Event{})))
			before := names(t, dir)

			c.spoil(t, dir)
			for _, err := range []error{f.Check(t.Context()), audit.Check(t.Context(), audit.As(f, audit.Event{})), f.Record(t.Context(), request("e_2", false))} {
				require.ErrorIs(t, err, audit.ErrUnavailable)
				require.ErrorIs(t, err, c.is)
			}
			if c.mend == nil {
				return
			}
			c.mend(t, dir)
			require.NoError(t, f.Check(t.Context()))
			assert.Equal(t, before, names(t, dir))
			assert.EqualValues(t, 1, whole(t, dir).Records)
			require.NoError(t, f.Record(t.Context(), request("e_3", false)))
			require.NoError(t, f.Close())
			assert.EqualValues(t, 2, whole(t, dir).Records)
			require.ErrorIs(t, f.Check(t.Context()), audit.ErrClosed)
		})
	}
	assert.NoError(t, audit.Check(t.Context(), audit.Discard{}), "it cannot say")
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A place that must acknowledge requests, and does not, keeps them from being sent.
func TestACheckSaysThatAPlaceDoesNotAcknowledge(t *testing.T) {
	for _, required := range []audit.Required{audit.Never, audit.Prod, audit.Always} {
		t.Run(required.String(), func(t *testing.T) {
			to := &elsewhere{}
			tee := audit.NewTee(open(t, newDir(t), audit.Config{}), audit.TeeConfig{Places: []audit.Place{{Name: "file /worm", To: to, Required: required}}})
			defer tee.Close()
			require.NoError(t, tee.Check(t.Context()))
			to.set(errors.New("it is away"))
			err := tee.Record(context.Background(), request("e_1", false))
			if required == audit.Never {
				require.NoError(t, err)
				require.NoError(t, tee.Check(t.Context()))
				return
			}
			require.ErrorContains(t, err, "it is away")
			assert.EqualError(t, tee.Check(t.Context()), err.Error())
			to.set(nil)
			require.NoError(t, tee.Record(context.Background(), request("e_2", false)))
			require.NoError(t, tee.Check(t.Context()))
		})
	}
}
