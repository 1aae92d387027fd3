package keeper_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// personal reports whether a route takes a person's process: one that answers, administers or ends the keeper.
func personal(route string) bool {
	switch may, described := keepertest.Rights[route]; {
	case !described:
		return false
	case strings.Contains(route, "/v1/questions"):
		return true
	case len(may) == 0, slices.Equal(may, []string{"approver"}), slices.Equal(may, []string{"admin"}):
		return true
	default:
		return slices.Equal(may, []string{"operator", "admin"})
	}
}

// undescribed are routes that the API's description does not tell of.
var undescribed = []string{"GET /metrics", "GET /openapi.json", "POST /mcp", "GET /v1/mcp"}

// routes are all that there are.
func routes(w *keepertest.World) []string {
	w.T.Helper()
	_, _, text := w.Send("GET", "/openapi.json", "")
	var doc struct{ Paths map[string]map[string]any }
	require.NoError(w.T, json.Unmarshal([]byte(text), &doc))
	all := slices.Clone(undescribed)
	for path, methods := range doc.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	for _, route := range all {
		_, known := keepertest.Rights[route]
		require.True(w.T, known || slices.Contains(undescribed, route), "who may use %s?", route)
	}
	return all
}

// fromShell writes a script that calls routes with one curl, and returns it and what reads the status of each.
func fromShell(t *testing.T, socket string, routes []string, headers ...string) (script string, read func(t *testing.T) map[string]string) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for i, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		if i > 0 {
			b.WriteString("next\n") // which forgets what was said of the one before
		}
		fmt.Fprintf(&b, "silent\nmax-time = 20\noutput = /dev/null\nwrite-out = \"%%{http_code} %s\\n\"\nunix-socket = %q\nrequest = %s\n", route, socket, method)
		for _, h := range headers {
			fmt.Fprintf(&b, "header = %q\n", h)
		}
		if method == http.MethodPost || method == http.MethodPatch {
			b.WriteString("header = \"Content-Type: application/json\"\ndata = \"{}\"\n")
		}
		b.WriteString("url = http://x" + strings.ReplaceAll(path, "{id}", "x") + "\n")
	}
	file, all, out := filepath.Join(dir, "all.sh"), filepath.Join(dir, "all.curl"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(all, []byte(b.String()), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("curl -q -K "+all+" >"+out+" 2>/dev/null\n"), 0o600))
	return file, func(t *testing.T) map[string]string {
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		got := map[string]string{}
		for line := range strings.Lines(string(text)) {
			status, route, _ := strings.Cut(strings.TrimSpace(line), " ")
			got[route] = status
		}
		require.Len(t, got, len(routes), "%s", text)
		return got
	}
}

func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		require.Empty(t, os.Getenv("CI"), "curl is needed")
		t.Skip("curl is not installed")
	}
}

// Whatever it says it is: what a session of the keeper has started is refused on every route.
func TestADescendantOfTheKeeperHasNoRouteAtAll(t *testing.T) {
	needCurl(t)
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	s := w.OpenSession("here", "")
	routes := routes(w)
	for name, headers := range map[string][]string{"as the owner": nil, "as an agent": {wire.Principal + ": agent/a"}} {
		t.Run(name, func(t *testing.T) {
			script, read := fromShell(t, w.Places.Socket, routes, headers...)
			w.RunIn(w.Client, s.ID, "sh "+script)
			for route, status := range read(t) {
				assert.Equal(t, "403", status, route)
			}
		})
	}
}

// The tree that hosts an agent works, and neither approves nor administers. It is not a descendant of the keeper, which runs in
// a process of its own here.
func TestTheTreeThatHostsAnAgentNeitherApprovesNorAdministers(t *testing.T) {
	needCurl(t)
	k := keepertest.StartChild(t, keepertest.ChildPlace(t), "")
	routes := slices.DeleteFunc(routes(k.World), func(route string) bool { return route == "GET /v1/events" }) // a stream without end
	script, read := fromShell(t, k.Places.Socket, routes)
	c := client.New(client.Config{Socket: k.Places.Socket, Principal: "agent/a"})
	defer c.Close()
	// This process hosts an agent from here on, and with it all that it starts.
	conn, err := c.MCP(t.Context(), false)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, exec.Command("sh", script).Run())
	for route, status := range read(t) {
		if personal(route) {
			assert.Equal(t, "403", status, route)
		} else {
			assert.NotEqual(t, "403", status, route)
		}
	}
	_, err = k.Health(t.Context())
	require.NoError(t, err, "it was not stopped")
}
