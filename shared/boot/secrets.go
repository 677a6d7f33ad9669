package boot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"vitrine/shared/keyring"
	"vitrine/shared/setting"
)

// fileRing marks a ring in the set that scripts/dev made; anything else is the ARN of a secret.
const fileRing = "file:"

// namedRings fetches the rings that the environment names, in parallel: every start waits for them.
func namedRings(ctx context.Context, cfg aws.Config, getenv func(string) string) (keyring.Set, error) {
	var set keyring.Set
	rings := map[string]*keyring.Ring{
		setting.ContentRing: &set.Content, setting.LinksRing: &set.Links, setting.PepperRing: &set.Pepper, setting.SealRing: &set.Seal,
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var wrong []error
	for name, ring := range rings {
		from := getenv(name)
		if from == "" {
			continue
		}
		wg.Go(func() {
			r, err := fetchRing(ctx, cfg, name, from)
			mu.Lock()
			defer mu.Unlock()
			if *ring = r; err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	wg.Wait()
	return set, errors.Join(wrong...)
}

func fetchRing(ctx context.Context, cfg aws.Config, name, from string) (keyring.Ring, error) {
	if file, ok := strings.CutPrefix(from, fileRing); ok {
		set, err := LocalRings(file)
		if err != nil {
			return keyring.Ring{}, err
		}
		return map[string]keyring.Ring{
			setting.ContentRing: set.Content, setting.LinksRing: set.Links, setting.PepperRing: set.Pepper, setting.SealRing: set.Seal,
		}[name], nil
	}
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &from})
	if err != nil {
		return keyring.Ring{}, fmt.Errorf("the secret cannot be read: %w", err)
	}
	return keyring.ParseRing([]byte(aws.ToString(out.SecretString)))
}
