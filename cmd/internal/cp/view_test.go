package cp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// Hosts that a person stopped have not failed.
func TestTheLastLineCountsWhatFailedAndWhatWasStopped(t *testing.T) {
	const ok, failed, stopped = session.StatusOK, session.StatusUnreachable, session.StatusCanceled
	for _, tt := range []struct {
		ends []session.Status
		want string
	}{
		{[]session.Status{ok, ok}, ""},
		{[]session.Status{ok, failed, failed}, "fairlead: 2 of 3 hosts failed, 1 succeeded\n"},
		{[]session.Status{ok, stopped, stopped}, "fairlead: interrupted: 1 of 3 hosts are done\n"},
		{[]session.Status{ok, failed, stopped}, "fairlead: interrupted: 2 of 3 hosts are done\n"},
	} {
		ios, _, _, errOut := iostreams.Test()
		var hs []hosts.Host
		for i := range tt.ends {
			hs = append(hs, hosts.Host{Name: string(rune('a' + i))})
		}
		v := newView(&Options{}, hs, "copied to")
		v.gate = outcome.NewGate(ios, nil)
		for i, status := range tt.ends {
			v.ended(place.HostEnd{Host: hs[i], Result: session.Result{Host: hs[i].Name, Status: status}})
		}
		v.finish(0)
		if tt.want == "" {
			assert.Empty(t, errOut.String())
		} else {
			assert.Contains(t, errOut.String(), tt.want)
		}
	}
}

// A dry run shows what would be copied also where something cannot be read here, and ends as the copy would.
func TestADryRunFailsWhereAFileCannotBeRead(t *testing.T) {
	ios, _, out, errOut := iostreams.Test()
	h := hosts.Host{Name: "a"}
	v := newView(&Options{DryRun: true}, []hosts.Host{h}, "copied to")
	v.gate = outcome.NewGate(ios, nil)
	v.unread = []copies.Report{{Done: copies.Failed, Name: "src/f", Why: "permission denied"}}
	v.ended(place.HostEnd{Host: h, Result: session.Result{Host: "a", Status: session.StatusOK}})
	v.finish(v.tally.Code())
	assert.Equal(t, 1, v.tally.Code())
	assert.Empty(t, out.String())
	assert.Equal(t, "fairlead: a: failed: 1 file would not be copied\n  failed src/f: permission denied\n", errOut.String())
}

// The rest is copied where a directory cannot be read here: what is in it is missing, and no host is told of it.
func TestACopyFailsWhereADirectoryCannotBeRead(t *testing.T) {
	for del, want := range map[bool]string{false: "", true: ", and nothing was removed"} {
		ios, _, out, errOut := iostreams.Test()
		h := hosts.Host{Name: "a"}
		v := newView(&Options{Delete: del}, []hosts.Host{h}, "copied to")
		v.gate = outcome.NewGate(ios, nil)
		v.unread = []copies.Report{{Done: copies.Failed, Name: "src/d", Why: "permission denied"}}
		v.ended(place.HostEnd{Host: h, Result: session.Result{Host: "a", Status: session.StatusOK}})
		v.finish(v.tally.Code())
		assert.Equal(t, 1, v.tally.Code())
		assert.Empty(t, out.String())
		assert.Equal(t, "fairlead: a: failed: the files were copied, but for what is in 1 directory"+want+"\n  failed src/d: permission denied\n", errOut.String())
	}
}

// A copy is denied as a whole for one name among many: which one is said.
func TestNamesThatThePolicyDeniesAreNamed(t *testing.T) {
	ios, _, _, errOut := iostreams.Test()
	h := hosts.Host{Name: "a"}
	v := newView(&Options{}, []hosts.Host{h}, "copied to")
	v.gate = outcome.NewGate(ios, nil)
	v.odd = odd([]copies.Entry{{Name: "src", Dir: true}, {Name: "src/ok"}, {Name: "src/new\nline"}, {Name: "src/\x1b[2J"}, {Name: "src/\u202ebidi"}, {Name: "src/\x9b"}, {Name: "src/\u0085"}})
	denied := session.Result{Host: "a", Status: session.StatusDenied}
	denied.Decision.Rule = "builtin/bytes"
	v.ended(place.HostEnd{Host: h, Result: denied})
	v.finish(v.tally.Code())
	assert.Equal(t, 5, v.tally.Code())
	assert.Equal(t, 3, strings.Count(errOut.String(), ": its name has a control character: rename it, or leave it out\n"), errOut.String())
	assert.NotContains(t, errOut.String(), "\x1b")
	assert.NotContains(t, errOut.String(), "src/ok")
}

func TestADryRunShowsModesAndOwnersThatChange(t *testing.T) {
	v := &view{o: &Options{DryRun: true}}
	assert.Equal(t, "  would change /a mode 0600 -> 0644\n  would change /b sha256 1 -> 2 owner 0:0 -> 5:6\n", v.details([]copies.Report{
		{Done: copies.Changed, Path: "/a", SHA256: "1", Was: "1", Mode: "0644", WasMode: "0600"},
		{Done: copies.Changed, Path: "/b", SHA256: "2", Was: "1", Mode: "0644", Owner: "5:6", WasOwner: "0:0"},
	}))
}
