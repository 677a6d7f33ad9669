package main

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAServerEndsWithItsLastRequestAndNotWithUnusedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under requests
		under.now.Add(1)
		unused, ended := make(chan error), make(chan error, 1)
		go func() { ended <- under.end(func() error { return <-unused }) }()
		select {
		case <-ended:
			t.Error("it ended while a request was under way")
		case <-time.After(time.Minute):
		}
		under.now.Add(-1)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		close(unused)
	})
}
