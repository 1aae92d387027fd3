package keeper_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// administered are the entries about administration, oldest first.
func administered(w *keepertest.World) (events []audit.Event) {
	w.T.Helper()
	for e, err := range audit.All(filepath.Join(w.Dir, "audit")) {
		require.NoError(w.T, err)
		if e.Kind.Administers() {
			events = append(events, e)
		}
	}
	return events
}

func TestWhatChangesWhoMayDoWhatIsInTheAuditLog(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) {
		c.SettingsFiles = []string{filepath.Join(filepath.Dir(c.Inventory), "config.yaml"), filepath.Join(filepath.Dir(c.Inventory), "none.yaml")}
		require.NoError(t, os.WriteFile(c.SettingsFiles[0], []byte("keeper: auto\n"), 0o600))
	})
	var tok wire.Token
	status, p := w.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "operator/eve", Role: "approver", TTLS: 60}, &tok)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	status, p = w.API("", "DELETE", "/v1/tokens/"+tok.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status, p.Detail)
	status, _ = w.API("", "DELETE", "/v1/tokens/t_none", nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
	var box wire.Sandbox
	status, p = w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Host: "here", Path: "/srv/app", Owner: "agent/a", Label: "app"}, &box)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	path, off := "/srv", false
	status, p = w.API("", "PATCH", keepertest.SandboxesPath+"/"+box.ID, wire.SandboxChange{Path: &path, Active: &off}, nil)
	require.Equal(t, http.StatusOK, status, p.Detail)
	status, p = w.API("", "DELETE", keepertest.SandboxesPath+"/"+box.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status, p.Detail)
	_, err := w.Web(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte(
		"version: 1\nrules:\n  - {name: free, hosts: tier=dev, principals: [role=agent], classes: [write], verdict: allow, reason: ours}\n"), 0o600))
	w.OpenSession("here", "")
	require.NoError(t, w.StopServing())

	type entry struct {
		kind                audit.Kind
		id, subject, change string
	}
	socket := w.Places.Socket
	want := []entry{
		{audit.KeeperStart, "", socket, "version test"},
		{audit.ConfigLoad, "", w.Cfg.SettingsFiles[0], "sha256 "},
		{audit.PolicyLoad, "", filepath.Join(w.Dir, "policy.yaml"), ""},
		{audit.TokenCreate, tok.ID, "operator/eve", "role approver, expires "},
		{audit.TokenRevoke, tok.ID, "operator/eve", "role approver"},
		{audit.SandboxCreate, box.ID, "agent/a", "path /srv/app, label app"},
		{audit.SandboxChange, box.ID, "agent/a", "from path /srv/app, label app to path /srv, label app, not active"},
		{audit.SandboxDelete, box.ID, "agent/a", "path /srv, label app, not active"},
		{audit.WebLink, "", "http://127.0.0.1:", ""},
		{audit.PolicyLoad, "", filepath.Join(w.Dir, "policy.yaml"), ""},
		{audit.KeeperEnd, "", socket, ""},
	}
	got := administered(w)
	require.Len(t, got, len(want))
	for i, e := range got {
		assert.Equal(t, want[i].kind, e.Kind)
		assert.Equal(t, want[i].id, e.ID, e.Kind)
		assert.Contains(t, e.Subject, want[i].subject, e.Kind)
		assert.Contains(t, e.Change, want[i].change, e.Kind)
		assert.Equal(t, "operator/ada", e.Principal, e.Kind)
		require.NotNil(t, e.UID, e.Kind)
		assert.Equal(t, os.Getuid(), *e.UID)
	}
	assert.Equal(t, "builtin", got[2].Policy)
	assert.NotEqual(t, "builtin", got[9].Policy)

	found, err := audit.Show(filepath.Join(w.Dir, "audit"), tok.ID)
	require.NoError(t, err)
	assert.Len(t, found, 2)
	n := 0
	for events, err := range audit.Search(filepath.Join(w.Dir, "audit"), audit.Query{Text: "operator/eve"}) {
		require.NoError(t, err)
		require.Len(t, events, 1, "each stands alone")
		n++
	}
	assert.Equal(t, 2, n)
}

