package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestJobsAreWokenEveryMinuteByNobodyElse(t *testing.T) {
	for name, d := range made {
		tpl := read(t, d.stackName("jobs"))
		rule := tpl.only(t, "AWS::Events::Rule")
		same(t, name+": schedule", rule.Properties["ScheduleExpression"], "rate(1 minute)")
		same(t, name+": state", rule.Properties["State"], "ENABLED")
		target := at(t, rule.Properties, "Targets", 0).(object)
		if f := tpl.text(target["Arn"]); f != "JobsFunction.Arn" || len(list(rule.Properties["Targets"])) != 1 {
			t.Errorf("%s: the rule wakes %s", name, f)
		}
		same(t, name+": retries", target["RetryPolicy"], object{"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0})
		permission := tpl.only(t, "AWS::Lambda::Permission")
		same(t, name+": principal", permission.Properties["Principal"], "events.amazonaws.com")
		if source := tpl.text(permission.Properties["SourceArn"]); source != "EveryMinute.Arn" {
			t.Errorf("%s: %s may call the function", name, source)
		}
		for kind := range maps.Keys(kinds(tpl)) {
			if strings.Contains(kind, "ApiGateway") {
				t.Errorf("%s: jobs have a %s", name, kind)
			}
		}
	}
}

func TestJobsReportWhatFails(t *testing.T) {
	for name, d := range made {
		tpl := read(t, d.stackName("jobs"))
		alarms := tpl.of("AWS::CloudWatch::Alarm")
		same(t, name+": alarms", slices.Sorted(maps.Keys(alarms)), []string{"Errors", "Throttles"})
		same(t, name+": time", tpl.only(t, "AWS::Lambda::Function").Properties["Timeout"], workTime)
	}
}

// kinds are the types of a template's resources.
func kinds(tpl *template) map[string]bool {
	out := map[string]bool{}
	for _, r := range tpl.Resources {
		out[r.Type] = true
	}
	return out
}
