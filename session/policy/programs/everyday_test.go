package programs_test

import "testing"

func TestEverydayLooksAndTheirNeighbours(t *testing.T) {
	table(t, `
		read-only | openssl crl2pkcs7 -nocrl -certfile chain.pem
		read-only | openssl dhparam -in dh.pem -text -noout
		read-only | openssl dhparam -in dh.pem -check -noout
		unknown | openssl dhparam 4096
		unknown | openssl dhparam -in dh.pem 4096
		unknown | openssl dhparam -dsaparam -in dh.pem
		unknown | openssl dhparam -rand /dev/random -in dh.pem
		write | openssl dhparam -in dh.pem -out x
		write | openssl crl2pkcs7 -nocrl -certfile chain.pem -out x
		unknown | openssl crl2pkcs7 -engine x -nocrl
		unknown | openssl crl2pkcs7 -provider x -nocrl
		read-only | ionice -p 1234
		write | ionice -c 3 -p 1234
		write | ionice -p 1234 -n 7
		write | ionice -c3 -p1234
		write | ionice -P 1234
		write | ionice -u 0
		read-only | jps -lvm
		read-only | jps -mvl
		unknown | jps -lvm host
		unknown | jps -J-Dx=y
		read-only | strace -V
		unknown | strace -V ls
		unknown | strace -p 1
		unknown | strace ls
		read-only | apachectl -t -D DUMP_VHOSTS
		read-only | apache2ctl -t -D DUMP_MODULES
		write | apachectl -t -D OTHER
		write | apachectl -D DUMP_VHOSTS
		write | apachectl -t -D DUMP_VHOSTS -k start
		write | httpd -t -D DUMP_VHOSTS -f x
		read-only | systemd-resolve --status
		read-only | systemd-resolve --statistics --no-pager
		write | systemd-resolve --flush-caches
		write | systemd-resolve --set-dns=1.1.1.1 -i eth0
		write | systemd-resolve example.com
		write | systemd-resolve --status --reset-statistics
	`)
}
