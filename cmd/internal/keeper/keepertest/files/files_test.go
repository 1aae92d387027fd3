package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func sumOf(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestAFileIsWrittenReadEditedAndListed(t *testing.T) {
	w := keepertest.Start(t)
	dir := w.Folder()
	at := client.FileAt{Host: "here", Path: filepath.Join(dir, "f"), Reason: "because"}
	text := "port = 80\r\n\x00\xff"
	f, err := w.WriteFile(t.Context(), at, []byte(text), client.WriteOptions{Mode: "0640", IfNew: true})
	require.NoError(t, err)
	assert.True(t, f.Created)
	assert.Equal(t, "0640", f.Mode)
	assert.Equal(t, sumOf(text), f.SHA256)
	r, err := w.Look(t.Context(), f.Exec)
	require.NoError(t, err)
	require.NotNil(t, r.File, "it can be looked at again")
	assert.Equal(t, f.SHA256, r.File.SHA256)

	_, err = w.WriteFile(t.Context(), at, nil, client.WriteOptions{IfNew: true})
	assert.Equal(t, "conflict", keepertest.CodeOf(t, err))
	f, err = w.ReadFile(t.Context(), at, 0, 0)
	require.NoError(t, err)
	assert.Equal(t, "base64", f.Encoding)
	assert.Equal(t, sumOf(text), f.SHA256)

	s, err := w.Open(t.Context(), wire.Open{Host: "here", CWD: dir})
	require.NoError(t, err)
	at = client.FileAt{Session: s.ID, Path: "f"}
	f, err = w.EditFile(t.Context(), at, wire.FileEdit{Old: "80\r\n\x00", New: "8080\n"}, "")
	require.NoError(t, err)
	assert.True(t, f.Replaced)
	f, err = w.WriteFile(t.Context(), at, []byte("0123456789"), client.WriteOptions{IfSHA256: f.SHA256})
	require.NoError(t, err)
	_, err = w.WriteFile(t.Context(), at, []byte("x"), client.WriteOptions{IfSHA256: sumOf("something else")})
	assert.Equal(t, "conflict", keepertest.CodeOf(t, err))
	page, err := w.ReadFile(t.Context(), at, 2, 3)
	require.NoError(t, err)
	assert.Equal(t, "234", page.Content)
	assert.EqualValues(t, 5, page.Next)
	assert.Equal(t, f.SHA256, page.SHA256, "of all its bytes")
	page, err = w.ReadFile(t.Context(), at, 5, 0)
	require.NoError(t, err)
	assert.Equal(t, "56789", page.Content)
	assert.Zero(t, page.Next)

	for i := range 500 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("n", 60)+string(rune('a'+i%26))+strings.Repeat("x", i/26)), nil, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o600))
	names, offset := map[string]wire.FileName{}, int64(0)
	for range 20 {
		page, err := w.ListFiles(t.Context(), client.FileAt{Session: s.ID, Path: "."}, offset, 1)
		require.NoError(t, err)
		for _, n := range page.Names {
			names[n.Name] = n
		}
		if offset = page.Next; offset == 0 {
			break
		}
	}
	assert.Len(t, names, 502)
	assert.EqualValues(t, 10, names["f"].Size)
	assert.Equal(t, "file", names["f"].Kind)
	assert.NotNil(t, names["f"].Modified)
	assert.Equal(t, "Yf8=", names["a\ufffd"].NameB64)
	left, err := filepath.Glob(filepath.Join(dir, ".fairlead-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestWhatIsWrongWithAFileIsAProblem(t *testing.T) {
	w := keepertest.Start(t)
	dir := w.Folder()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("aa"), 0o600))
	put := []string{"Content-Type", "application/octet-stream"}
	for name, tt := range map[string]struct {
		method, path, query, body, code string
		status                          int
		headers                         []string
	}{
		"no such file":      {"GET", "", "host=here&path=" + dir + "/none", "", "not_found", 404, nil},
		"a directory":       {"GET", "", "host=here&path=" + dir, "", "directory", 422, nil},
		"no directory":      {"GET", "/list", "host=here&path=" + dir + "/f", "", "invalid", 422, nil},
		"a device":          {"GET", "", "host=here&path=/dev/null", "", "special", 422, nil},
		"no such host":      {"GET", "", "host=nowhere&path=/f", "", "not_found", 404, nil},
		"no such session":   {"GET", "", "session_id=none&path=/f", "", "not_found", 404, nil},
		"both":              {"GET", "", "host=here&session_id=s&path=/f", "", "invalid", 422, nil},
		"neither":           {"GET", "", "path=/f", "", "invalid", 422, nil},
		"no path":           {"GET", "", "host=here", "", "invalid", 422, nil},
		"unseen characters": {"GET", "", "host=here&path=/a%0Ab", "", "invalid", 422, nil},
		"no match":          {"POST", "/edit", "host=here&path=" + dir + "/f", `{"old":"x","new":"y"}`, "no_match", 409, nil},
		"many matches":      {"POST", "/edit", "host=here&path=" + dir + "/f", `{"old":"a","new":"y"}`, "many_matches", 409, nil},
		"no mode":           {"PUT", "", "mode=rw&host=here&path=" + dir + "/f", "x", "invalid", 422, put},
		"no hash":           {"PUT", "", "host=here&path=" + dir + "/f", "x", "invalid", 422, append(put, "If-Match", "x")},
		"an empty tag":      {"PUT", "", "host=here&path=" + dir + "/f", "x", "invalid", 422, append(put, "If-Match", `""`)},
		"an empty match":    {"PUT", "", "host=here&path=" + dir + "/f", "x", "invalid", 400, append(put, "If-Match", "")},
		"an empty none":     {"PUT", "", "host=here&path=" + dir + "/f", "x", "invalid", 400, append(put, "If-None-Match", "")},
		"another hash":      {"PUT", "", "host=here&path=" + dir + "/f", "x", "conflict", 412, append(put, "If-Match", `"`+sumOf("b")+`"`)},
		"not new":           {"PUT", "", "host=here&path=" + dir + "/f", "x", "conflict", 412, append(put, "If-None-Match", "*")},
		"a secret's mark":   {"PUT", "", "host=here&path=" + dir + "/f", "«redacted:password:0123abcd»", "invalid", 422, put},
	} {
		t.Run(name, func(t *testing.T) {
			status, p, text := w.Send(tt.method, "/v1/files"+tt.path+"?"+tt.query, tt.body, tt.headers...)
			assert.Equal(t, tt.status, status, text)
			assert.Equal(t, tt.code, p.Code, text)
			assert.NotContains(t, p.Detail, "hosts: ", "no package's name")
			assert.NotContains(t, p.Detail, "if_sha256", "no name that the request does not have")
		})
	}
	got, err := os.ReadFile(filepath.Join(dir, "f"))
	require.NoError(t, err)
	assert.Equal(t, "aa", string(got))
}

