package restart_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// A request that names an account has its session, job or file as that account. The sudo here is a look-alike, which notes whom it
// was to become; the account stays.
func TestRequestsNameTheAccountThatTheyAreFor(t *testing.T) {
	bin, noted := t.TempDir(), filepath.Join(t.TempDir(), "noted")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sudo"), []byte("#!/bin/sh\nlast=\nfor word in \"$@\"; do\n\tcase $last in (-u) AS=$word;; esac\n\tlast=$word\ndone\n"+
		"export AS\necho \"$AS\" >>"+noted+"\nwhile test \"$1\" != --; do shift; done\nshift\nexec \"$@\"\n"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	w := keepertest.Start(t)
	dir := w.Folder()
	s, err := w.Open(t.Context(), wire.Open{Host: "here", Name: "s", Become: "app"})
	require.NoError(t, err)
	assert.Equal(t, "app", s.Become)
	assert.Equal(t, "as app\n", w.RunIn(w.Client, s.ID, "echo as $AS").Stdout)
	assert.Equal(t, "as app\n", w.RunIn(w.Client, s.ID, "echo as $AS").Stdout, "in the same shell")
	assert.Empty(t, w.OpenSession("here", "plain").Become)

	j, err := w.StartJob(t.Context(), wire.NewJob{Host: "here", Command: "echo as $AS", Become: "app"}, "")
	require.NoError(t, err)
	_, text := jobEnds(w, w.Client, j.ID)
	assert.Equal(t, "as app\n", text, "and it is found again as that account")
	_, err = w.CollectJob(t.Context(), j.ID, "")
	require.NoError(t, err)

	file := url.QueryEscape(filepath.Join(dir, "f"))
	for i, request := range [][3]string{
		{"PUT", "/v1/files?path=" + file, "text"}, {"GET", "/v1/files?path=" + file, ""},
		{"POST", "/v1/files/edit?path=" + file, `{"old":"text","new":"other"}`}, {"GET", "/v1/files/list?path=" + url.QueryEscape(dir), ""},
	} {
		account := fmt.Sprint("file", i)
		var headers []string
		if request[0] == "PUT" {
			headers = []string{"Content-Type", "application/octet-stream"}
		}
		status, p, _ := w.Send(request[0], request[1]+"&host=here&become="+account, request[2], headers...)
		assert.Less(t, status, http.StatusMultipleChoices, "%v: %s", request, p.Detail)
		names, err := os.ReadFile(noted)
		require.NoError(t, err)
		assert.Contains(t, string(names), account+"\n", "%v", request)
	}
	for want, request := range map[string][3]string{
		"become: \"a b\"":   {"POST", "/v1/sessions", `{"host":"here","become":"a b"}`},
		"omit become":       {"POST", "/v1/jobs", `{"session_id":"s","command":"true","become":"app"}`},
		"session's account": {"GET", "/v1/files?session_id=s&become=app&path=/etc/passwd", ""},
		"become: \"-x\"":    {"GET", "/v1/files?host=here&become=-x&path=/etc/passwd", ""},
		"become: \"r/t\"":   {"POST", "/v1/jobs", `{"host":"here","command":"true","become":"r/t"}`},
	} {
		status, p, _ := w.Send(request[0], request[1], request[2])
		assert.Equal(t, http.StatusUnprocessableEntity, status, "%v: %s", request, p.Detail)
		assert.Contains(t, p.Detail, want)
	}
}
