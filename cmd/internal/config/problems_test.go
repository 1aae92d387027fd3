package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// everything is a file with every key.
const everything = `keeper: off
store:
  url: postgres://fairlead@db/fairlead
  key_file: /srv/key
  keep: 90d
audit:
  sync: always
  outputs: keep
  rotate:
    size: 16MiB
    age: never
  sinks:
    - file: /mnt/heads
      required: prod
      timeout: 3s
    - syslog: local
    - https: https://h/x
      token_file: /srv/token
      ca_file: /srv/ca.pem
approvals:
  expire: 1h30m
notify:
  - webhook: https://h/x
    secret_file: /srv/secret
    events: [asked, done]
  - exec: [/bin/page, -x]
    timeout: 5s
otlp:
  url: https://h:4318
  ca_file: /srv/ca.pem
  token_file: /srv/token
`

// What is made of a file of which one line is missing, is there twice, or says something else.
func TestProblemsOfFilesAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/problems.tsv")
	lines := strings.Split(strings.TrimSuffix(everything, "\n"), "\n")
	check := func(key string, lines []string) {
		if !f.Due(key) {
			return
		}
		c, err := config.Parse("c.yaml", []byte(strings.Join(lines, "\n")+"\n"))
		if err != nil {
			f.Check(key, err.Error())
			return
		}
		f.Check(key, fmt.Sprintf("%+v", c))
	}
	check("all of it", lines)
	for i, line := range lines {
		at := fmt.Sprintf("line %d ", i+1)
		check(at+"missing: "+line, slices.Delete(slices.Clone(lines), i, i+1))
		check(at+"twice: "+line, slices.Insert(slices.Clone(lines), i, line))
		key, _, _ := strings.Cut(line, ":")
		check(at+"misspelled: "+key, slices.Replace(slices.Clone(lines), i, i+1, strings.Replace(line, ":", "x:", 1)))
		for _, value := range strings.Split(` | x|1|0|-1|1.5|true|false|off|auto|require|on|yes|[]|[x]|[1]|{}|{a: b}|null|never|always|requests|keep|drop|1m|1h|-1s|0s|6m|1d|400d|99999d|1.5h|1w|10KiB|1MiB|3GiB|0MiB|1XiB|-1MiB|999999999GiB|/a|a/b|../a|~/a|local|udp://h:514|tcp://h|tcp://:5|unix:///x|http://h|http://localhost:1/x|http://127.0.0.1/|http://[::1]:9|https://h|https://|https://u:p@h/|https://h/#x|ftp://h|"https://h/ x"|postgres://h/d|postgres://h/d?sslmode=x|sqlite:///x|prod|all|[/a]|[a]|[/a, "b\nc"]|["", b]|[/a, ""]|[asked]|[asked, asked]|[nothing]|"a\x00b"|'`+strings.Repeat("y", 300)+`'`, "|") {
			check(at+key+": "+value, slices.Replace(slices.Clone(lines), i, i+1, key+": "+value))
		}
	}
}