func TestLargeFilesComeAndGo(t *testing.T) {
	t.Parallel()
	w := keepertest.Start(t)
	dir := w.Folder()
	at := client.FileAt{Host: "here", Path: filepath.Join(dir, "big")}
	text := strings.Repeat("0123456789abcdef", 1<<19) // 8 MiB
	f, err := w.WriteFile(t.Context(), at, []byte(text), client.WriteOptions{})
	require.NoError(t, err)
	assert.Equal(t, sumOf(text), f.SHA256)
	for size, want := range map[int]string{16 << 20: "", 16<<20 + 1: "too_large", 17 << 20: "too_large"} {
		if _, err = w.WriteFile(t.Context(), at, make([]byte, size), client.WriteOptions{}); want == "" {
			require.NoError(t, err, "%d bytes", size)
			continue
		}
		assert.Equal(t, want, keepertest.CodeOf(t, err))
	}
	all := w.Entries(audit.FileRequest)
	last := all[len(all)-1].Command
	assert.Contains(t, last, "becomes these 16777216 bytes, sha256 ")
	assert.Contains(t, last, "(truncated: 16777216 bytes in all)", "an entry has a limit")
	assert.Less(t, len(last), 1<<20)
}

func TestAnAgentsFilesPassTheGate(t *testing.T) {
	w := keepertest.Start(t)
	dir := w.Folder()
	secret := "password=correcthorsebattery\n"
	path := filepath.Join(dir, "settings.ini")
	require.NoError(t, os.WriteFile(path, []byte("debug=0\n"+secret), 0o600))
	agent := w.As("agent/a")
	at := client.FileAt{Host: "there", Path: path}
	f, err := agent.ReadFile(t.Context(), at, 0, 0)
	require.NoError(t, err)
	assert.NotContains(t, f.Content, "correcthorse")
	assert.Equal(t, 1, f.Redacted["password"])
	f, err = w.ReadFile(t.Context(), at, 0, 0)
	require.NoError(t, err)
	assert.Contains(t, f.Content, "correcthorse", "an operator sees the exact bytes")

	_, err = agent.WriteFile(t.Context(), client.FileAt{Host: "there", Path: filepath.Join(dir, ".bashrc")}, []byte("x"), client.WriteOptions{})
	assert.Equal(t, "denied", keepertest.CodeOf(t, err))
	zero := 0.0
	f, err = agent.EditFile(t.Context(), at, wire.FileEdit{Old: "debug=0", New: "debug=1", WaitS: &zero, Reason: "because"}, "")
	require.NoError(t, err)
	assert.NotEqual(t, "done", f.State)
	var all []wire.Approval
	require.Eventually(t, func() bool {
		all, err = w.Approvals(t.Context())
		return err == nil && len(all) == 1
	}, time.Minute, 50*time.Millisecond)
	d, err := w.Approval(t.Context(), all[0].ID)
	require.NoError(t, err)
	assert.Contains(t, string(d.Document), "-debug=0\n")
	require.NoError(t, w.Answer(t.Context(), d.ID, true, wire.Answer{Digest: d.Digest}))
	r, err := agent.Wait(t.Context(), f.Exec)
	require.NoError(t, err)
	assert.Equal(t, "ok", r.Status)
	require.NotNil(t, r.File)
	assert.True(t, r.File.Replaced)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "debug=1\n"+secret, string(got))
}

