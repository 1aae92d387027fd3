package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

const (
	anID  = "j_abcdefghijklm"
	aHash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	whole = "fairlead-job 1\nid " + anID + "\nowner agent/claude\nsum " + aHash + "\nstarted 100\nnow 160\nstate ended\ncode 143\nended 130\n" +
		"stopped TERM\nmay-run session\nstdout 3 7\nstderr 2 -\nnew thing\n.\ndata 3 2\nend\nabcde"
)

func TestAnAnswerIsRead(t *testing.T) {
	all, stdout, stderr, err := jobs.Parse([]byte(whole))
	require.NoError(t, err)
	code := 143
	assert.Equal(t, []jobs.Job{{
		ID: anID, Owner: "agent/claude", State: jobs.Ended, ExitCode: &code, Signal: "TERM", StoppedBy: "TERM", MayRun: true,
		CommandSHA256: aHash, Started: time.Unix(100, 0).UTC(), Ended: time.Unix(130, 0).UTC(), Age: time.Minute,
		Stdout: jobs.Stream{Bytes: 3, Omitted: 7, Done: true}, Stderr: jobs.Stream{Bytes: 2},
	}}, all)
	assert.Equal(t, "abc", string(stdout))
	assert.Equal(t, "de", string(stderr))
	for i := range len(whole) - 1 {
		_, _, _, err := jobs.Parse([]byte(whole[:i]))
		require.Error(t, err, "cut at %d", i)
	}
}

func TestAnAnswerThatMakesNoSenseIsNotBelieved(t *testing.T) {
	one := func(lines string) string {
		return "fairlead-job 1\nid " + anID + "\n" + lines + "\nstate running\n.\nend\n"
	}
	for name, text := range map[string]string{
		"nothing":                "",
		"another program":        "sh: not found\n",
		"another version":        "fairlead-job 2\nend\n",
		"a job that is cut off":  "fairlead-job 1\nid " + anID + "\nend\n",
		"a job in a job":         one("id " + anID),
		"a line of no job":       "fairlead-job 1\nowner agent/x\nend\n",
		"output that is missing": strings.TrimSuffix(whole, "e"),
		"output beyond all":      strings.Replace(whole, "data 3 2", "data 1099511627776 1099511627776", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := jobs.Parse([]byte(text))
			assert.ErrorContains(t, err, "the host's answer is not well formed: ")
		})
	}
}

// A full disk leaves files of a job empty. That is no fault of the jobs beside it.
func TestOneDamagedJobLeavesTheOthersReadable(t *testing.T) {
	const good = "id j_bbbbbbbbbbbbb\nowner operator/ada\nsum " + aHash + "\nstarted 1\nnow 2\nstate ended\ncode 0\nended 2\nstdout 1 0\nstderr 0 0\n.\n"
	for lines, damaged := range map[string]string{
		"state ended\ncode \nended \nstdout 5 0\nstderr 0 0": "exit code, end time",
		"state ended\nstdout 5 0":                            "exit code",
		"state ended\ncode 4294967296\nended 1":              "exit code",
		"owner \nsum \nstarted \nnow 5\nstate lost":          "owner, command's hash, start time",
		"owner agent/x\u202e\nstate running":                 "owner",
		"sum ABC\nstate running":                             "command's hash",
		"started yesterday\nstate running":                   "start time",
		"stopped HUP\nstate running":                         "stop signal",
		"stdout -1 -\nstate running":                         "length of stdout",
		"stderr 99999999999999 -\nstate running":             "length of stderr",
		"stdout 5 \nstate ended\ncode 1\nended 2":            "length of stdout",
		"state happy":        "state",
		"owner operator/ada": "state",
	} {
		t.Run(lines, func(t *testing.T) {
			all, _, _, err := jobs.Parse([]byte("fairlead-job 1\n" + good + "id " + anID + "\n" + lines + "\n.\nid ../../etc\nstate running\n.\n" + strings.ReplaceAll(good, "bbbb", "cccc") + "end\n"))
			require.NoError(t, err)
			require.Len(t, all, 3, "a directory that is none is left out")
			assert.Equal(t, "not readable on the host: "+damaged, all[1].Damaged)
			assert.NotContains(t, all[1].Owner, "\u202e")
			for _, i := range []int{0, 2} {
				assert.Empty(t, all[i].Damaged)
				assert.Equal(t, 0, *all[i].ExitCode)
			}
		})
	}
}

// What a host answers is bytes from another machine.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("fairlead-job 1\nerror not_found there is no such job\nend\n"))
	f.Add([]byte("fairlead-job 1\nmore 1\nend\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, stdout, stderr, err := jobs.Parse(text)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(stdout)+len(stderr), len(text))
		for _, j := range all {
			require.True(t, jobs.ValidID(j.ID))
			require.Contains(t, []jobs.State{jobs.Running, jobs.Ended, jobs.Lost}, j.State)
			require.GreaterOrEqual(t, j.Age, time.Duration(0))
			for _, s := range []jobs.Stream{j.Stdout, j.Stderr} {
				require.GreaterOrEqual(t, s.Bytes, int64(0))
				require.LessOrEqual(t, s.Bytes, int64(jobs.MaxNumber))
			}
			_, err := j.Started.MarshalJSON()
			require.NoError(t, err)
		}
	})
}

func FuzzRef(f *testing.F) {
	f.Add("web1/" + anID + "-12")
	f.Add(anID)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := jobs.ParseRef(text)
		if err != nil {
			return
		}
		require.True(t, jobs.ValidID(r.ID))
		require.Equal(t, text, r.String())
	})
}

// The start of a job has been sent when its answer is not understood.
func TestAStartWithoutAnAnswerMayHaveBegun(t *testing.T) {
	for _, text := range []string{"", "junk", "fairlead-job 1\n", "fairlead-job 1\nend\n"} {
		err := jobs.Started("web1", []byte(text))
		require.ErrorIs(t, err, session.ErrUnknownOutcome, "%q", text)
		var e *session.Error
		require.ErrorAs(t, err, &e)
		assert.True(t, e.Sent)
		assert.False(t, e.Retriable)
		assert.Equal(t, "web1", e.Host)
	}
}

func TestAStartThatMakesNoSenseIsRefused(t *testing.T) {
	h := on(t, "bash")
	for _, spec := range []jobs.Spec{{Command: "true", ID: "x"}, {Command: "true", Limit: -1}} {
		_, _, err := h.Start(t.Context(), spec)
		require.ErrorIs(t, err, session.ErrInvalid)
		assert.Equal(t, jobs.CodeInvalid, code(err))
	}
}
