package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

func recordings(w *keepertest.World, query string) []wire.Recording {
	w.T.Helper()
	var list wire.Recordings
	status, _, text := w.Send("GET", "/v1/recordings"+query, "")
	require.Equal(w.T, http.StatusOK, status, text)
	require.NoError(w.T, json.Unmarshal([]byte(text), &list))
	return list.Items
}

// cast is a recording as the keeper tells it, and what it plays.
func cast(w *keepertest.World, id string) (cast, plays string) {
	w.T.Helper()
	status, _, cast := w.Send("GET", "/v1/recordings/"+id, "")
	require.Equal(w.T, http.StatusOK, status, cast)
	var out bytes.Buffer
	_, err := screen.Play(strings.NewReader(cast), &out, screen.PlayOptions{})
	require.NoError(w.T, err)
	return cast, out.String()
}

// damage puts a line into the record that is none.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], append(text, "{nonsense\n"...), 0o600))
}

func TestATerminalsRecordingIsListedAndReplayed(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	assert.Empty(t, recordings(w, ""))
	term := w.Terminal("host=here&rows=30&cols=100&record=input")
	term.Line(`echo "=$((40+2))="; echo "token=abcdefgh"ijklmnop`)
	term.See("token=abcdefghijklmnop\r\n") // what is typed is echoed with a quote in it
	list := recordings(w, "")
	require.Len(t, list, 1)
	assert.True(t, list[0].Live)
	assert.Nil(t, list[0].Ended)
	assert.Equal(t, "operator/ada", list[0].Principal)
	assert.Equal(t, w.Watched()[0].ID, list[0].ID)
	_, plays := cast(w, list[0].ID)
	assert.Contains(t, plays, "=42=", "so far")

	term.Send(1, `{"resize":{"rows":33,"cols":111}}`)
	term.Line("exit")
	term.See("")
	list = recordings(w, "")
	require.Len(t, list, 1)
	r := list[0]
	assert.False(t, r.Live)
	require.NotNil(t, r.Ended)
	assert.Equal(t, "here", r.Host)
	assert.Positive(t, r.Seconds)
	st, err := os.Stat(filepath.Join(w.Cfg.Recordings, term.End.Recording))
	require.NoError(t, err)
	assert.Equal(t, st.Size(), r.Bytes)

	cast, plays := cast(w, r.ID)
	assert.Contains(t, cast, `"width":100,"height":30`)
	assert.Contains(t, cast, `"111x33"`)
	assert.NotContains(t, cast, `"i"`, "what was typed is left out")
	assert.Contains(t, plays, "=42=")
	assert.Contains(t, plays, "token=«redacted:token:")
	assert.NotContains(t, cast, "abcdefghijklmnop")

	require.NoError(t, w.StopServing())
	w.Serve()
	list = recordings(w, "")
	require.Len(t, list, 1)
	assert.Equal(t, "operator/ada", list[0].Principal, "as the record tells")
}

// made writes a recording of these lines, and returns its id.
func made(w *keepertest.World, n int, host string, lines ...string) string {
	w.T.Helper()
	require.NoError(w.T, os.MkdirAll(w.Cfg.Recordings, 0o700))
	id := "e_" + strings.Repeat("a", 12) + string(rune('a'+n))
	name := terminals.RecordingName(time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC), host, id)
	require.NoError(w.T, os.WriteFile(filepath.Join(w.Cfg.Recordings, name), []byte(strings.Join(lines, "\n")), 0o600))
	return id
}

func TestTheSecretsOfARecordingAreFoundAcrossItsEvents(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	id := made(w, 0, "web-1", keepertest.CastStart,
		`[0.5, "o", "a PGPASSW"]`, `[1.0, "i", "typed"]`, `[1.5, "o", "ORD=hunter2"]`, `[2.0, "r", "90x30"]`, `[2.5, "o", "hunter2 b\r\nc é"]`,
		`[3.0, "m", "a marker"]`, `[4.0, "o", " gh"]`, `[5.0, "o", "p_a1a1a1a1a1a1a1a1a1"]`, `[6.0, "o", "a1a1a1a1a1a1a1a1a1"]`, `[7.25, "o", ""]`, ``)
	cast, plays := cast(w, id)
	assert.NotContains(t, cast, "hunter2")
	assert.NotContains(t, cast, "a1a1")
	assert.NotContains(t, cast, "typed")
	assert.NotContains(t, cast, "marker")
	assert.Regexp(t, `^a PGPASSWORD=«redacted:password:[0-9a-f]{8}» b\r\nc é «redacted:github-token:[0-9a-f]{8}»$`, plays)
	lines := strings.Split(strings.TrimSpace(cast), "\n")
	assert.Equal(t, `[0.500000, "o", "a PG"]`, lines[1])
	assert.Equal(t, `[2.000000, "r", "90x30"]`, lines[2])
	assert.True(t, strings.HasPrefix(lines[3], `[2.500000, "o", "PASSWORD=«redacted:`), lines[3])
	assert.True(t, strings.HasPrefix(lines[len(lines)-1], `[7.250000, "o", `), "what was held back comes when the recording ends: %s", lines[len(lines)-1])
	list := recordings(w, "")
	require.Len(t, list, 1)
	assert.InDelta(t, 7.25, list[0].Seconds, 0)
	assert.Equal(t, "2026-01-01T00:00:07.25Z", list[0].Ended.Format(time.RFC3339Nano))
	assert.Empty(t, list[0].Principal, "the record tells nothing of it")
}

