package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// statement is what a role may do.
type statement struct {
	deny       bool
	actions    []string
	resources  []string
	conditions object
}

// either separates the patterns of a condition that has more than one.
const either = " or "

// policy is everything that a host's role may do.
type rolePolicy []statement

// policyOf reads the policy of a function. It names adopted tables and an adopted bucket as those
// of the stack Data, and marks the latter.
func policyOf(t testing.TB, tpl *template) rolePolicy {
	t.Helper()
	return policyNamed(t, tpl, "AWS::IAM::Policy", "Role/DefaultPolicy").asOwn(tpl)
}

// policyNamed reads a policy by its type and construct.
func policyNamed(t testing.TB, tpl *template, kind, construct string) rolePolicy {
	t.Helper()
	var out rolePolicy
	for _, s := range at(t, tpl.of(kind)[construct].Properties, "PolicyDocument", "Statement").([]any) {
		given := s.(object)
		if given["NotAction"] != nil || given["NotResource"] != nil || given["NotPrincipal"] != nil {
			t.Fatalf("this test does not read %v", given)
		}
		next := statement{deny: given["Effect"] == "Deny", conditions: object{}}
		for _, a := range list(given["Action"]) {
			next.actions = append(next.actions, a.(string))
		}
		for _, r := range list(given["Resource"]) {
			next.resources = append(next.resources, tpl.text(r))
		}
		if c, ok := given["Condition"].(object); ok {
			for kind, of := range c {
				for key, value := range of.(object) {
					var patterns []string
					for _, v := range list(value) {
						patterns = append(patterns, tpl.text(v))
					}
					next.conditions[kind+" "+key] = strings.Join(patterns, either)
				}
			}
		}
		out = append(out, next)
	}
	return out
}

// lines returns a policy as sorted text.
func (p rolePolicy) lines() []string {
	var out []string
	for _, s := range p {
		conditions := ""
		for _, c := range slices.Sorted(maps.Keys(s.conditions)) {
			conditions += fmt.Sprintf(" if %s %s", c, s.conditions[c])
		}
		for _, a := range s.actions {
			for _, r := range s.resources {
				out = append(out, map[bool]string{true: "never "}[s.deny]+a+" "+r+conditions)
			}
		}
	}
	slices.Sort(out)
	return out
}

// allows evaluates a policy as IAM does, for the conditions in use. about holds the keys of the
// request.
func (p rolePolicy) allows(action, resource string, about map[string]string) bool {
	return p.has(false, action, resource, about) && !p.has(true, action, resource, about)
}

// has reports whether a statement that denies, or one that allows, applies to a request.
func (p rolePolicy) has(deny bool, action, resource string, about map[string]string) bool {
	return slices.ContainsFunc(p, func(s statement) bool {
		return s.deny == deny && slices.ContainsFunc(s.actions, func(a string) bool { return matches(a, action) }) &&
			slices.ContainsFunc(s.resources, func(r string) bool { return matches(r, resource) }) && s.holds(about)
	})
}

func (s statement) holds(about map[string]string) bool {
	for condition, want := range s.conditions {
		kind, key, _ := strings.Cut(condition, " ")
		got, present := about[key]
		if !holds(kind, got, present, strings.Split(want.(string), either)) {
			return false
		}
	}
	return true
}

// holds evaluates one condition. got is the value of its key in the request.
func holds(kind, got string, present bool, patterns []string) bool {
	matched := present && slices.ContainsFunc(patterns, func(p string) bool { return matches(p, got) })
	switch kind {
	case "Null":
		return patterns[0] == strconv.FormatBool(!present)
	case "StringNotEquals":
		return !matched
	case "NumericLessThan":
		number, err := strconv.ParseFloat(got, 64)
		bound, err2 := strconv.ParseFloat(patterns[0], 64)
		return err == nil && err2 == nil && number < bound
	}
	return matched || !present && strings.HasSuffix(kind, "IfExists")
}

func matches(pattern, text string) bool {
	if before, wild := strings.CutSuffix(pattern, "*"); wild {
		return strings.HasPrefix(text, before)
	}
	return pattern == text
}
