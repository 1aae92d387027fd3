package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestPackagesAreListedAndInstalling(t *testing.T) {
	table(t, `
		read-only | rpm -q sudo
		forbidden | rpm -i x.rpm
		forbidden | rpm -Uvh x.rpm
		dangerous | rpm -e x
		unknown | rpm -q --pipe='sh' x
		unknown | rpm -E '%(id)'
		forbidden | dpkg -i x.deb
		dangerous | dpkg --purge x
		forbidden | apt-get install -y nginx
		forbidden | apt-get -y install nginx
		dangerous | apt remove nginx
		write | apt update
		unknown | apt -o APT::Update::Pre-Invoke::=id list
		forbidden | yum update -y
		dangerous | dnf history undo 5
		forbidden | pip install x
		forbidden | npm ci
		unknown | npm run test
		write | npm view x
		forbidden | npx cowsay
		forbidden | cargo install x
		unknown | cargo build
		forbidden | snap install x
		forbidden | pacman -Syu
		forbidden | apk add x
		forbidden | gem install x
	`)
}

func TestAnInstallationIsKnownByItsRule(t *testing.T) {
	arg := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	for _, call := range [][]string{{"apt-get", "install", "x"}, {"rpm", "-i", "x"}, {"dpkg", "-i", "x"}, {"pip", "install", "x"}, {"brew", "install", "x"}, {"npx", "x"}, {"pacman", "-S", "x"}, {"go", "install", "x"}} {
		c := programs.Call{Name: call[0]}
		for _, s := range call[1:] {
			c.Args = append(c.Args, arg(s))
		}
		got := programs.Judge(c)
		assert.Equal(t, programs.RulePackageInstall, got.Rule, call)
		assert.Equal(t, policy.Forbidden, got.Class, call)
	}
}
