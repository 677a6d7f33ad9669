package rate

import (
	"testing"
	"time"
)

func TestOneRequestOfACallerWaits(t *testing.T) {
	s, store, now := newStreams()
	wait := func(caller string) (func(), bool) { return s.Wait(t.Context(), caller, time.Minute) }
	end, first := wait("1")
	_, second := wait("1")
	_, another := wait("2")
	if !first || second || !another {
		t.Errorf("%t %t %t", first, second, another)
	}
	end()
	if _, ok := wait("1"); !ok {
		t.Error("after the first has ended, none waits")
	}
	*now = now.Add(time.Minute)
	if _, ok := wait("1"); !ok {
		t.Error("a wait that was not ended lasts for good")
	}
	store.broken = waitStream
	if _, ok := wait("3"); ok {
		t.Error("a request waits that was not counted")
	}
	s.Limits.Off = true
	if _, ok := wait("1"); !ok {
		t.Error("without limits a second one does not wait")
	}
}