// failing is an audit log that takes nothing of some kinds.
type failing struct {
	audit.Sink
	kinds map[audit.Kind]bool
}

func (f *failing) Record(ctx context.Context, e audit.Event) error {
	if f.kinds[e.Kind] {
		return errors.New("no space left on device")
	}
	return f.Sink.Record(ctx, e)
}

func TestWhatCannotBeRecordedIsNotChanged(t *testing.T) {
	f := &failing{kinds: map[audit.Kind]bool{}}
	w := keepertest.Start(t, func(c *keeper.Config) { f.Sink, c.Audit = c.Audit, f })
	var tok wire.Token
	status, p := w.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "operator/eve", Role: "viewer"}, &tok)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	var box wire.Sandbox
	status, p = w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Host: "here", Path: "/srv/app", Owner: "agent/a"}, &box)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	for _, kind := range []audit.Kind{audit.TokenCreate, audit.TokenRevoke, audit.SandboxCreate, audit.SandboxChange, audit.SandboxDelete, audit.WebLink} {
		f.kinds[kind] = true
	}
	path := "/srv"
	for name, try := range map[string]func() (int, wire.Problem){
		"token": func() (int, wire.Problem) {
			return w.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "operator/mallory", Role: "viewer"}, nil)
		},
		"revoke": func() (int, wire.Problem) { return w.API("", "DELETE", "/v1/tokens/"+tok.ID, nil, nil) },
		"sandbox": func() (int, wire.Problem) {
			return w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Host: "here", Path: "/srv/b"}, nil)
		},
		"change": func() (int, wire.Problem) {
			return w.API("", "PATCH", keepertest.SandboxesPath+"/"+box.ID, wire.SandboxChange{Path: &path}, nil)
		},
		"delete": func() (int, wire.Problem) { return w.API("", "DELETE", keepertest.SandboxesPath+"/"+box.ID, nil, nil) },
		"link":   func() (int, wire.Problem) { return w.API("", "POST", "/v1/web", nil, nil) },
	} {
		status, p := try()
		assert.Equal(t, http.StatusInternalServerError, status, name)
		assert.Equal(t, "audit", p.Code, name)
		assert.Contains(t, p.Detail, "nothing was changed", name)
	}
	var list wire.Tokens
	w.API("", "GET", "/v1/tokens", nil, &list)
	for _, tok := range list.Items {
		assert.Equal(t, tok.Principal == "operator/mallory", tok.Revoked != nil, tok.Principal)
	}
	var boxes wire.Sandboxes
	w.API("", "GET", keepertest.SandboxesPath, nil, &boxes)
	require.Len(t, boxes.Items, 1)
	assert.Equal(t, "/srv/app", boxes.Items[0].Path)
}

func TestATokenForTheAccountInOtherLettersDoesNotApprove(t *testing.T) {
	w := keepertest.Start(t)
	for _, name := range []string{"operator/ada", "operator/ADA", "operator/Ada"} {
		status, p := w.API("", "POST", "/v1/tokens", wire.NewToken{Principal: name, Role: "approver"}, nil)
		assert.Equal(t, http.StatusForbidden, status, name)
		assert.Contains(t, p.Detail, "cannot approve their own requests", name)
	}
}

// watched calls seen before it passes an entry on.
type watched struct {
	audit.Sink
	seen func(audit.Event)
}

func (s watched) Record(ctx context.Context, e audit.Event) error {
	s.seen(e)
	return s.Sink.Record(ctx, e)
}

// Otherwise a keeper that is killed between the two leaves a right that the audit log does not know.
func TestASandboxIsInTheAuditLogBeforeItIsThere(t *testing.T) {
	var recorded string
	w := keepertest.Start(t, func(c *keeper.Config) {
		c.Audit = watched{c.Audit, func(e audit.Event) {
			if e.Kind != audit.SandboxCreate {
				return
			}
			recorded = e.ID
			page, err := c.Store.Sandboxes(t.Context(), store.SandboxFilter{}, store.Paging{})
			assert.NoError(t, err)
			assert.Empty(t, page.Items, "it was there before")
		}}
	})
	b, _ := w.Box("here")
	assert.Equal(t, recorded, b.ID)
}
