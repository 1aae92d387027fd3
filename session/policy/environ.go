package policy

import "strings"

// InertNames is what [InertSetting] lets pass, for people.
const InertNames = "TZ, LANG and LC_* of UTF-8, NO_COLOR, COLUMNS and LINES"

// Inert reports whether an environment variable of that name changes at most how a program writes, never what it does.
func Inert(name string) bool {
	switch name {
	case "TZ", "LANG", "NO_COLOR", "COLUMNS", "LINES":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// InertSetting reports whether such a variable does so with that value, too: what an agent may give a session without being asked. Of
// locales these are C and those of UTF-8. In GBK, Big5 and Shift JIS a backslash can be the second half of a character: to a shell that
// reads text so, what is quoted here may be a substitution. No value names a file.
func InertSetting(name, value string) bool {
	switch {
	case !Inert(name):
		return false
	case name == "NO_COLOR" || value == "":
		return true
	case name == "TZ":
		return value[0] != '/' && value[0] != ':' && !strings.Contains(value, "..") && strings.Trim(value, zoneBytes) == ""
	case name == "COLUMNS" || name == "LINES":
		return strings.Trim(value, "0123456789") == ""
	}
	language, charset, ok := strings.Cut(value, ".")
	if !ok {
		return value == "C" || value == "POSIX" || len(value) <= 6 && strings.IndexByte(value, '_') >= 0 && !oftenHalved(value) && strings.Trim(value, nameBytes) == ""
	}
	charset, _, _ = strings.Cut(charset, "@")
	charset = strings.ToLower(charset)
	return (charset == "utf-8" || charset == "utf8") && strings.Trim(language, nameBytes) == ""
}

// oftenHalved reports whether a locale is of a language that some system writes in such a charset where none is named: AIX has
// Shift JIS as Ja_JP and Big5 as Zh_TW.
func oftenHalved(locale string) bool {
	language, _, _ := strings.Cut(strings.ToLower(locale), "_")
	return language == "zh" || language == "ja" || language == "ko"
}

const (
	nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	zoneBytes = nameBytes + "+-.,@/<>:"
)
