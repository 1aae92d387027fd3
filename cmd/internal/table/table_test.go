package table_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

func TestTablesAreAlignedForPeopleAndSeparatedByTabsForPipes(t *testing.T) {
	for name, tt := range map[string]struct {
		tty, noColor bool
		want         string
	}{
		"terminal": {tty: true, want: "\x1b[1mNAME    WHAT\x1b[0m\ngröße1  a b\nx       -\n"},
		"no color": {tty: true, noColor: true, want: "NAME    WHAT\ngröße1  a b\nx       -\n"},
		"pipe":     {want: "größe1\ta b\nx\t-\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, out, _ := iostreams.Test()
			ios.OutTTY, ios.NoColor = tt.tty, tt.noColor
			tab := table.New("NAME", "WHAT")
			tab.Add("größe1", "a\tb")
			tab.Add("x", "-")
			require.NoError(t, tab.Print(ios))
			assert.Equal(t, tt.want, out.String())
		})
	}
}

func TestNothingInACellMovesTheCursor(t *testing.T) {
	assert.Equal(t, "a b c\ufffd[2J", table.Clean("a\nb\rc\x1b[2J"))
}
