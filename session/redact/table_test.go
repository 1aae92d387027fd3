package redact_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// docTable returns the rows of the table of doc.go whose first column has this title.
func docTable(t *testing.T, title string) [][2]string {
	t.Helper()
	src, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(src), "//\t"+title+" ")
	require.True(t, found, "no table of %s", title)
	var rows [][2]string
	columns := regexp.MustCompile(`^//\t(\S(?:.*?\S)?) {2,}(\S.*)$`)
	for line := range strings.Lines(rest[strings.Index(rest, "\n")+1:]) {
		m := columns.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			break
		}
		rows = append(rows, [2]string{m[1], m[2]})
	}
	require.NotEmpty(t, rows)
	return rows
}

// checkTaken checks that exactly what an example marks is taken out, and as what.
func checkTaken(t *testing.T, kind, example string) {
	t.Helper()
	text, secrets := marked(t, example)
	for _, frame := range [][2]string{{"", ""}, {"before\n", "\nafter\n"}} {
		got, counts := redact.New(redact.Config{}).String(frame[0]+text+frame[1], redact.Guarded)
		want := frame[0] + text + frame[1]
		taken := 0
		for _, s := range secrets {
			want = strings.Replace(want, s, "«"+kind+"»", 1)
			taken += len(s)
		}
		assert.Equal(t, want, regexp.MustCompile(`«redacted:([a-z0-9-]+):[0-9a-f]{8}»`).ReplaceAllString(got, "«$1»"), example)
		assert.Equal(t, int64(taken), counts.Bytes, example)
		assert.Equal(t, len(secrets), counts.Kinds[kind], example)
		assert.Equal(t, len(secrets), counts.Total(), example)
	}
}

func TestDocumentedExamplesAreTakenOut(t *testing.T) {
	for _, row := range docTable(t, "kind") {
		checkTaken(t, row[0], row[1])
	}
}

func TestDocumentedGapsAreGaps(t *testing.T) {
	for _, row := range docTable(t, "why") {
		text := expand(row[1])
		got, _ := redact.New(redact.Config{}).String(text, redact.Guarded)
		assert.Equal(t, text, got, row[0])
	}
}

func TestEveryKindIsDocumented(t *testing.T) {
	var documented []string
	for _, row := range docTable(t, "kind") {
		documented = append(documented, row[0])
	}
	slices.Sort(documented)
	assert.Equal(t, redact.Kinds(), slices.Compact(documented))
}
