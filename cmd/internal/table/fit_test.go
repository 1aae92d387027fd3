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
		18: "NAME    ADDRE…\nweb001  deplo…\n",
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
