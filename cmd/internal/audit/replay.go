package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// DefaultIdleLimit is the longest pause of a replay.
const DefaultIdleLimit = 2 * time.Second

// ReplayOptions is everything that "audit replay" needs.
type ReplayOptions struct {
	IO        *iostreams.IOStreams
	Dir       func() (string, error)
	Recording string // a file, or the id of an exec or session
	Speed     float64
	IdleLimit time.Duration // 0 is none
}

// NewCmdReplay builds the command. runF replaces the real work in tests of flags.
func NewCmdReplay(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *ReplayOptions) error) *cobra.Command {
	o := &ReplayOptions{IO: f.IO, Dir: dir}
	if runF == nil {
		runF = replayRun
	}
	cmd := &cobra.Command{
		Use:   "replay RECORDING",
		Short: "Replay a recorded terminal",
		Long: `Replay a recorded terminal. RECORDING is a file in asciicast v2 format, or the id of a recorded exec or session (e_…, s_…).

A terminal shows it as it looked, with its pauses. Control sequences that do more than show text are omitted: nothing
reaches the clipboard, nothing is queried, no mode stays set. A pipe gets the plain text at once.`,
		Example: `  fairlead audit replay e_3kq7
  fairlead audit replay --speed 4 --idle-limit 500ms session.cast
  fairlead audit replay e_3kq7 | grep -i error`,
		Args: cmdutil.Args(1, 1, "one RECORDING"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Recording = args[0]
			if !(o.Speed > 0) || o.Speed > 1000 {
				return cmdutil.Usagef("--speed must be above 0 and not above 1000")
			}
			if o.IdleLimit < 0 {
				return cmdutil.Usagef("--idle-limit must not be negative")
			}
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().Float64Var(&o.Speed, "speed", 1, "how many `times` faster than life")
	cmd.Flags().DurationVar(&o.IdleLimit, "idle-limit", DefaultIdleLimit, "shorten pauses to this; 0 keeps them")
	return cmd
}

func replayRun(ctx context.Context, o *ReplayOptions) error {
	path, err := o.find()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return &cmdutil.UsageError{Err: fmt.Errorf("cannot read the recording: %w", reason.File(path, err))}
	}
	defer f.Close()
	if o.IO.OutTTY {
		err = o.play(ctx, f)
	} else {
		err = o.print(ctx, f)
	}
	if errors.Is(err, screen.ErrTorn) {
		fmt.Fprintln(o.IO.Err, "fairlead: the recording ends in the middle of a line: its writer was killed")
		return nil
	}
	return err
}

// play shows the recording on the terminal, and leaves that as it found it, whatever happens.
func (o *ReplayOptions) play(ctx context.Context, r io.Reader) error {
	opts := screen.PlayOptions{Speed: o.Speed, IdleLimit: o.IdleLimit, Sleep: func(d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
			return nil
		}
	}}
	if o.IdleLimit == 0 {
		opts.IdleLimit = -1
	}
	safe := &safeWriter{w: o.IO.Out}
	_, err := screen.Play(r, safe, opts)
	_, werr := io.WriteString(o.IO.Out, restoreTerminal)
	return errors.Join(err, werr)
}

// print writes the recording's text.
func (o *ReplayOptions) print(ctx context.Context, r io.Reader) error {
	p := &printer{ctx: ctx, w: o.IO.Out}
	_, err := screen.Play(r, p, screen.PlayOptions{})
	return errors.Join(err, p.flush(true))
}

// printer cleans text by lines: what a control sequence erases stands in the same line, or is erased no more.
type printer struct {
	ctx  context.Context
	w    io.Writer
	held []byte
}

// maxHeld bounds a line; a longer one is cleaned in parts.
const maxHeld = 1 << 20

func (p *printer) Write(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	p.held = append(p.held, b...)
	return len(b), p.flush(len(p.held) > maxHeld)
}

func (p *printer) flush(all bool) error {
	n := len(p.held)
	if !all {
		n = bytes.LastIndexByte(p.held, '\n') + 1
	}
	if n == 0 {
		return nil
	}
	text, _ := screen.Clean(string(p.held[:n]))
	p.held = append(p.held[:0], p.held[n:]...)
	_, err := io.WriteString(p.w, text)
	return err
}

// find returns the recording's file.
func (o *ReplayOptions) find() (string, error) {
	if _, err := os.Stat(o.Recording); err == nil || strings.ContainsRune(o.Recording, filepath.Separator) {
		return o.Recording, nil
	}
	if !strings.HasPrefix(o.Recording, "e_") && !strings.HasPrefix(o.Recording, "s_") {
		return "", cmdutil.Usagef("there is no recording %s here; name a file, or the id of what was recorded", strconv.Quote(o.Recording))
	}
	dir, err := existing(o.Dir)
	if err != nil {
		return "", err
	}
	for e, err := range audit.All(dir) {
		if errors.Is(err, audit.ErrUnavailable) {
			return "", err
		}
		if err != nil || e.Kind != audit.SessionOpen || e.ID != o.Recording && e.Session != o.Recording {
			continue
		}
		_, name, ok := strings.Cut(e.Command, ": ")
		if !strings.HasPrefix(e.Command, "recording") || !ok || name != filepath.Base(name) {
			return "", cmdutil.Usagef("%s was not recorded", o.Recording)
		}
		path := filepath.Join(filepath.Dir(filepath.Clean(dir)), "recordings", name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", cmdutil.Usagef("the recording of %s is not in %s any more", o.Recording, filepath.Dir(path))
		}
		return path, nil
	}
	return "", cmdutil.Usagef("the audit log has no recorded session %s", o.Recording)
}
