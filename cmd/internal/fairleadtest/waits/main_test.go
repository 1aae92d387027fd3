package waits_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

func TestMain(m *testing.M) { fairleadtest.Main(m) }
