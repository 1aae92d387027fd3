package programs_test

import "testing"

func TestArchivesAreListed(t *testing.T) {
	table(t, `
		read-only | tar tzvf a.tgz
		read-only | tar -tf a.tar --exclude='*.o'
		write | tar xf a.tar
		write | tar czf b.tgz dir
		unknown | tar xf /dev/null --to-command='touch pwned'
		unknown | tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=id x
		unknown | tar -tf a.tar -I ./evil
		unknown | tar tIf ./evil a.tar
		unknown | tar -t -F ./evil -f a.tar
		unknown | tar -tf host:a.tar
		unknown | tar -tf a.tar -T list
		unknown | tar tf *
		unknown | tar tf $X
		forbidden | tar xf a --to-command='rm -rf /'
		read-only | gzip -l a.gz
		read-only | gzip -t a.gz
		read-only | gzip -dc a.gz
		write | gzip a
		write | bunzip2 a.bz2
		read-only | xzcat a.xz
		read-only | unzip -l a.zip
		read-only | unzip -p a.zip x
		write | unzip a.zip
		write | unzip -l -d out a.zip
		unknown | zip -T --unzip-command='sh -c id' a.zip x
		read-only | 7z l a.7z
		write | 7z x a.7z
		write | cpio -t -F a.cpio
		write | cpio -i -F a.cpio
	`)
}
