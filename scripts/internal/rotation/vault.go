package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"vitrine/functions/assembly"
	"vitrine/shared/platform/keyring"
)

// vault is where rings are stored.
type vault interface {
	read(ctx context.Context, name string) (keyring.Ring, error)
	// change writes what f makes of the ring and returns that, unless another process changed the
	// ring since f saw it. An error means that the ring is unchanged, or that the outcome is
	// unknown.
	change(ctx context.Context, name string, f func(keyring.Ring) (keyring.Ring, error)) (keyring.Ring, error)
	// restart returns the advice how hosts reload the ring.
	restart() string
}

func open(ctx context.Context, o options) (vault, error) {
	if o.secret == "" {
		return file(o.file), nil
	}
	var region []func(*config.LoadOptions) error
	if parts := strings.Split(o.secret, ":"); len(parts) > 3 && parts[3] != "" {
		region = append(region, config.WithRegion(parts[3])) // that of the ARN takes precedence over the environment
	}
	cfg, err := config.LoadDefaultConfig(ctx, region...)
	if err != nil {
		return nil, err
	}
	return &secret{client: secretsmanager.NewFromConfig(cfg), id: o.secret}, nil
}

// file is the set of rings of one machine.
type file string

func (f file) read(_ context.Context, name string) (keyring.Ring, error) {
	data, err := os.ReadFile(string(f))
	if err != nil {
		return keyring.Ring{},
			fmt.Errorf(
				"the key rings cannot be read: %w: scripts/dev makes them, --file names others, and --secret one ring of a "+
					"deployment", err)
	}
	set, added, err := keyring.Complete(data)
	if err == nil && slices.Contains(added, name) {
		err = fmt.Errorf("there is no ring %s yet: scripts/dev makes it when it starts", name)
	}
	if err != nil {
		return keyring.Ring{}, err
	}
	return *set.Ring(name), nil
}

func (f file) change(
	_ context.Context,
	name string,
	change func(keyring.Ring) (keyring.Ring, error),
) (keyring.Ring, error) {
	set, err := assembly.ChangeRings(string(f), func(s *keyring.Set) (err error) {
		ring := s.Ring(name)
		*ring, err = change(*ring)
		return err
	})
	if err != nil {
		return keyring.Ring{}, err
	}
	return *set.Ring(name), nil
}

func (f file) restart() string {
	return "stop scripts/dev and start it again: hosts read the rings when they start"
}

// secret is one ring in Secrets Manager.
//
// That service has no conditional write, but it moves the label of the current version from one
// named version to another, and refuses if the label is elsewhere. So a change is first put as a
// version without readers, and then made current in place of exactly the version that it was made
// from: of two concurrent changes one fails.
type secret struct {
	client *secretsmanager.Client
	id     string
}

// Labels of versions: the one that readers get, and the tool's own for one that is not current yet.
const (
	current = "AWSCURRENT"
	pending = "VITRINE_PENDING"
)

func (s *secret) read(ctx context.Context, _ string) (keyring.Ring, error) {
	ring, _, err := s.get(ctx)
	return ring, err
}

func (s *secret) get(ctx context.Context) (keyring.Ring, string, error) {
	out, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.id})
	if err != nil {
		return keyring.Ring{}, "", fmt.Errorf("the secret cannot be read: %w", err)
	}
	ring, err := keyring.ParseRing([]byte(aws.ToString(out.SecretString)))
	return ring, aws.ToString(out.VersionId), err
}

func (s *secret) change(
	ctx context.Context,
	_ string,
	change func(keyring.Ring) (keyring.Ring, error),
) (keyring.Ring, error) {
	before, version, err := s.get(ctx)
	if err != nil {
		return keyring.Ring{}, err
	}
	after, err := change(before)
	if err != nil {
		return keyring.Ring{}, err
	}
	text, err := json.Marshal(after)
	if err == nil {
		_, err = keyring.ParseRing(text) // what is written can be read
	}
	if err != nil {
		return keyring.Ring{}, err
	}
	put, err := s.client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: &s.id, SecretString: aws.String(string(text)), VersionStages: []string{pending},
	})
	if err != nil {
		return keyring.Ring{}, fmt.Errorf("the secret cannot be written: %w", err)
	}
	return after, s.promote(ctx, version, aws.ToString(put.VersionId))
}

// promote makes a version current in place of another one. After an error it checks which one is
// current, because the answer may have been lost, and a repetition of what took effect is refused.
func (s *secret) promote(ctx context.Context, from, to string) error {
	_, err := s.client.UpdateSecretVersionStage(ctx, &secretsmanager.UpdateSecretVersionStageInput{
		SecretId:            &s.id,
		VersionStage:        aws.String(current),
		RemoveFromVersionId: &from,
		MoveToVersionId:     &to,
	})
	if err == nil {
		return nil
	}
	_, now, unread := s.get(ctx)
	switch {
	case unread != nil:
		return fmt.Errorf("it is not known whether the change took effect, look with status: %w", err)
	case now == to:
		return nil
	case now != from:
		return errors.New(
			"somebody else changed the ring at the same time, and this change is not made: look with status, then try again")
	}
	return fmt.Errorf("the change is not made: %w", err)
}

func (s *secret) restart() string {
	return "run scripts/deploy with the options of the last time: a changed ring starts every function anew, and " +
		"functions read the rings when they start"
}
