package files_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
)

func TestMain(m *testing.M) { keepertest.Main(m) }
