package id

import "testing"

func TestALinkNamesItsPublicID(t *testing.T) {
	for range 100 {
		l := NewLink()
		public, err := l.Public()
		if err != nil || len(public) != 16 || string(l[13:]) != string(public) {
			t.Fatal(l, public, err)
		}
	}
	for _, bad := range []Link{"", "al_", "al_0123456789ABCDEF", "art_0123456789ABCDEFGHJKMNPQRS",
		"al_0123456789ABCDEFGHJKMNPQRU"} {
		if _, err := bad.Public(); err == nil {
			t.Errorf("%q has a public id", bad)
		}
	}
}