func TestRecordingsThatAreTornEndWhereTheyAre(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	for n, tt := range []struct {
		lines  []string
		plays  string
		second float64
	}{
		{[]string{keepertest.CastStart, `[1.5, "o", "a"]`, `[2.5, "o", "b`}, "a", 1.5},
		{[]string{keepertest.CastStart, `[1.5, "o", "a"]`, `nonsense`, `[2.5, "o", "b"]`, ``}, "a", 2.5},
		{[]string{keepertest.CastStart, ``}, "", 0},
		{[]string{keepertest.CastStart, `[1.5, "o", "` + strings.Repeat("x", 600<<10) + `"]`, ``}, strings.Repeat("x", 600<<10), 0},
	} {
		id := made(w, n, "web-1", tt.lines...)
		_, plays := cast(w, id)
		assert.Equal(t, tt.plays, plays)
		assert.InDelta(t, tt.second, recordings(w, "?limit=1")[0].Seconds, 0)
	}
	for n, lines := range [][]string{{""}, {"nonsense", ""}, {`{"version":3}`, ""}, {keepertest.CastStart}, {strings.Repeat("x", 200<<10), ""}} {
		id := made(w, 10+n, "web-1", lines...)
		status, _, text := w.Send("GET", "/v1/recordings/"+id, "")
		assert.Equal(t, http.StatusOK, status)
		assert.Empty(t, text)
	}
}

func TestNothingButRecordingsIsListedOrSent(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	id := made(w, 0, "web-1", keepertest.CastStart, "")
	secret := filepath.Join(w.Dir, "secret.cast")
	require.NoError(t, os.WriteFile(secret, []byte(keepertest.CastStart+"\n"), 0o600))
	name := func(id string) string {
		return filepath.Join(w.Cfg.Recordings, terminals.RecordingName(time.Now(), "web-1", id))
	}
	require.NoError(t, os.Symlink(secret, name("e_linklinklinkl")))
	require.NoError(t, os.Mkdir(name("e_dirdirdirdird"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.Cfg.Recordings, "other.cast"), []byte(keepertest.CastStart+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.Cfg.Recordings, "99999999T999999Z-x-e_timetimetimet.cast"), []byte(keepertest.CastStart+"\n"), 0o600))
	list := recordings(w, "")
	require.Len(t, list, 1)
	assert.Equal(t, id, list[0].ID)
	assert.Equal(t, "web-1", list[0].Host)
	for _, id := range []string{
		"e_linklinklinkl", "e_dirdirdirdird", "e_timetimetimet", "other", "other.cast", "../secret.cast", "..", "../" + id, id + ".cast", strings.ToUpper(id), "e_", "*",
		"\x00", "/etc/passwd", secret,
	} {
		status, _, text := w.Send("GET", "/v1/recordings/"+url.PathEscape(id), "")
		assert.Contains(t, []int{http.StatusNotFound, http.StatusUnprocessableEntity}, status, "%q: %s", id, text)
	}
}

func TestRecordingsAreListedTheNewestFirstWithWhoseTheyWere(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	var ids []string
	for n := range 5 {
		ids = append(ids, made(w, n, fmt.Sprint("web-", n), keepertest.CastStart, ""))
	}
	require.NoError(t, w.Cfg.Audit.Record(t.Context(), audit.Event{Kind: audit.SessionOpen, ID: ids[3], Principal: "operator/bob"}))
	list := recordings(w, "?limit=3")
	require.Len(t, list, 3)
	for i, r := range list {
		assert.Equal(t, ids[4-i], r.ID)
	}
	assert.Equal(t, "operator/bob", list[1].Principal)
	assert.Empty(t, list[0].Principal)
	assert.Equal(t, list, recordings(w, "?limit=3"), "also when nobody has to look it up")
	status, _, _ := w.Send("GET", "/v1/recordings?limit=501", "")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
}

// A recording is as long as a terminal was busy.
func TestALongRecordingIsSentPieceByPiece(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	rec, err := terminals.StartRecording(w.Cfg.Recordings, terminals.RecordingName(time.Now(), "here", "e_"+strings.Repeat("b", 13)), terminals.MaxRecording,
		session.Size{Rows: 24, Cols: 80}, screen.CastHeader{}, func(err error) { assert.NoError(t, err) })
	require.NoError(t, err)
	piece := bytes.Repeat([]byte("0123456789abcde\n"), 2000)
	for range 400 {
		rec.Output(piece)
	}
	require.NoError(t, rec.Close().Err)
	_, plays := cast(w, "e_"+strings.Repeat("b", 13))
	assert.Equal(t, 400*len(piece), len(plays))
}
