package lazyregexp_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

var words = lazyregexp.New(`([a-z])([a-z]*)`)

func TestItMatchesAsTheCompiledOneDoes(t *testing.T) {
	const text = "1 two THREE four"
	re := words.Get()
	assert.Same(t, re, words.Get())
	assert.Equal(t, re.String(), words.String())
	for _, s := range []string{text, "", "A", "b"} {
		b := []byte(s)
		assert.Equal(t, re.Match(b), words.Match(b))
		assert.Equal(t, re.MatchString(s), words.MatchString(s))
		assert.Equal(t, re.Find(b), words.Find(b))
		assert.Equal(t, re.FindIndex(b), words.FindIndex(b))
		assert.Equal(t, re.FindSubmatch(b), words.FindSubmatch(b))
		assert.Equal(t, re.FindSubmatchIndex(b), words.FindSubmatchIndex(b))
		assert.Equal(t, re.FindString(s), words.FindString(s))
		assert.Equal(t, re.FindStringIndex(s), words.FindStringIndex(s))
		assert.Equal(t, re.FindStringSubmatch(s), words.FindStringSubmatch(s))
		assert.Equal(t, re.FindAllString(s, -1), words.FindAllString(s, -1))
		assert.Equal(t, re.FindAllStringIndex(s, 1), words.FindAllStringIndex(s, 1))
		assert.Equal(t, re.FindAllStringSubmatch(s, -1), words.FindAllStringSubmatch(s, -1))
		assert.Equal(t, re.ReplaceAllString(s, "$2$1"), words.ReplaceAllString(s, "$2$1"))
		assert.Equal(t, re.ReplaceAllStringFunc(s, strings.ToUpper), words.ReplaceAllStringFunc(s, strings.ToUpper))
	}
}

func TestItIsCompiledOnceWhoeverAsksFirst(t *testing.T) {
	re := lazyregexp.New(`^a+$`)
	var all sync.WaitGroup
	got := make([]any, 20)
	for i := range got {
		all.Go(func() { got[i] = re.Get() })
	}
	all.Wait()
	for _, g := range got {
		assert.Same(t, got[0], g)
	}
}

func TestWhatDoesNotCompilePanicsAtItsFirstUse(t *testing.T) {
	re := lazyregexp.New(`(`)
	assert.Panics(t, func() { re.MatchString("") })
}
