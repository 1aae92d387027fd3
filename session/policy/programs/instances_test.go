package programs_test

import "testing"

// Rows were wrong where programs shared one, where a list option wrote, and where an option never ended.
func TestALetterMeansWhatItMeansInThatProgram(t *testing.T) {
	table(t, `
		unknown | dpkg-architecture -c 'touch pwned'
		unknown | dpkg-architecture --command='touch pwned'
		unknown | pytest -v
		unknown | ninja -v
		unknown | rake -v
		unknown | tox -v
		unknown | ctest -V
		unknown | make -v
		unknown | bundle list
		forbidden | sgdisk -l backup /dev/sda
		dangerous | sgdisk -d 1 /dev/sda
		dangerous | sgdisk -s /dev/sda
		dangerous | gdisk -s /dev/sda
		unknown | lz4 -l f
		unknown | pbzip2 -l f
		write | bzip2 -k f
		unknown | bzip2 -l f
		unknown | as -v
		unknown | ld -v
		unknown | javac -version f
		unknown | ksh -oxtrace ./evil.sh ls
		unknown | zsh -oaliases -c ls
		unknown | mksh -T x -c ls
		unknown | zsh -b -c ls
		unknown | nm @args
		unknown | size @args
		unknown | strings @shadow
		unknown | readelf -h @args
		unknown | objdump -d @args
		unknown | rpm -Vp http://host/x.rpm
		unknown | rpm -V nginx
		unknown | bsdtar -tWf x
		write | jar -J-javaagent:evil.jar -tf x
		write | jar xf x
		read-only | jar tf x.jar
		unknown | docker top web axe
		unknown | podman top web axe
		read-only | docker top web
		write | smartctl -l scterc,70,70 /dev/sda
		write | smartctl --log=scttempint,1 /dev/sda
		read-only | smartctl -l error /dev/sda
		unknown | wc -l /dev/watchdog
		unknown | wc -c /dev/zero
		write | psql -l 'hostaddr=192.0.2.1'
		write | psql -d postgres://192.0.2.1/x -l
		unknown | qemu-img info nbd://192.0.2.1/x
		unknown | qemu-img info json:{}
		unknown | mysql -e 'show create user'
		unknown | mysql -e 'show grants'
		unknown | psql -c 'show primary_conninfo'
		unknown | psql -c 'show all'
		unknown | lsof +r 1
		unknown | lsof -p 1 +r
		unknown | lsof +m/tmp/x
		unknown | sar -q -f -o pwned
		unknown | hexdump -f /etc/shadow x
		unknown | fd -l x
		write | named-checkzone -o pwned example.org zone
		sensitive-read | named-checkconf -p
		unknown | systemd-analyze cat-config shadow
		unknown | systemd-analyze verify ./evil.service
		unknown | file -s /dev/sda
		unknown | timeout 5 go version
		unknown | 7z l @list
		unknown | seq 1 inf
		unknown | seq 99999999999
		unknown | yq -s .a f
		write | tput init
		unknown | modinfo -x f
		dangerous | losetup -d /dev/loop0
		dangerous | mdadm -D /dev/md0 --stop
		write | hostnamectl hostname new
		write | resolvectl dns eth0 1.1.1.1
		write | virsh list 'x; destroy y'
		network-read | netstat -a
		read-only | netstat -an
		network-read | iptables -L
		network-read | arp -a
		unknown | lspci -H1
		unknown | xmllint --loaddtd x
		write | apk search --no-cache x
		write | apk --no-cache list
		write | redis-cli -c exists k
		unknown | awk 'BEGIN{printf "%999999999s", 1}'
		unknown | awk '{printf("%-.99999d", $1)}' f
		unknown | shellcheck -a s.sh
		unknown | shellcheck -fgcc -a s.sh
		unknown | xmllint --c14n x
		unknown | xmllint -nodefdtd x
		write | xmllint http://host/x
		write | nginx -t -c evil.conf
		write | haproxy -c -f ./evil.cfg
		write | haproxy -c -f /etc/haproxy/../../tmp/evil.cfg
		unknown | sqlite3 x.db .tables
		unknown | sqlite3 -readonly x.db '.shell id'
		unknown | sqlite3 -readonly x.db "select writefile('x', 'y')"
		unknown | sqlite3 -readonly x.db "attach 'y' as y"
		unknown | sqlite3 -readonly -cmd '.shell id' x.db 'select 1'
		unknown | sqlite3 -readonly x.db
		read-only | sqlite3 -readonly x.db 'select * from users'
		read-only | sqlite3 -readonly x.db .fullschema
		unknown | sqlite3 -safe x.db 'select 1'
		unknown | python3 -m json.tool in out
		unknown | python3 -m json.tool --infile x
		unknown | python3 -m http.server
		sensitive-read | docker inspect -f '{{json .}}' web
		sensitive-read | docker inspect -f '{{.Config.Env}}' web
		sensitive-read | docker inspect -f '{{range .Config.Env}}{{.}}{{end}}' web
		sensitive-read | docker inspect -f '{{with .Config}}{{.Env}}{{end}}' web
		sensitive-read | docker inspect -f '{{.State.Status}} {{json .Config}}' web
		sensitive-read | docker inspect -f json web
		sensitive-read | printenv AWS_SECRET_ACCESS_KEY
		sensitive-read | printenv PATH TOKEN
		sensitive-read | printenv
		unknown | jstat -J-javaagent:evil.jar -gc 1
		unknown | jstat -gc 1 1000
		unknown | tail -f x
		unknown | timeout 10 tail -f /dev/watchdog
		unknown | timeout 0 tail -f x
		unknown | timeout 100000 tail -f x
		unknown | timeout -s CONT 10 tail -f x
		unknown | timeout --foreground 10 tail -f x
		write | zcat x | tee y
		read-only | zgrep x f.gz
		write | gunzip x.gz
		dangerous | tar -xf x -C /
		unknown | tar tf host:x
		unknown | tar tf x -I 'sh -c id'
		write | tar tcf x y
		unknown | awk 'BEGIN{x=switch (1) / system("touch pwned") / 1}'
		unknown | gawk 'BEGIN{switch (1) { case 1: print } }'
	`)
}

