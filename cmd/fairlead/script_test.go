package main_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestMain(m *testing.M) { fairleadtest.Main(m) }

func TestScripts(t *testing.T) {
	needs.Files(t, "testdata/script", 23)
	testscript.Run(t, fairleadtest.ScriptParams(t, "testdata/script"))
}
