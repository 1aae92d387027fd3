package judge_test

import "testing"

// A search, a script or a template that takes what it reads apart writes secrets in a spelling that redaction does not know.
func TestWhatTakesTextApartShowsItInAnotherSpelling(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | grep -o . f
		sensitive-read | grep -oE '(.)' f
		sensitive-read | grep -oe '.\{2\}' f
		sensitive-read | grep -ohE '[[:alnum:]]{1,4}' f
		sensitive-read | grep -oP '\w\w?' f
		sensitive-read | grep -o '[^ ]' f
		sensitive-read | rg -o . f
		sensitive-read | rg -o .
		sensitive-read | grep -ro .
		sensitive-read | rg -oe . f
		sensitive-read | git grep -o .
		sensitive-read | git grep -oe . HEAD
		read-only | git grep -o 'x[0-9]'
		sensitive-read | cat f | grep -o .
		sensitive-read | sed 's/./& /g' f
		sensitive-read | sed -E 's/(.)/\1 /g;p' f
		sensitive-read | sed -n -e 's|[a-z]|&-|gp' f
		sensitive-read | sed -e 's/.\{3\}/&\n/g' f
		unknown | sed -n 'l 2' f
		read-only | sed -n 'l 1' f
		sensitive-read | sed -nl 5 l f
		sensitive-read | awk '{gsub(/./, "& ")} 1' f
		sensitive-read | awk '{print gensub(/(.)/, "\\1 ", "g")}' f
		sensitive-read | awk 'BEGIN {FS=""; OFS=" "} {$1=$1} 1' f
		sensitive-read | awk -F '' '{print $1, $2}' f
		sensitive-read | jq -r '.a | split("") | join(" ")' f
		sensitive-read | jq -r '[.a | scan(".")]' f
		sensitive-read | jq -r '.a | gsub("(?<x>.)"; "\(.x) ")' f
		sensitive-read | kubectl get pods -o go-template='{{printf "%x" .items}}'
		sensitive-read | kubectl get pods --output='template={{printf "%X" .items}}'
		sensitive-read | docker info --format '{{printf "%x" .}}'
		sensitive-read | docker volume inspect -f '{{printf "% x" .Options}}' v
		sensitive-read | docker ps --no-trunc --format '{{split .Command ""}}'
		sensitive-read | iconv -f latin1 -t IBM280 f
		sensitive-read | iconv -f UTF-16LE -t UTF-8 f
		sensitive-read | iconv -t IBM037//utf-8 f
		sensitive-read | xmllint --encode IBM-1148 f
		sensitive-read | readelf -x .rodata f
		sensitive-read | objdump -s f
		sensitive-read | objdump -D f
		sensitive-read | objdump -d -j .rodata f
		read-only | grep -o '[0-9]*' f
		read-only | grep -oE '[0-9]{1,3}' f
		read-only | grep -oE '[a-z]+=[^ ]+' f
		read-only | grep -oE '[[:alnum:]_]{8,}' f
		read-only | grep -oP 'rt=\K\S+' f
		read-only | grep -o -e x . 
		read-only | grep -rn . f
		read-only | echo abc | grep -o .
		read-only | ls | grep -o .
		read-only | grep -o . /etc/hostname
		read-only | sed 's/./X/' f
		read-only | sed 's/[0-9]/#/g' f
		read-only | sed 's/ /./g; s/x.y/z/g' f
		read-only | sed 's/.*=//g' f
		read-only | sed -n l f
		read-only | awk '{gsub(/[.]/, "")} 1' f
		read-only | awk '{gsub(/"/, "")} 1' f
		read-only | awk -F ' ' '{print $1}' f
		read-only | jq -r '.a | split(",") | join(" ")' f
		read-only | kubectl get pods -o go-template='{{range .items}}{{printf "%s %d\n" .metadata.name .spec.x}}{{end}}'
		read-only | docker ps --format '{{printf "%s" .Names}}'
		read-only | docker ps --format '{{split .Names ","}}'
		read-only | iconv -f ISO-8859-1 -t UTF-8//TRANSLIT f
		read-only | iconv -f cp1252 -t utf8 f
		read-only | xmllint --encode UTF-8 f
		read-only | objdump -d f
		read-only | objdump -d -j .text f
	`)
}

// What a width makes is bounded: a program would fill pages with blanks, and memory with them.
func TestWidthsThatFillPages(t *testing.T) {
	verdicts(t, "bash", `
		unknown | expand -99999999 f
		unknown | date +%99999999d
		unknown | date '+x %-099999999d'
		unknown | stat -c %99999999n f
		unknown | stat --printf='%-99999999n' f
		unknown | find . -printf '%99999999p'
		unknown | du --time --time-style=+%99999999d f
		unknown | diff -y -W 99999999 a b
		unknown | diff -t --tabsize=99999999 a b
		unknown | sdiff -w 99999999 a b
		unknown | awk 'BEGIN {printf "%*s", 99999999, "x"}'
		unknown | awk 'BEGIN {printf "%.*f", 99999999, 1}'
		unknown | shuf -i 1-99999999999 -n 99999999999
		unknown | sqlite3 -readonly f 'select * from generate_series(1, 10000000000000)'
		unknown | jq -n '"x" * 999999999'
		unknown | jq '.name * 1e9' f
		read-only | jq '.mb * 1048576' f
		read-only | jq -n '"-" * 20'
		unknown | grep -d recurse -D read x /tmp
		unknown | grep --dir=rec --devices=read x /tmp
		read-only | expand -t 4 f
		read-only | expand a*
		read-only | shuf -i 1-9999999999 -n 5
		read-only | date +%10N
		read-only | date -d @1700000000 +%s
		read-only | stat -c '%n 1700000000' f
		read-only | find . -printf '%10s %p\n'
		read-only | diff -y -W 200 a b
		read-only | shuf -n 5 f
		read-only | grep -d skip x f
	`)
	for _, shell := range []string{"zsh", "ksh", ""} { // to others it is no range
		verdicts(t, shell, `
			unknown | x=99999999; echo {1..$x}
			unknown | for i in {1..$(cat f)}; do echo $i; done
			unknown | echo {$a..$b}
			unknown | echo {$a..9}
			read-only | echo {a,b}$x
			read-only | echo "{1..$x}"
		`)
	}
	verdicts(t, "bash", `read-only | x=99999999; echo {1..$x}`)
}

// The entry of a core dump holds the environment of the program that crashed, whichever way it is found.
func TestEntriesOfCoreDumpsShowTheEnvironment(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | journalctl -o verbose -u '*coredump*'
		sensitive-read | journalctl -o verbose -u 'systemd-c*'
		sensitive-read | journalctl -o json _COMM=systemd-coredum
		sensitive-read | journalctl -o json _EXE=/usr/lib/systemd/systemd-coredump
		sensitive-read | journalctl -o json /usr/lib/systemd/systemd-coredump
		sensitive-read | journalctl -o export _SYSTEMD_UNIT=systemd-coredump@1-2-0.service
		sensitive-read | journalctl -o verbose -g 'dumped core'
		read-only | journalctl -o json -u nginx
		read-only | journalctl -o json _COMM=sshd
		read-only | journalctl -g 'dumped core'
	`)
}

// Even to tell the version of a package in a file, dpkg-deb unpacks into a directory that it makes and removes.
func TestPackagesInFilesAreUnpackedToBeRead(t *testing.T) {
	verdicts(t, "bash", `
		write | dpkg -I x.deb
		write | dpkg -f x.deb Version
		write | dpkg --info x.deb
		write | dpkg-deb -I x.deb
		write | dpkg-deb -f x.deb Version
		write | dpkg-deb -W x.deb
		read-only | dpkg -c x.deb
		read-only | dpkg-deb -c x.deb
		read-only | dpkg-deb --fsys-tarfile x.deb
		read-only | dpkg -l
	`)
}

func TestReadsThatNeedNoApproval(t *testing.T) {
	verdicts(t, "bash", `
		read-only | lsblk /dev/sda
		read-only | lsblk -f /dev/sd*
		read-only | dnf history list --reverse
		read-only | apk version -l '<'
		read-only | helm search repo nginx --versions -o json
		write | helm search hub nginx
	`)
}
