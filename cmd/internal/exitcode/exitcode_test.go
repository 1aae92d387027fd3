package exitcode_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/session"
)

func result(s session.Status) session.Result { return session.Result{Status: s} }

func exited(code int) session.Result {
	return session.Result{Status: session.StatusExit, ExitCode: &code}
}

func TestExitCodeTable(t *testing.T) {
	ok, exit7 := result(session.StatusOK), exited(7)
	killed := session.Result{Status: session.StatusSignal, Signal: "KILL"}
	for name, tt := range map[string]struct {
		results []session.Result
		want    int
		wantOwn int
	}{
		"nothing ran":                                   {want: 0, wantOwn: 0},
		"one host, exit 0":                              {results: []session.Result{ok}, want: 0, wantOwn: 0},
		"one host gives its own code":                   {results: []session.Result{exit7}, want: 7, wantOwn: 1},
		"one host may exit with what is a code of ours": {results: []session.Result{exited(3)}, want: 3, wantOwn: 1},
		"one host, killed":                              {results: []session.Result{killed}, want: 137, wantOwn: 1},
		"one host, a signal without a shared number":    {results: []session.Result{{Status: session.StatusSignal, Signal: "31"}}, want: 159, wantOwn: 1},
		"one host, a signal of another system":          {results: []session.Result{{Status: session.StatusSignal, Signal: "EMT"}}, want: 255, wantOwn: 1},
		"one host unreachable":                          {results: []session.Result{result(session.StatusUnreachable)}, want: 3, wantOwn: 3},
		"one host not logged in to":                     {results: []session.Result{result(session.StatusAuth)}, want: 3, wantOwn: 3},
		"one host not trusted":                          {results: []session.Result{result(session.StatusHostKey)}, want: 3, wantOwn: 3},
		"one host timed out":                            {results: []session.Result{result(session.StatusTimeout)}, want: 4, wantOwn: 4},
		"one host lost":                                 {results: []session.Result{result(session.StatusLost)}, want: 4, wantOwn: 4},
		"one host denied":                               {results: []session.Result{result(session.StatusDenied)}, want: 5, wantOwn: 5},
		"one approval expired":                          {results: []session.Result{result(session.StatusExpired)}, want: 5, wantOwn: 5},
		"one host, our failure":                         {results: []session.Result{result(session.StatusError)}, want: 6, wantOwn: 6},
		"one host canceled":                             {results: []session.Result{result(session.StatusCanceled)}, want: 130, wantOwn: 130},
		"a status from the future is our failure":       {results: []session.Result{result("new")}, want: 6, wantOwn: 6},
		"two hosts, exit codes are 1":                   {results: []session.Result{ok, exit7}, want: 1, wantOwn: 1},
		"two hosts, a signal is 1":                      {results: []session.Result{killed, ok}, want: 1, wantOwn: 1},
		"unreachable beats exit": {results: []session.Result{exit7, result(session.StatusUnreachable), ok},
			want: 3, wantOwn: 3},
		"lost beats unreachable": {results: []session.Result{result(session.StatusLost), result(session.StatusAuth)}, want: 4, wantOwn: 4},
		"denied beats timeout":   {results: []session.Result{result(session.StatusTimeout), result(session.StatusDenied)}, want: 5, wantOwn: 5},
		"ours beats everything": {results: []session.Result{result(session.StatusDenied), result(session.StatusError), result(session.StatusHostKey)},
			want: 6, wantOwn: 6},
		"canceled beats exit": {results: []session.Result{exit7, result(session.StatusCanceled)}, want: 130, wantOwn: 130},
	} {
		t.Run(name, func(t *testing.T) {
			hostCode, own := exitcode.Tally{}, exitcode.Tally{Own: true}
			for _, r := range tt.results {
				hostCode.Add(r)
				own.Add(r)
			}
			assert.Equal(t, tt.want, hostCode.Code())
			assert.Equal(t, tt.wantOwn, own.Code(), "with --exit-code=own")
		})
	}
}
