package credential

import (
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func TestOnlyAMemberWhoHasJustSignedInTakesAllContentAlong(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		by   Actor
		acts bool
	}{
		"just now":         {Actor{Member: "m", AuthenticatedAt: now}, true},
		"at the end":       {Actor{Member: "m", AuthenticatedAt: now.Add(time.Millisecond - limits.FreshSignIn)}, true},
		"after it":         {Actor{Member: "m", AuthenticatedAt: now.Add(-limits.FreshSignIn)}, false},
		"a clock ahead":    {Actor{Member: "m", AuthenticatedAt: now.Add(limits.AssertionLeeway)}, true},
		"of the future":    {Actor{Member: "m", AuthenticatedAt: now.Add(limits.AssertionLeeway + time.Second)}, false},
		"an API key":       {Actor{AuthenticatedAt: now}, false},
		"at no time known": {Actor{Member: "m"}, false},
	} {
		err := c.by.SignedInLately(now)
		if (err == nil) != c.acts || err != nil && fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnOperatorActsSoonAfterSigningInOnly(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		by   Actor
		acts bool
	}{
		"just now":        {Actor{Member: "m", Operator: now}, true},
		"at the end":      {Actor{Member: "m", Operator: now.Add(time.Millisecond - limits.OperatorFresh)}, true},
		"after it":        {Actor{Member: "m", Operator: now.Add(-limits.OperatorFresh)}, false},
		"a clock ahead":   {Actor{Member: "m", Operator: now.Add(limits.AssertionLeeway)}, true},
		"of the future":   {Actor{Member: "m", Operator: now.Add(limits.AssertionLeeway + time.Second)}, false},
		"a member":        {Actor{Member: "m"}, false},
		"no member":       {Actor{Operator: now}, false},
		"nobody at all":   {Actor{}, false},
		"at no time told": {Actor{Member: "m", Operator: time.Time{}}, false},
	} {
		if err := c.by.Operates(now); (err == nil) != c.acts || err != nil && fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}