func TestEverydayReadsOfServersAreReads(t *testing.T) {
	table(t, `
		read-only | zcat /var/log/syslog.2.gz
		read-only | timeout 10 tail -f /var/log/syslog
		read-only | timeout 5s journalctl -f -u nginx
		read-only | printenv PATH
		read-only | printenv HOME LANG
		read-only | docker inspect -f '{{.State.Status}}' web
		read-only | docker inspect --format='{{json .State.Health}}' web
		read-only | docker inspect -f '{{.Name}} {{.RestartCount}}' web db
		read-only | docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' web
		read-only | python3 -m json.tool f
		read-only | nginx -t
		read-only | haproxy -c -f /etc/haproxy/haproxy.cfg
		read-only | shellcheck -a --norc s.sh
		read-only | git -C /srv apply --stat x.diff
		read-only | git apply --numstat -p2 x.diff
		unknown | git apply --check x.diff
		unknown | git apply x.diff
		unknown | git apply --stat --apply x.diff
		unknown | git apply --stat --check x.diff
		unknown | git apply --stat --index x.diff
		unknown | git apply -R x.diff
		read-only | top -b -n 1 -w 200
		read-only | top -bn1 -w 512 -o %MEM
		unknown | top -b -n 1 200
		unknown | top -b -n 1 -w x
		read-only | systemd-path
		read-only | shellcheck s.sh
		read-only | awk '{printf "%-1000s %5.2f%%\n", $1, $2}' f
		read-only | sqlite3 -readonly -safe app.db 'select count(*) from users'
		read-only | sqlite3 -readonly -header -csv app.db .schema
		read-only | jstat -gc 1234
		read-only | jstat -gcutil 1234 1000 5
		read-only | top -b -n 1
		read-only | tar tvzf x.tgz
		read-only | tar -tf x.tar
		read-only | tar --list --file=x.tar
		read-only | bash -n x.sh
		read-only | kill -0 1234
	`)
}

func TestTheLastModeOfACompressorCounts(t *testing.T) {
	table(t, `
		write | xz -t -d f.xz
		write | xz -l -z f
		write | bzip2 -t -d f.bz2
		write | zstd -t -d f.zst
		write | gzip -t -d f.gz
		read-only | xz -dc f.xz
		read-only | bzip2 -dc f.bz2
		read-only | zstd -dc f.zst
		read-only | gzip -dc f.gz
		read-only | gzip -l f.gz
		unknown | xz -t $x
		unknown | lvs $x
		unknown | pmap "$x"
		unknown | zstdcat *
		write | pmap -n
		write | gem list -r x
		write | ausearch --checkpoint f
		unknown | openssl list -provider-path . -provider evil
		unknown | apt-mark showauto -o x=y
		read-only | wc -l *
		read-only | cat "$x"
	`)
}

func TestInstallingIsSeenWhateverStandsAroundIt(t *testing.T) {
	table(t, `
		forbidden | npm install $x
		forbidden | npm -g install x
		forbidden | npm --prefix /srv install x
		forbidden | npm i --save-dev x
		forbidden | pipx install "$x"
		forbidden | python3 -m pip install $x
		unknown | npm run update
		write | timeout 5 npm ls
		dangerous | npm uninstall x
		forbidden | kill -9 -1 $x
	`)
}
