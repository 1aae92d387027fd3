package programs_test

import "testing"

func TestGitIsReadWhereNothingItsRepositoryNamesRuns(t *testing.T) {
	table(t, `
		read-only | git status --short --branch
		read-only | git -C /srv --no-pager status --ignore-submodules=all
		unknown | git status --ignore-submodules=none
		unknown | git --namespace=x status
		unknown | git -C $DIR status
		unknown | /usr/bin/git status
		unknown | env git status
		unknown | timeout 5 git status
		unknown | git describe --dirty
		read-only | git describe --contains HEAD
		unknown | git describe --contains -- --output=f
		read-only | git show-ref --tags -d
		unknown | git show-ref --exclude --output=f
		unknown | git ls-files -m
		read-only | git log --oneline -20 --stat
		read-only | git -C /srv log
		read-only | git diff --no-ext-diff --no-textconv HEAD~1
		unknown | env git diff --no-ext-diff --no-textconv HEAD~1
		read-only | git show --no-patch HEAD
		read-only | git diff
		read-only | git log -p
		read-only | git show
		unknown | timeout 5 git show
		unknown | timeout 5 git log -p
		unknown | git log -p --textconv
		unknown | git log --no-textconv --no-ext-diff --textconv -p
		read-only | git log -S needle
		unknown | git --no-optional-locks log -S needle
		unknown | git --no-optional-locks log -G needle
		unknown | git log --format=%G?
		unknown | git log --show-signature
		read-only | git blame x
		unknown | git blame --textconv x
		unknown | timeout 5 git blame --no-textconv x
		write | git log --output=pwned
		write | git diff --output=pwned --no-index --stat /dev/null /etc/hostname
		unknown | git -c core.pager='touch pwned' -p log
		unknown | git -c core.fsmonitor='touch pwned;false' status
		unknown | git -c alias.pwn='!touch pwned' pwn
		forbidden | git -c alias.x='!rm -rf /' x
		unknown | git --config-env=core.pager=EVIL -p log
		unknown | git -p log
		unknown | git --exec-path=. status
		unknown | git --git-dir=evil status
		unknown | git grep -Otouch x
		unknown | git grep --open-files-in-pager=touch x
		unknown | git fetch
		unknown | git clone http://192.0.2.1/x
		unknown | git ls-remote 'ext::sh -c touch%20pwned'
		write | git branch newname
		dangerous | git branch -v -d x
		write | git branch -v newname
		write | git tag v1
		unknown | git tag -v v1
		write | git remote add x http://192.0.2.1/
		write | git remote show origin
		write | git stash
		write | git stash push
		dangerous | git push --force
		unknown | git commit --allow-empty
		write | git config user.name x
		read-only | git config user.name
		unknown | git config -e
		unknown | git pwn
		unknown | git $VERB
		dangerous | git reset --hard
		write | git symbolic-ref HEAD refs/heads/x
		sensitive-read | git show HEAD:.env
	`)
}
