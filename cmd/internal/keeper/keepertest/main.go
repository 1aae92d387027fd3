package keepertest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/store/storetest"
)

// Postgres is started by the first test that needs it.
var Postgres storetest.Postgres

// Main runs the tests of a package. Its binary is what they start, too: keepers of their own, what lends agents, and commands in
// sandboxes.
func Main(m *testing.M) {
	sessiontest.HostileSFTPMain()
	if dir := os.Getenv(LenderEnv); dir != "" {
		os.Exit(lenderMain(dir))
	}
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(childMain(dir))
	}
	if len(os.Args) > 3 && os.Args[1] == "sandbox-exec" {
		fmt.Fprintln(os.Stderr, sandbox.Confine(os.Args[2], os.Args[3:], os.Environ()))
		os.Exit(126)
	}
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // tests wait for processes most of the time; the command line wins
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		Postgres.Stop()
		os.Exit(code)
	}))
}
