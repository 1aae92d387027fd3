package sandbox_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// TestMain is also the helper that Landlock needs: the test binary starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "sandbox-exec" {
		fmt.Fprintln(os.Stderr, sandbox.Confine(os.Args[2], os.Args[3:], os.Environ()))
		os.Exit(126)
	}
	goleak.VerifyTestMain(m)
}
