package fairleadtest

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
)

// Main runs the tests of a package whose binary is fairlead, too, when it is started under that name.
func Main(m *testing.M) {
	_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // tests wait for processes most of the time; the command line wins
	testscript.Main(m, map[string]func(){"fairlead": fromScript, "fairlead-ssh": fromScript})
}

// fromScript is fairlead. Whoever waits for completed words here has more patience than a person who pressed Tab, if told so.
func fromScript() {
	if os.Getenv("PATIENT") != "" {
		completion.Most = time.Minute
	}
	os.Exit(cli.Main())
}

// Root is the directory of the module, in which the test's own is.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		require.NotEqual(t, dir, up, "no go.mod above the test")
		dir = up
	}
}
