package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
)

func TestScheduledFunctionsAreWokenEveryMinuteByNobodyElse(t *testing.T) {
	eachScheduled(t, func(t *testing.T, d *deployment, name string, tpl *template) {
		function := host{name: name}.title() + "Function"
		rule := tpl.only(t, "AWS::Events::Rule")
		same(t, name+": schedule", rule.Properties["ScheduleExpression"], "rate(1 minute)")
		same(t, name+": state", rule.Properties["State"], "ENABLED")
		target := at(t, rule.Properties, "Targets", 0).(object)
		if arn := tpl.text(target["Arn"]); arn != function+".Arn" || len(list(rule.Properties["Targets"])) != 1 {
			t.Errorf("%s: the rule wakes %s", name, arn)
		}
		same(t, name+": retries", target["RetryPolicy"], object{"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0})
		// in addition to the rule, Lambda would retry twice
		itself := tpl.only(t, "AWS::Lambda::EventInvokeConfig").Properties
		same(t, name+": attempts", itself["MaximumRetryAttempts"], 0)
		same(t, name+": age", itself["MaximumEventAgeInSeconds"], 60)
		if named := tpl.text(itself["FunctionName"]); named != function {
			t.Errorf("%s: attempts are those of %s", name, named)
		}
		permission := tpl.only(t, "AWS::Lambda::Permission")
		same(t, name+": principal", permission.Properties["Principal"], "events.amazonaws.com")
		if source := tpl.text(permission.Properties["SourceArn"]); source != "EveryMinute.Arn" {
			t.Errorf("%s: %s may call the function", name, source)
		}
		for kind := range maps.Keys(kinds(tpl)) {
			if strings.Contains(kind, "ApiGateway") {
				t.Errorf("%s has a %s", name, kind)
			}
		}
	})
}

// eachScheduled runs a test for each function that no request reaches, of all deployments.
func eachScheduled(t *testing.T, check func(t *testing.T, d *deployment, name string, tpl *template)) {
	eachStack(t, env.Scheduled, check)
}

func TestScheduledFunctionsReportWhatFails(t *testing.T) {
	eachScheduled(t, func(t *testing.T, d *deployment, name string, tpl *template) {
		alarms := tpl.of("AWS::CloudWatch::Alarm")
		same(t, name+": alarms", slices.Sorted(maps.Keys(alarms)), []string{"Behind", "Errors", "Stopped", "Throttles"})
		p := alarms["Stopped"].Properties
		same(t, name+": when they stop", []any{p["MetricName"], p["Statistic"], p["ComparisonOperator"], p["Threshold"],
			p["Period"], p["EvaluationPeriods"], p["TreatMissingData"]},
			[]any{"Invocations", "Sum", "LessThanThreshold", 1, 300, 2, "breaching"})
		for alarm, a := range alarms {
			same(t, name+": reports of "+alarm, a.Properties["AlarmActions"] != nil, d.AlarmTopic != "")
		}
		same(t, name+": time", tpl.only(t, "AWS::Lambda::Function").Properties["Timeout"], workTime)
		if workTime*time.Second >= limits.BundleLease {
			t.Errorf("%s may run when another function takes its bundle", name)
		}
	})
}

func TestWorkThatFallsBehindIsReported(t *testing.T) {
	eachScheduled(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		name := d.Name
		filter := tpl.only(t, "AWS::Logs::MetricFilter").Properties
		same(t, name+": pattern", filter["FilterPattern"], "{ $.oldest_due_seconds >= 0 }")
		metric := at(t, filter, "MetricTransformations", 0).(object)
		same(t, name+": metric", metric, object{
			"MetricName": host + "-oldest-due-seconds", "MetricNamespace": "Vitrine/" + name, "MetricValue": "$.oldest_due_seconds",
		})
		alarm := tpl.of("AWS::CloudWatch::Alarm")["Behind"]
		if alarm == nil {
			t.Fatalf("%s: nobody is told", name)
		}
		p := alarm.Properties
		same(t, name+": when they are behind",
			[]any{p["Namespace"], p["MetricName"], p["Statistic"], p["ComparisonOperator"], p["Threshold"], p["Period"],
				p["TreatMissingData"]},
			[]any{"Vitrine/" + name, metric["MetricName"], "Maximum", "GreaterThanThreshold", 3600, 300, "notBreaching"})
	})
}

// kinds are the types of a template's resources.
func kinds(tpl *template) map[string]bool {
	out := map[string]bool{}
	for _, r := range tpl.Resources {
		out[r.Type] = true
	}
	return out
}
