package assembly

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/keyring"
)

// fileRing is the prefix of a setting that names the file in which scripts/dev keeps its rings. Any other setting is
// the ARN of a secret.
const fileRing = "file:"

// ringNames maps each setting to the name of its ring.
var ringNames = map[string]string{
	env.ContentRing: "content", env.LinksRing: "links", env.PepperRing: "pepper", env.SealRing: "seal",
	env.AssertionRing: "assertion",
}

// namedRings fetches the rings that the environment names. It fetches them in parallel, because every start waits for
// them. Its error names every ring that is wrong.
func namedRings(ctx context.Context, cfg aws.Config, getenv func(string) string) (keyring.Set, error) {
	names := slices.Sorted(maps.Keys(ringNames))
	production := getenv(env.Environment) == string(credential.Production)
	var set keyring.Set
	var wg sync.WaitGroup
	wrong := make([]error, len(names))
	for i, name := range names {
		from := getenv(name)
		if from == "" {
			continue
		}
		ring := set.Ring(ringNames[name])
		wg.Go(func() {
			if production && strings.HasPrefix(from, fileRing) {
				wrong[i] = fmt.Errorf("%s names a file: in production key rings are secrets", name)
				return
			}
			var err error
			if *ring, err = fetchRing(ctx, cfg, ringNames[name], from); err != nil {
				wrong[i] = fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	wg.Wait()
	return set, errors.Join(wrong...)
}

func fetchRing(ctx context.Context, cfg aws.Config, name, from string) (keyring.Ring, error) {
	if file, ok := strings.CutPrefix(from, fileRing); ok {
		set, err := LocalRings(file)
		return *set.Ring(name), err
	}
	text, err := secretText(ctx, cfg, from)
	if err != nil {
		return keyring.Ring{}, err
	}
	return keyring.ParseRing([]byte(text))
}
