package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestOnlyWhatChangesHowOutputLooksIsInert(t *testing.T) {
	for _, name := range []string{"TZ", "LANG", "LC_ALL", "LC_TIME", "NO_COLOR", "COLUMNS", "LINES"} {
		assert.True(t, policy.Inert(name), name)
	}
	for _, name := range []string{"", "PATH", "LD_PRELOAD", "TZDIR", "LANGUAGE", "lc_all", "XLC_ALL", "BASH_ENV", "GIT_PAGER", "HOME", "IFS", "TERM"} {
		assert.False(t, policy.Inert(name), name)
	}
}

func TestOnlyLocalesThatReadTextAsItIsWrittenAreInert(t *testing.T) {
	for _, kv := range [][2]string{{"LC_ALL", "C"}, {"LC_ALL", "POSIX"}, {"LANG", "C.UTF-8"}, {"LANG", "en_US.utf8"}, {"LC_TIME", "de_DE"}, {"LC_ALL", ""},
		{"TZ", "UTC"}, {"TZ", "Europe/Berlin"}, {"NO_COLOR", "1"}, {"COLUMNS", "200"}} {
		assert.True(t, policy.InertSetting(kv[0], kv[1]), kv)
	}
	for _, kv := range [][2]string{{"LC_ALL", "zh_CN.GBK"}, {"LC_ALL", "ja_JP.SJIS"}, {"LANG", "zh_TW"}, {"LANG", "Zh_TW"}, {"LC_ALL", "ja_JP"}, {"LC_ALL", "Ja_JP"}, {"LANG", "ko_KR"}, {"LC_CTYPE", "zh_HK.big5hkscs"}, {"LC_ALL", "/tmp/x"},
		{"LC_ALL", "../x.UTF-8"}, {"TZ", "/etc/shadow"}, {"TZ", ":x"}, {"COLUMNS", "x"}, {"PATH", "C"}} {
		assert.False(t, policy.InertSetting(kv[0], kv[1]), kv)
	}
}
