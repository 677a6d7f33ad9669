package link

import (
	"testing"
	"time"
)

func TestALinkEndedWhenTheFirstThingEndedIt(t *testing.T) {
	made := time.UnixMilli(1_000_000)
	sooner, later := made.Add(time.Second), made.Add(time.Minute)
	for name, c := range map[string]struct{ revoked, closed, want time.Time }{
		"nothing did":                   {},
		"it was revoked":                {revoked: sooner, want: sooner},
		"all were closed":               {closed: later, want: later},
		"all were closed as it came":    {closed: made, want: made},
		"all were closed before":        {closed: made.Add(-time.Millisecond)},
		"revoked, then closed":          {revoked: sooner, closed: later, want: sooner},
		"closed, then revoked":          {revoked: later, closed: sooner, want: sooner},
		"revoked, and closed before it": {revoked: sooner, closed: made.Add(-time.Hour), want: sooner},
	} {
		l := &Link{CreatedAt: made, RevokedAt: c.revoked}
		if got := l.Ended(c.closed); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNewLinksComeFirst(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	links := []Link{{Public: "A", CreatedAt: at}, {Public: "C", CreatedAt: at.Add(time.Second)}, {Public: "B", CreatedAt: at}}
	Sort(links)
	if links[0].Public != "C" || links[1].Public != "B" || links[2].Public != "A" {
		t.Errorf("%v", links)
	}
}