// What a person is asked to look through has a limit, and is refused before anybody is asked.
func TestALargeChangeThatNeedsApprovalIsRefused(t *testing.T) {
	w := keepertest.Start(t)
	at := client.FileAt{Host: "there", Path: filepath.Join(w.Folder(), "f")}
	_, err := w.As("agent/claude").WriteFile(t.Context(), at, []byte(strings.Repeat("x", 200<<10+1)), client.WriteOptions{})
	assert.Equal(t, "too_large", keepertest.CodeOf(t, err))
	assert.ErrorContains(t, err, "a change of 204801 bytes needs approval, and 204800 bytes are the most that a person can look through: split it")
	assert.Empty(t, w.Entries(audit.ApprovalRequest))
	_, err = w.WriteFile(t.Context(), at, []byte(strings.Repeat("x", 200<<10+1)), client.WriteOptions{})
	assert.NoError(t, err, "people need none")
}

func TestAFileIsWrittenOnceForOneKey(t *testing.T) {
	w := keepertest.Start(t)
	at := client.FileAt{Host: "here", Path: filepath.Join(w.Folder(), "f")}
	o := client.WriteOptions{IfNew: true, Key: "k1"}
	one, err := w.WriteFile(t.Context(), at, []byte("x"), o)
	require.NoError(t, err)
	two, err := w.WriteFile(t.Context(), at, []byte("x"), o)
	require.NoError(t, err)
	assert.Equal(t, one.Exec, two.Exec)
	_, err = w.WriteFile(t.Context(), at, []byte("y"), o)
	assert.Equal(t, "conflict", keepertest.CodeOf(t, err))
	// What came to nothing may be asked for again.
	_, err = w.EditFile(t.Context(), client.FileAt{Host: "here", Path: at.Path + "2"}, wire.FileEdit{Old: "a", New: "b"}, "k2")
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
	require.NoError(t, os.WriteFile(at.Path+"2", []byte("a"), 0o600))
	_, err = w.EditFile(t.Context(), client.FileAt{Host: "here", Path: at.Path + "2"}, wire.FileEdit{Old: "a", New: "b"}, "k2")
	require.NoError(t, err)
	_, err = w.ReadFile(t.Context(), client.FileAt{Host: "here", Path: url.PathEscape("/no such")}, 0, 0)
	assert.Error(t, err)
	status, _, _ := w.Send("GET", "/v1/files?host=here&path="+url.QueryEscape(at.Path), "")
	assert.Equal(t, http.StatusOK, status)
}

// A list that is asked for with connected is given over a connection that there is, and logs in nowhere.
func TestNamesAreListedWithoutLoggingIn(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, os.WriteFile(w.Dir+"/one.conf", nil, 0o600))
	_, err := w.NamesNow(t.Context(), "there", w.Dir)
	assert.Equal(t, "unreachable", keepertest.CodeOf(t, err))
	w.Fleet(w.Client, wire.NewRun{Hosts: []string{"there"}, Command: "true"})
	names, err := w.NamesNow(t.Context(), "there", w.Dir)
	require.NoError(t, err)
	var all []string
	for _, n := range names {
		all = append(all, n.Name)
	}
	assert.Contains(t, all, "one.conf")
	_, err = w.NamesNow(t.Context(), "nowhere", w.Dir)
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
}
