package fairleadtest

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Source is the package of the program.
const Source = "github.com/fairlead-ssh/fairlead/cmd/fairlead"

// Compiled builds a program as users do, whatever this test was built with.
func Compiled(tb testing.TB, target string) string {
	file := filepath.Join(tb.TempDir(), "program")
	ctx, cancel := context.WithTimeout(tb.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "build", "-race=false", "-o", file, target).CombinedOutput()
	require.NoError(tb, err, "%s", out)
	return file
}
