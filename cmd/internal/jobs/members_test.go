package jobs

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// exitCodeOf is the code of an error that says no more than that.
func exitCodeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *cmdutil.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		return exit.Code
	}
	return exitcode.OK
}

func TestMembersReportHostsWithoutTheJob(t *testing.T) {
	const id = "j_aaaaaaaaaaaaa"
	hs := []hosts.Host{{Name: "web1"}, {Name: "web2"}, {Name: "web3"}}
	on := func(names ...string) (all []wire.Job) {
		for i, name := range names {
			all = append(all, wire.Job{ID: name + "/" + id + "-" + string(rune('1'+i)), Host: name})
		}
		return all
	}
	failed := func(code string, names ...string) (all []wire.JobsFrom) {
		for _, name := range names {
			all = append(all, wire.JobsFrom{Host: name, Code: code, Detail: "why"})
		}
		return all
	}
	for name, tt := range map[string]struct {
		id     string
		listed []wire.Job
		failed []wire.JobsFrom
		code   int
		found  int
		says   string
	}{
		"all have it":         {id: id, listed: on("web1", "web2", "web3"), found: 3},
		"one does not answer": {id: id, listed: on("web1", "web3"), failed: failed("unreachable", "web2"), found: 2, code: exitcode.Unreachable, says: "fairlead: web2: unreachable: why\n"},
		"one is denied, one does not have it": {id: id, listed: on("web1"), failed: failed("denied", "web2"), found: 1, code: exitcode.Denied,
			says: "fairlead: web2: denied: why\nfairlead: web3: there is no such job: it was not started there, or it was collected\n"},
		"one is not in the keeper's inventory": {id: id, listed: on("web1", "web2"), failed: failed("not_found", "web3"), found: 2, code: exitcode.Unknown, says: "fairlead: web3: why\n"},
		"two do not have it": {id: id, listed: on("web1"), found: 1, code: exitcode.Unknown,
			says: "fairlead: web[2-3]: there is no such job: it was not started there, or it was collected\n"},
		"another job": {id: id, listed: append(on("web1", "web2"), wire.Job{ID: "web3/j_bbbbbbbbbbbbb-3", Host: "web3"}), found: 2, code: exitcode.Unknown,
			says: "fairlead: web3: there is no such job: it was not started there, or it was collected\n"},
		"a number picks one":                      {id: id + "-2", listed: on("web1", "web2"), found: 1},
		"a host with more jobs than fit lists it": {id: id, listed: on("web1", "web2", "web3"), failed: failed("full", "web2"), found: 3},
		"none answers": {id: id, failed: failed("unreachable", "web1", "web2", "web3"), code: exitcode.Unreachable,
			says: "fairlead: web[1-3]: unreachable: why\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, errOut := iostreams.Test()
			ref := jobs.Ref{Host: "web[1-3]", ID: tt.id}
			g := &group{}
			has := g.pick(ref, hs, tt.listed)
			err := g.reportOthers(t.Context(), &Options{IO: ios, Target: ref.String()}, ref, hs, has, tt.failed)
			assert.Len(t, g.all, tt.found)
			assert.Equal(t, tt.says, errOut.String())
			if tt.found == 0 {
				assert.Equal(t, tt.code, exitCodeOf(t, err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.code, exitCodeOf(t, g.codes.exit()))
		})
	}
}

// What is interrupted ends there: the hosts that were not asked are not reported one by one.
func TestMembersEndWhenInterrupted(t *testing.T) {
	ios, _, _, errOut := iostreams.Test()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	g := &group{all: []wire.Job{{}}}
	hs := []hosts.Host{{Name: "web1"}, {Name: "web2"}}
	err := g.reportOthers(ctx, &Options{IO: ios}, jobs.Ref{ID: "j_aaaaaaaaaaaaa"}, hs, nil, []wire.JobsFrom{{Host: "web2", Code: "canceled"}})
	require.EqualError(t, err, "stopped")
	assert.Empty(t, errOut.String())
}
