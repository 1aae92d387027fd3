// Package casts serves the recordings of terminals: which there are, whose, and each from any moment on.
//
// A reader gets the output as redaction lets it through, with the secrets that are known now, and nothing of what was typed.
// A recording is sent as it is read, line by line, so its length costs no memory; where one is played from the middle, a
// frame of the screen before that moment is drawn first.
package casts

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
	"syscall"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/redact"
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

// Shelf serves the recordings of one directory. Its methods may be called concurrently.
type Shelf struct {
	Dir      string // "" has none
	AuditDir string // where it is looked up whose they are; "" tells it of no one
	Secrets  *redact.Set
	// Live returns whose the terminal of a recording is, while it is open.
	Live func(id string) (owner string, live bool)

	owners owners
	frames framed // of those that are played
}

// guarded takes secrets out of a text.
func (s *Shelf) guarded(text string) string {
	text, _ = s.Secrets.String(text, redact.Guarded)
	return text
}

// Add adds the routes of recordings.
func (s *Shelf) Add(a *route.API) {
	const tag, path = "recordings", "/v1/recordings/{id}"
	route.Add(a, route.Route{Method: "GET", Path: "/v1/recordings", ID: "list-recordings", Summary: "Recordings of full terminals, the newest first", Tag: tag, Need: access.NeedAudit}, s.list)
	route.Add(a, route.Route{Method: "GET", Path: path, ID: "get-recording", Summary: "A recording, redacted and without what was typed, in the asciicast v2 format", Tag: tag, Need: access.NeedAudit}, s.recording)
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

// files returns all, the newest first. What is named otherwise is none of ours.
func (s *Shelf) files() ([]recordingFile, error) {
	if s.Dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.Dir)
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
	return problem.New(http.StatusInternalServerError, "recording", "the recordings cannot be read")
}

// open opens a recording, and says how long it is.
func (f recordingFile) open(dir string) (*os.File, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	file, err := root.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe would wait for its other end
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

func (s *Shelf) list(ctx context.Context, _ *access.Caller, in *recordingsIn) (*route.Body[wire.Recordings], error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	out := &wire.Recordings{Items: []wire.Recording{}}
	for _, f := range files {
		if len(out.Items) == in.Limit {
			break
		}
		if r, err := s.describe(f); err == nil {
			out.Items = append(out.Items, r)
		}
	}
	s.owners.name(ctx, s.AuditDir, out.Items)
	return route.JSON(out), nil
}

func (s *Shelf) describe(f recordingFile) (wire.Recording, error) {
	r := wire.Recording{ID: f.id, Host: f.host, Started: f.started}
	file, size, err := f.open(s.Dir)
	if err != nil {
		return r, err
	}
	defer file.Close()
	r.Bytes = size
	r.Seconds = lastMoment(file, size)
	if h, _, err := castHeader(bufio.NewReaderSize(file, maxCastHeader)); err == nil && h.Title != "" {
		r.Host = s.guarded(h.Title)
	}
	if owner, live := s.Live(f.id); live {
		r.Live = true
		s.owners.note(f.id, owner)
		return r, nil
	}
	ended := r.Started.Add(time.Duration(r.Seconds * float64(time.Second)))
	r.Ended = &ended
	return r, nil
}
