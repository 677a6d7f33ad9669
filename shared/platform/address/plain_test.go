package address

import "testing"

func TestPlainTextIsReadByAllAlike(t *testing.T) {
	for c := range 256 {
		s := "/a" + string([]byte{byte(c)}) + "b"
		want := c > ' ' && c < 0x7f
		switch c {
		case '#', '\\', '"', '<', '>', '^', '`', '{', '|', '}':
			want = false
		}
		if Plain(s) != want {
			t.Errorf("Plain(%q) = %v", s, !want)
		}
	}
	if !Plain("") {
		t.Error("nothing is not plain")
	}
}
