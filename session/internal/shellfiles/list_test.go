package shellfiles

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	for _, f := range []hostcodetest.File{
		{Name: "list.sh", Source: listSource, Sent: ListScript(), Max: 870, Shells: hostcodetest.All},
	} {
		t.Run(f.Name, func(t *testing.T) { hostcodetest.Check(t, f) })
	}
}

// What a listing prints comes from another machine. Names are handed on as they come, before an error is seen.
func FuzzListing(f *testing.F) {
	f.Add("./a b\x00./x\ny\x00\x00s81a4 5 1700000000 0 0\na1ff 3 1700000000 5 7\x00")
	f.Add("./l\x00\x00llrwxrwxrwx 1 0 0 3 Nov 21 10:00 ./l -> x\ny\x00")
	f.Add("./a\x00\x00s41ed 4096 x 0 0\x00")
	f.Add("./0\x00\x00l0000000000 0 0 0 00\x000")
	f.Fuzz(func(t *testing.T, text string) {
		told := 0
		list := Listing{Failed: func(error) { told++ }, Take: func(name string, l Line) error {
			if l.Size < 0 || name == "" || strings.ContainsAny(name, "/\x00") || l.Mode&^(fs.ModeType|fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
				t.Fatalf("%q %+v", name, l)
			}
			return nil
		}}
		for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
			_, _ = list.Write([]byte(part))
		}
		if told > 1 || (told == 1) != (list.Err != nil) {
			t.Fatalf("%d times told: %v", told, list.Err)
		}
	})
}
