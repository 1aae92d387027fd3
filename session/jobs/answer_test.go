package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		"nothing":                      "",
		"another program":              "sh: not found\n",
		"another version":              "fairlead-job 2\nend\n",
		"a job that is cut off":        "fairlead-job 1\nid " + anID + "\nend\n",
		"no id":                        "fairlead-job 1\nid ../../etc\nstate running\n.\nend\n",
		"a job in a job":               one("id " + anID),
		"no state":                     "fairlead-job 1\nid " + anID + "\n.\nend\n",
		"an unknown state":             "fairlead-job 1\nid " + anID + "\nstate happy\n.\nend\n",
		"a line of no job":             "fairlead-job 1\nowner agent/x\nend\n",
		"an owner in disguise":         one("owner agent/x\u202e"),
		"a hash that is none":          one("sum ABC"),
		"a negative size":              one("stdout -1 -"),
		"a size beyond all":            one("stdout 99999999999999 -"),
		"a code beyond all":            one("code 4294967296"),
		"a time that is none":          one("started yesterday"),
		"an unknown way to be stopped": one("stopped HUP"),
		"output that is missing":       strings.TrimSuffix(whole, "e"),
		"output beyond all":            strings.Replace(whole, "data 3 2", "data 1099511627776 1099511627776", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := jobs.Parse([]byte(text))
			assert.ErrorContains(t, err, "jobs: the host's answer is not well formed: ")
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
