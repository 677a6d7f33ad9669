package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// sourceLife is how long a source stays open at least whose claim cannot be done again.
const sourceLife = 7 * limits.Day

// claimWorkspace claims a workspace again for the member that claimed it. If the destination is younger than the
// instant, the source stays open, and its artifacts and its token live long enough to claim it again.
func claimWorkspace(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	source, err := a.stores.Workspaces.Workspace(ctx, id.Workspace(e.Target.ID))
	switch {
	case err != nil || source == nil:
		return Unknown, err
	case source.ClaimedInto != "":
		return Already, nil
	}
	to, err := a.stores.Workspaces.Workspace(ctx, e.Workspace)
	if err != nil {
		return "", err
	}
	if to == nil || to.ClaimedAt.IsZero() || !to.Open() {
		return a.keepSource(ctx, source.ID, "the workspace that claimed it is not open in the restored set")
	}
	token, err := a.tokenOf(ctx, source.ID)
	if err != nil {
		return "", err
	}
	if token == nil || source.Lock != "" {
		return a.keepSource(ctx, source.ID, "its claim token is gone or it is locked in the restored set")
	}
	return a.move(ctx, e, *to, *token)
}

// move tries the claim that lets the agent in, if the set has the attempt that a person confirmed. Otherwise the
// contents move and the agent stays outside.
func (a *applier) move(ctx context.Context, e event.Event, to workspace.Workspace, t claim.Token) (Outcome, error) {
	m := claim.Move{
		Source:       t.Workspace,
		Destination:  to.ID,
		Token:        t,
		Member:       id.Member(e.Actor.ID),
		Registration: t.Registration,
		MinExpiry:    limits.End(e.At, to.Life(a.set.Limits.Tiers[to.Tier()])),
		At:           e.At,
		Events:       []event.Event{e},
	}
	completed, agent := a.plan.together[e.ID]
	if agent {
		_, r, err := a.stores.Registrations.ByClaimToken(ctx, t.Public)
		if err != nil {
			return "", err
		}
		if r != nil {
			m.Attempt = r.Attempt.Number
		}
		m.Events = append(m.Events, completed)
		if err := a.takeOut(ctx, completed); err != nil {
			return "", err
		}
	}
	out, err := a.commit(ctx, e, func() error { return a.stores.Claims.Move(ctx, m) })
	if errors.Is(err, claim.ErrGone) && m.Attempt > 0 {
		m.Attempt = 0
		out, err = a.commit(ctx, e, func() error { return a.stores.Claims.Move(ctx, m) })
	}
	if errors.Is(err, claim.ErrGone) {
		return a.keepSource(ctx, m.Source, "its claim token is no longer valid in the restored set")
	}
	if agent && m.Attempt == 0 && out == Applied {
		a.report.say("the agent of workspace %s has to register again: what it asked is not in the restored set", m.Source)
	}
	return out, err
}

// completeClaim leaves an agent with a workspace to the claim of that. An agent of a provider works under a delegation,
// which its events do not tell.
func completeClaim(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	if _, ok := a.plan.together[e.ID]; ok {
		return Already, nil
	}
	return "the agent has to be let in again", nil
}

// keepSource lets a source and what it has live long enough to be claimed again. No store prolongs them, because no
// request may.
func (a *applier) keepSource(ctx context.Context, source id.Workspace, why string) (Outcome, error) {
	until := a.now.Add(sourceLife)
	if err := a.keepArtifacts(ctx, source, until); err != nil {
		return "", err
	}
	token, err := a.tokenOf(ctx, source)
	if err != nil {
		return "", err
	}
	if token != nil && token.RedeemedAt.IsZero() {
		keys := []rows.Item{rows.Key("CT#"+string(token.Public), "C")}
		if token.Registration != "" {
			keys = append(keys, rows.Key("REG#"+string(token.Registration), "R"))
		}
		for _, key := range keys {
			if err := a.prolong(ctx, key, until); err != nil {
				return "", err
			}
		}
	}
	return Outcome(fmt.Sprintf("%s; workspace %s stays open and can be claimed until %s",
		why, source, until.UTC().Format(time.RFC3339))), nil
}

// keepArtifacts lets the live artifacts of a source end at an instant at the earliest.
func (a *applier) keepArtifacts(ctx context.Context, source id.Workspace, until time.Time) error {
	return a.list(ctx, dynamodb.QueryInput{
		TableName:                 &a.Tables.Core,
		IndexName:                 aws.String("gsi1"),
		KeyConditionExpression:    aws.String("g1p = :list"),
		ExpressionAttributeValues: rows.Item{":list": rows.Text("W#" + string(source) + "#ART")},
	}, func(i rows.Item) error {
		return a.keep(ctx, nameIn[id.Artifact](i), until)
	})
}

// prolong lets an item end, and be deleted, no sooner than it would after this end.
func (a *applier) prolong(ctx context.Context, key rows.Item, until time.Time) error {
	_, err := a.Change(ctx, rows.Update{
		Key:  key,
		Set:  "SET #exp = :end, #ttl = :ttl",
		Only: "#exp < :end",
		Values: rows.Item{
			":end": rows.Millis(until),
			":ttl": rows.Number(until.Add(limits.MovedLife).Unix()),
		},
		Names: map[string]string{"#exp": "exp", "#ttl": "ttl"},
	})
	return err
}
