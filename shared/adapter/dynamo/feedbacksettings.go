package dynamo

import (
	"context"

	"vitrine/shared/publishing/feedback"
)

// Who may begin threads, as it is stored. An item without it is of members.
const policyOff, policyMembers, policyLinks = "off", "members", "links"

func policyOf(s feedback.Settings) string {
	switch {
	case s.Off:
		return policyOff
	case s.Links:
		return policyLinks
	}
	return policyMembers
}

// SetSettings implements feedback.Store.
func (s Feedback) SetSettings(ctx context.Context, c feedback.Commit) error {
	t := s.beginCommit(c)
	k, v := countsKey(c.Thread.Artifact), settings(c.Before)
	if c.Changes() {
		v["policy"], v["agents"] = policyOf(c.After.Settings), c.After.AgentsResolve
		v["at_once"] = c.After.AtOnce
		t.update(k, "SET #policy = :policy, #agents = :agents, #at_once = :at_once", sameSettings, v, raced)
		t.record(c.Event)
	} else {
		t.check(k, sameSettings, v, raced)
	}
	return s.commit(ctx, t)
}

// sameSettings is the condition that the settings are those of settings.
const sameSettings = "(attribute_not_exists(#policy) OR #policy = :policy_was) AND " +
	"(attribute_not_exists(#agents) OR #agents = :agents_was) AND " +
	"(attribute_not_exists(#at_once) OR #at_once = :at_once_was)"

func settings(c feedback.Counts) values {
	return values{
		"policy_was":  policyOf(c.Settings),
		"agents_was":  c.AgentsResolve,
		"at_once_was": c.AtOnce,
	}
}
