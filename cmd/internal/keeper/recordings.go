package keeper

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

type (
	recordingsIn struct {
		Limit int `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"how many of the newest"`
	}
	recordingIn struct {
		ID string  `path:"id" maxLength:"80" doc:"of a recording"`
		At float64 `query:"at" minimum:"0" maximum:"1000000000" doc:"seconds: leave out what comes long before; the first event then draws the screen, without colours"`
	}
)

func (k *Keeper) addRecordings(a *api) {
	const tag, path = "recordings", "/v1/recordings/{id}"
	add(a, route{method: "GET", path: "/v1/recordings", id: "list-recordings", summary: "Recordings of full terminals, the newest first", tag: tag, need: access.NeedAudit}, k.listRecordings)
	add(a, route{method: "GET", path: path, id: "get-recording", summary: "A recording, redacted and without what was typed, in the asciicast v2 format", tag: tag, need: access.NeedAudit}, k.recording)
	a.OpenAPI().Paths[path].Get.Responses["200"] = &huma.Response{
		Description: "OK", Content: map[string]*huma.MediaType{castType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
}

const castType = "application/x-asciicast"

// recordingName is what terminals.RecordingName makes.
var recordingName = lazyregexp.New(`^([0-9]{8}T[0-9]{6}Z)-(.{1,64})-(e_[a-z2-7]{13})\.cast$`)

// recordingFile is a recording in the directory.
type recordingFile struct {
	name, host, id string
	started        time.Time
}

// recordingFiles returns all, the newest first. What is named otherwise is none of ours.
func (k *Keeper) recordingFiles() ([]recordingFile, error) {
	if k.cfg.Recordings == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(k.cfg.Recordings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadableRecordings()
	}
	var all []recordingFile
	for _, e := range entries {
		m := recordingName.FindStringSubmatch(e.Name())
		if m == nil || !e.Type().IsRegular() {
			continue
		}
		started, err := time.Parse("20060102T150405Z", m[1])
		if err != nil {
			continue
		}
		all = append(all, recordingFile{e.Name(), m[2], m[3], started})
	}
	slices.SortFunc(all, func(a, b recordingFile) int {
		return cmp.Or(b.started.Compare(a.started), strings.Compare(b.name, a.name))
	})
	return all, nil
}

func unreadableRecordings() error {
	return problem.New(http.StatusInternalServerError, codeRecording, "the recordings cannot be read")
}

// open opens a recording, and says how long it is.
func (f recordingFile) open(dir string) (*os.File, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	file, err := root.Open(f.name)
	if err != nil {
		return nil, 0, err
	}
	st, err := file.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, st.Size(), nil
}

func (k *Keeper) listRecordings(ctx context.Context, _ *access.Caller, in *recordingsIn) (*body[wire.Recordings], error) {
	files, err := k.recordingFiles()
	if err != nil {
		return nil, err
	}
	out := &wire.Recordings{Items: []wire.Recording{}}
	for _, f := range files {
		if len(out.Items) == in.Limit {
			break
		}
		if r, err := k.describeRecording(f); err == nil {
			out.Items = append(out.Items, r)
		}
	}
	k.recordings.name(ctx, k.cfg.AuditDir, out.Items)
	return &body[wire.Recordings]{out}, nil
}

func (k *Keeper) describeRecording(f recordingFile) (wire.Recording, error) {
	r := wire.Recording{ID: f.id, Host: f.host, Started: f.started}
	file, size, err := f.open(k.cfg.Recordings)
	if err != nil {
		return r, err
	}
	defer file.Close()
	r.Bytes = size
	r.Seconds = lastMoment(file, size)
	if h, _, err := castHeader(bufio.NewReaderSize(file, maxCastHeader)); err == nil && h.Title != "" {
		r.Host = k.guarded(h.Title)
	}
	if t := k.terminals.get(f.id); t != nil && t.rec != nil && !isClosed(t.rec.Done()) {
		r.Live = true
		k.recordings.note(f.id, t.owner)
		return r, nil
	}
	ended := r.Started.Add(time.Duration(r.Seconds * float64(time.Second)))
	r.Ended = &ended
	return r, nil
}
