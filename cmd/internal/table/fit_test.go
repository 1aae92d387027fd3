package table

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestATableFitsTheWindow(t *testing.T) {
	for width, want := range map[int]string{
		80: "NAME    ADDRESS              LABELS\nweb001  deploy@192.0.2.1:22  a=b,c=d,e=f\n",
		36: "NAME    ADDRESS          LABELS\nweb001  deploy@192.0.2…  a=b,c=d,e=f\n",
		24: "NAME    ADDRESS  LABELS\nweb001  deploy…  a=b,c=…\n",
		22: "NAME    ADDRE…  LABELS\nweb001  deplo…  a=b,c…\n",
		18: "NAME    ADDRESS\nweb001  deploy@19…\n",
		13: "NAME\nweb001\n",
		4:  "NAME\nweb…\n",
	} {
		var out strings.Builder
		tab := New("NAME", "ADDRESS", "LABELS")
		tab.Fit = true
		tab.Add("web001", "deploy@192.0.2.1:22", "a=b,c=d,e=f")
		tab.align(&out, false, width)
		assert.Equal(t, want, out.String(), width)
	}
}

func TestWhatMattersStaysInANarrowWindow(t *testing.T) {
	for width, want := range map[int]string{
		80: "RUN   STARTED              OK  COMMAND\nr_15  2026-11-26 22:36:31  12  sleep 100; echo after it\n",
		60: "RUN   STARTED              OK  COMMAND\nr_15  2026-11-26 22:36:31  12  sleep 100; echo after it\n",
		52: "RUN   STARTED              OK  COMMAND\nr_15  2026-11-26 22:36:31  12  sleep 100; echo afte…\n",
		46: "RUN   OK  COMMAND\nr_15  12  sleep 100; echo after it\n",
		30: "RUN   OK  COMMAND\nr_15  12  sleep 100; echo aft…\n",
		28: "RUN   COMMAND\nr_15  sleep 100; echo after…\n",
		10: "RUN\nr_15\n",
	} {
		var out strings.Builder
		tab := New("RUN", "STARTED", "OK", "COMMAND")
		tab.Fit, tab.Keep, tab.Whole, tab.Drop = true, []string{"COMMAND"}, []string{"STARTED"}, []string{"STARTED"}
		tab.Add("r_15", "2026-11-26 22:36:31", "12", "sleep 100; echo after it")
		tab.align(&out, false, width)
		assert.Equal(t, want, out.String(), width)
	}
}

// A terminal gives wide characters two cells, and combining ones none.
func TestATableCountsCells(t *testing.T) {
	for width, want := range map[int]string{
		40: "NAME    COMMAND\n東京01  echo 日本語 done\ne\u0301       x\n",
		22: "NAME    COMMAND\n東京01  echo 日本語 d…\ne\u0301       x\n",
		18: "NAME    COMMAND\n東京01  echo 日本…\ne\u0301       x\n",
		19: "NAME    COMMAND\n東京01  echo 日本…\ne\u0301       x\n", // half of a character is none
	} {
		var out strings.Builder
		tab := New("NAME", "COMMAND")
		tab.Fit = true
		tab.Add("東京01", "echo 日本語 done")
		tab.Add("e\u0301", "x")
		tab.align(&out, false, width)
		assert.Equal(t, want, out.String(), width)
	}
}
