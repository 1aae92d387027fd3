package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/accepted.tsv anew: rows of what is gone are dropped, and new rows wait to be filled in")

const (
	acceptedTable = "testdata/accepted.tsv"
	unfilled      = "?"
)

// Nothing is accepted and ignored: the table names everything that Fairlead reads by a name (fields of files, flags, directives of
// ssh_config, environment variables, parameters of the API and of MCP), and for each a test in which it has its effect (obeyed)
// or is refused, or why its having none is harmless.
//
// After adding or removing such a name run
//
//	go test ./cmd/fairlead -run TestAccepted -update
//
// which keeps the outcomes that are there and marks new rows with "?". Fill those in: kind, name, outcome, and for obeyed and
// refused "FILE TestName" or the file of a script. The file must mention the name's last word; write the test if there is none.
func TestAccepted(t *testing.T) {
	rows := map[string][]string{}
	var head []string
	data, err := os.ReadFile(acceptedTable)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			head = append(head, line)
			continue
		}
		f := strings.Split(line, "\t")
		require.Len(t, f, 4, "%q", line)
		rows[f[0]+"\t"+f[1]] = f[2:]
	}
	items := accepted(t)
	if *update {
		lines := head
		for _, item := range items {
			row := rows[item]
			if row == nil {
				row = []string{unfilled, unfilled}
			}
			lines = append(lines, item+"\t"+strings.Join(row, "\t"))
		}
		require.NoError(t, os.WriteFile(acceptedTable, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
		return
	}
	for _, item := range items {
		row := rows[item]
		delete(rows, item)
		if row == nil {
			t.Errorf("%s: is accepted and not in %s; run: go test ./cmd/fairlead -run TestAccepted -update", item, acceptedTable)
			continue
		}
		if problem := evidence(item, row[0], row[1]); problem != "" {
			t.Errorf("%s: %s", item, problem)
		}
	}
	for item := range rows {
		t.Errorf("%s: is in %s and is not accepted any more; run: go test ./cmd/fairlead -run TestAccepted -update", item, acceptedTable)
	}
}

// evidence says what is wrong with a row; "" is nothing.
func evidence(item, outcome, proof string) string {
	switch outcome {
	case "harmless":
		if len(strings.Fields(proof)) < 3 {
			return "say why it is harmless"
		}
		return ""
	case "obeyed", "refused":
	default:
		return fmt.Sprintf("the outcome is %q and none of obeyed, refused and harmless", outcome)
	}
	file, test, _ := strings.Cut(proof, " ")
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		return fmt.Sprintf("%s is not a file of a test", file)
	}
	switch {
	case strings.HasSuffix(file, ".txtar") && test == "":
	case strings.HasSuffix(file, "_test.go") && regexp.MustCompile(`(?m)^func `+regexp.QuoteMeta(test)+`\(`).Match(text):
	default:
		return fmt.Sprintf("there is no test %q in %s", test, file)
	}
	words := regexp.MustCompile(`[\s.]+`).Split(item, -1)
	name := strings.TrimPrefix(words[len(words)-1], "Fairlead-")
	if short := shorthands[name]; short != "" && regexp.MustCompile(`(^|[\s"])`+short+`\b`).Match(text) {
		return ""
	}
	if !strings.Contains(plain(string(text)), plain(name)) {
		return fmt.Sprintf("%s does not mention %s", file, name)
	}
	return ""
}

// shorthands are flags that tests name by one letter.
var shorthands = map[string]string{"--inventory": "-i", "--except": "-x", "--session": "-s", "--follow": "-f", "--lines": "-n", "--output": "-o"}

// plain makes timeout_s, TimeoutS and --timeout-s one.
func plain(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }

func TestAcceptedRowsNeedEvidence(t *testing.T) {
	for name, tt := range map[string][4]string{
		"no outcome":           {"flag\tfairlead run --json", "?", "?", "none of obeyed"},
		"no reason":            {"ssh_config\tcompression", "harmless", "", "say why"},
		"no file":              {"flag\tfairlead run --json", "obeyed", "cmd/none_test.go TestX", "not a file"},
		"no test":              {"flag\tfairlead run --json", "obeyed", "cmd/fairlead/accepted_test.go TestNone", "no test"},
		"about something else": {"flag\tfairlead run --no-such-" + "flag-here", "obeyed", "cmd/fairlead/deps_test.go TestArrowsPointOneWay", "does not mention"},
	} {
		assert.Contains(t, evidence(tt[0], tt[1], tt[2]), tt[3], name)
	}
	assert.Empty(t, evidence("flag\tx --update", "obeyed", "cmd/fairlead/accepted_test.go TestAccepted"))
}
