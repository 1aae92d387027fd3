package programs_test

import "testing"

func TestFiltersHaveHolesOnlyWhereTheirOptionsMakeThem(t *testing.T) {
	table(t, `
		read-only | sort -t, -k3,3nr data.csv
		read-only | sort --rev x
		write | sort x -o pwned
		write | sort "-opwned" x
		write | sort -ro pwned x
		write | sort -cofoo x
		write | sort --out=pwned x
		write | sort --output pwned x
		unknown | sort --compress-prog ./evil -S 1k x
		unknown | sort --compress-program=./evil x
		unknown | sort --files0-from=list
		write | sort -T . big.txt
		unknown | sort *
		unknown | sort $FILES
		read-only | sort ./*
		read-only | sort -- *
		unknown | sort --r x
		read-only | uniq -c
		write | uniq a pwned
		read-only | uniq -c a
		write | uniq a -c
		write | uniq - -c
		unknown | uniq ./*
		read-only | grep -f patterns x
		read-only | grep -e a -e b *
		read-only | grep -rn --include='*.go' needle .
		unknown | comm --output-delimiter=x a b
		write | iconv -o pwned x
		write | shuf -o pwned x
		unknown | split --filter='touch pwned' x
		write | split x
		read-only | zgrep x f.gz
	`)
}

func TestJqReadsItsFilter(t *testing.T) {
	table(t, `
		read-only | jq -r '.items[] | "\(.name): \(.env)"' x.json
		read-only | jq '{env: .x, include: 1}' x.json
		read-only | jq '.spec.containers[].env' x.json
		sensitive-read | jq -n '$ENV.HOME'
		sensitive-read | jq -n env
		sensitive-read | jq -n '"\(env)"'
		sensitive-read | jq -n '[env][0].X'
		unknown | jq 'include "x"; .' y
		unknown | jq -f prog.jq x.json
		unknown | jq "$FILTER" x.json
		unknown | jq -L lib . x
		unknown | jq '"unterminated' x
	`)
}
