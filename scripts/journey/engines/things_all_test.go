//go:build engines

package engines

import (
	"testing"

	"vitrine/scripts/journey/harness"
)

func TestWhatAgentsMakeWorksAtAnOwnOrigin(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		own := map[string]int{"firefox": ownInFirefox, "webkit": ownInWebKit}[s.name]
		wantThings(t, s, share(t, d, "Things", files(t, "testdata/things")...), column(own, nil))
	}, ownOrigins)
}

func TestWhatAgentsMakeAtTheSharedOrigin(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		but := map[string]string{"blobWorkerOfModule": "works"}
		if s.name == "webkit" {
			but["pushState"] = "fails" // the state stays, and the path does not
		}
		wantThings(t, s, share(t, d, "Things", files(t, "testdata/things")...), column(sharedOrigin, but))
	})
}
