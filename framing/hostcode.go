package framing

import (
	_ "embed"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// The code that runs on a host is in the directory host; package hostcode says what its files look like and how they are sent.
var (
	//go:embed host/loader.sh
	loaderSource string
	//go:embed host/read_bootstrap.sh
	readBootstrapSource string
	//go:embed host/bootstrap.sh
	bootstrapSource string
	//go:embed host/environment.sh
	environmentSource string
	//go:embed host/environment_clean.sh
	environmentCleanSource string
	//go:embed host/pick_shell.sh
	pickShellSource string
	//go:embed host/forget_shell.sh
	forgetShellSource string
	//go:embed host/supervise.sh
	superviseSource string
	//go:embed host/shell_clean.sh
	shellCleanSource string
	//go:embed host/driver.sh
	driverSource string
	//go:embed host/driver_bash.sh
	driverBashSource string
	//go:embed host/driver_zsh.sh
	driverZshSource string
	//go:embed host/driver_ksh.sh
	driverKshSource string
	//go:embed host/driver_mksh.sh
	driverMkshSource string
	//go:embed host/driver_ksh93.sh
	driverKsh93Source string
	//go:embed host/driver_posix.sh
	driverPOSIXSource string
	//go:embed host/driver_call.sh
	driverCallSource string
	//go:embed host/supervisor.pl
	perlSupervisorSource string
	//go:embed host/hold_pick.sh
	holdPickSource string
	//go:embed host/hold_begin.py
	pythonHoldBeginSource string
	//go:embed host/supervisor.py
	pythonSupervisorSource string
	//go:embed host/hold_begin.pl
	holdBeginSource string
	//go:embed host/hold_child.pl
	holdChildSource string
	//go:embed host/hold_told.pl
	holdToldSource string
	//go:embed host/hold_over.pl
	holdOverSource string
	//go:embed host/hold_calls.pl
	holdCallsSource string
	//go:embed host/supervisor.sh
	shellSupervisorSource string
	//go:embed host/feeder.sh
	feederSource string
	//go:embed host/feeder.pl
	perlFeederSource string
	//go:embed host/start_feeder.sh
	startFeederSource string
	//go:embed host/descendants.sh
	descendantsSource string
	//go:embed host/hearing.sh
	hearingSource string
	//go:embed host/signal.sh
	signalSource string
	//go:embed host/interrupt.sh
	interruptSource string
	//go:embed host/unheard.sh
	unheardSource string
	//go:embed host/leaves.sh
	leavesSource string
	//go:embed host/kill.sh
	killSource string
	//go:embed host/trace.sh
	traceSource string
	//go:embed host/trace_after_failure.sh
	traceAfterFailureSource string
	//go:embed host/refresh.sh
	refreshSource string
	//go:embed host/snapshot.sh
	snapshotSource string
	//go:embed host/unframed.sh
	unframedSource string
)

// The texts as they are sent, made when they are first needed.
var (
	loaderText        = stripped(hostcode.Line, &loaderSource)
	readBootstrapText = stripped(hostcode.Line, &readBootstrapSource)
	bootstrapText     = stripped(hostcode.Shell, &bootstrapSource, "environment", &environmentSource, "pick_shell", &pickShellSource,
		"forget_shell", new(string), "supervise", &superviseSource)
	bootstrapCleanText = stripped(hostcode.Shell, &bootstrapSource, "environment", &environmentCleanSource, "pick_shell", &pickShellSource,
		"forget_shell", &forgetShellSource, "supervise", &superviseSource)
	shellCleanText = stripped(hostcode.Shell, &shellCleanSource)
	driverText     = stripped(hostcode.Shell, &driverSource, "driver_bash", &driverBashSource, "driver_zsh", &driverZshSource, "driver_ksh", &driverKshSource,
		"driver_mksh", &driverMkshSource, "driver_ksh93", &driverKsh93Source, "driver_posix", &driverPOSIXSource)
	driverCallText     = stripped(hostcode.Shell, &driverCallSource)
	perlSupervisorText = stripped(hostcode.Perl, &perlSupervisorSource, "hold_begin", new(string), "hold_child", new(string),
		"hold_told", new(string), "hold_calls", new(string), "hold_over", new(string))
	perlSupervisorHeldText = stripped(hostcode.Perl, &perlSupervisorSource, "hold_begin", &holdBeginSource, "hold_child", &holdChildSource,
		"hold_told", &holdToldSource, "hold_calls", &holdCallsSource, "hold_over", &holdOverSource)
	holdPickText          = stripped(hostcode.Shell, &holdPickSource)
	pythonHoldBeginText   = stripped(hostcode.Python, &pythonHoldBeginSource)
	pythonSupervisorText  = stripped(hostcode.Python, &pythonSupervisorSource)
	shellSupervisorText   = stripped(hostcode.Shell, &shellSupervisorSource)
	feederText            = stripped(hostcode.Shell, &feederSource)
	perlFeederText        = stripped(hostcode.Perl, &perlFeederSource)
	startFeederText       = stripped(hostcode.Shell, &startFeederSource)
	signalText            = stripped(hostcode.Line, &signalSource, "descendants", &descendantsSource, "hearing", &hearingSource)
	interruptText         = stripped(hostcode.Line, &interruptSource, "descendants", &descendantsSource, "hearing", &hearingSource)
	unheardText           = stripped(hostcode.Line, &unheardSource, "descendants", &descendantsSource)
	leavesText            = stripped(hostcode.Line, &leavesSource, "descendants", &descendantsSource)
	killText              = stripped(hostcode.Line, &killSource, "descendants", &descendantsSource)
	traceText             = stripped(hostcode.Line, &traceSource)
	traceAfterFailureText = stripped(hostcode.Line, &traceAfterFailureSource)
	refreshText           = stripped(hostcode.Shell, &refreshSource)
	snapshotText          = stripped(hostcode.Shell, &snapshotSource)
	unframedText          = stripped(hostcode.Shell, &unframedSource, "environment", &environmentSource, "pick_shell", &pickShellSource, "forget_shell", new(string))
	unframedCleanText     = stripped(hostcode.Shell, &unframedSource, "environment", &environmentCleanSource, "pick_shell", &pickShellSource,
		"forget_shell", &forgetShellSource)
)

// stripped returns what makes the text of a file, with other files as parts of it.
func stripped(strip func(string) string, source *string, parts ...any) func() string {
	return sync.OnceValue(func() string {
		var pairs []string
		for i := 0; i < len(parts); i += 2 {
			pairs = append(pairs, parts[i].(string), *parts[i+1].(*string))
		}
		return strip(hostcode.Fill(*source, pairs...))
	})
}

// withMarks puts RS and the halves of the nonce in their places, and further values.
func withMarks(text string, nonce Token, pairs ...string) string {
	return hostcode.Fill(text, append(pairs, "rs", "\x1e", "nonce1", string(nonce[:TokenLen/2]), "nonce2", string(nonce[TokenLen/2:]))...)
}

// forLogin returns the command line that has sh run a text, which must hold no single quote, for any login shell: what matters is
// in single quotes. The words that follow are $0, $1 and so on.
func forLogin(text string, words string) string { return "exec sh -c '" + text + "'" + words }
