package engines

import (
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
)

// ownOrigins gives each artifact an origin of its own.
func ownOrigins(o *stack.Options) { o.OwnOrigins = true }

// TestAnAppKeepsWhatItStoresAtItsOwnOrigin opens an app, whose style sheet has an address from the root, twice.
func TestAnAppKeepsWhatItStoresAtItsOwnOrigin(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		made := harness.Must(d.Agent.PublishFiles(ctx, "Ports", "", files(t, "testdata/app")...))(t)
		link := harness.ShareURL(t, d.Agent, made.ArtifactID)
		for _, visit := range []string{"1", "2"} {
			s.Go("about:blank")
			s.Go(link)
			s.WaitInFrame(`window.visits === ` + visit + ` && window.kept === ` + visit + ` && window.worked === 49.1`)
			s.WaitInFrame(`document.readyState === "complete" && document.querySelector("use").getBBox().width === 10`)
			if got, want := value[string](s, "origin"), d.Origins.Of(made.ArtifactID); got != want {
				t.Errorf("the origin is %s, want %s", got, want)
			}
		}
		at := value[string](s, "location.pathname")
		root := value[bool](s, `getComputedStyle(document.querySelector("h1")).color === "rgb(10, 90, 80)"`)
		byToken := strings.HasPrefix(at, "/.vitrine/t/")
		if keeps := s.name != "webkit"; root != keeps || byToken == keeps {
			t.Errorf("the page is at %s, and it is %t that addresses from its root work", at, root)
		}
		s.Screenshot("engine-own")
	}, ownOrigins)
}
