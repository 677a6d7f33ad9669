package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"vitrine/functions/assembly/api"
	"vitrine/functions/assembly/app"
	"vitrine/functions/assembly/content"
	"vitrine/functions/assembly/mcp"
	"vitrine/functions/assembly/render"
	"vitrine/functions/assembly/upload"
	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/platform/env"
)

// needed are the rings that the hosts require.
var needed = map[string][]string{"api": api.Rings, "upload": upload.Rings, "content": content.Rings, "app": app.Rings,
	"mcp": mcp.Rings, env.Pages: render.Rings}

func TestEveryHostIsToldWhatItNeeds(t *testing.T) {
	common := []string{
		env.Environment, env.APIURL, env.UploadURL, env.ContentURL, env.AppURL, env.MCPURL, env.CoreTable,
		env.EventsTable, env.HotTable, env.Bucket, env.Limits, env.DynamoDBEndpoint, env.S3Endpoint, env.S3Domain,
		env.RingsVersion, env.HSTS, env.PolicyFile, env.SellsPlans,
	}
	checking := []string{env.OIDCIssuer, env.OIDCClientID, env.OIDCOperatorClaim, env.OIDCOperatorValue,
		env.OIDCEmailVerified}
	own := map[string][]string{
		"api": append([]string{
			env.Bundles, env.Cache, env.Pow, env.AssertionRing, env.Providers, env.FetchOrigins, env.ClientDocuments,
			env.StripeKey, env.StripeWebhookSecret, env.StripePriceMonth, env.StripePriceYear, env.StripeURL,
		}, checking...),
		"upload": {env.PutMode},
		"mcp": {
			env.Bundles, env.Cache, env.PutMode, env.AgentRegistration, env.ClientDocuments, env.OIDCIssuer, env.OIDCClientID,
		},
		"content": {env.Cache, env.ResponseMode},
		"app": append([]string{
			env.Bundles, env.Cache, env.PutMode, env.OIDCClientSecret, env.OIDCScopes, env.OIDCLogout,
			env.StripeKey, env.StripePriceMonth, env.StripePriceYear, env.StripeURL,
		}, checking...),
		env.Pages: {env.Cache, env.ResponseMode},
	}
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		want := slices.Concat(common, own[host], needed[host])
		if d.ownOrigins() && slices.Contains([]string{"content", "app", env.Pages}, host) {
			want = append(want, env.ContentOrigins)
		}
		slices.Sort(want)
		same(t, "environment", slices.Sorted(maps.Keys(tpl.variables(t))), want)
	})
}

func TestSettingsNameTheDataOfTheDeployment(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		want := map[string]string{env.CoreTable: "Core", env.EventsTable: "Events", env.HotTable: "Hot", env.Bucket: "Objects"}
		maps.Copy(want, ringNames)
		if a := d.Adopted; a.tables() {
			want[env.CoreTable], want[env.EventsTable] = a.Core, a.Events
			want[env.HotTable], want[env.Bucket] = a.Hot, a.Bucket
		}
		for name, value := range tpl.variables(t) {
			if want[name] != "" && value != want[name] {
				t.Errorf("%s is %q, want %s", name, value, want[name])
			}
		}
	})
}

func TestSettingsOfTheLayouts(t *testing.T) {
	tests := []struct {
		stack, name, want string
	}{
		{"Plain-Api", env.Environment, "preview"},
		{"Plain-Api", env.ContentURL, "https://content.invalid"},
		{"Plain-Api", env.Bundles, "60"},
		{"Bare-Api", env.Bundles, "off"},
		{"Plain-Upload", env.PutMode, "direct"},
		{"Plain-Mcp", env.PutMode, "direct"},
		{"Plain-App", env.PutMode, "direct"},
		{"Plain-Content", env.ResponseMode, "stream"},
		{"Plain-Content", env.Cache, "67108864"},
		{"Named-App", env.Cache, "33554432"},
		{"Bare-Api", env.Cache, "0"},
		{"Loose-App", env.APIURL, "https://known.example"},
		{"Loose-App", env.RingsVersion, "7c0ffee"},
		{"Plain-App", env.RingsVersion, ""},
		{"Plain-App", env.OIDCIssuer, ""}, // the pool is not known before it is made
		{"Plain-App", env.OIDCClientSecret, ""},
		{"Named-App", env.OIDCIssuer, "https://pool.example"},
		{"Named-App", env.OIDCClientID, "client-of-pool"},
		{"Named-App", env.OIDCClientSecret, poolSecret},
		{"Named-App", env.OIDCLogout, "cognito"},
		{"Named-App", env.OIDCScopes, "openid email profile"},
		{"Named-App", env.OIDCOperatorClaim, ""},
		{"Named-Api", env.OIDCIssuer, "https://pool.example"},
		{"Bare-Api", env.OIDCOperatorClaim, "roles"},
		{"Bare-Api", env.OIDCOperatorValue, "vitrine-admin"},
		{"Bare-App", env.OIDCOperatorClaim, "roles"},
		{"Bare-App", env.OIDCOperatorValue, "vitrine-admin"},
		{"Bare-App", env.OIDCIssuer, "https://id.example.com/tenant"},
		{"Bare-App", env.OIDCClientSecret, clientSecret},
		{"Bare-App", env.OIDCLogout, "rp_initiated"},
		{"Bare-Api", env.OIDCClientID, "vitrine-at-id"},
		{"Plain-Api", env.Providers, ""},
		{"Plain-Mcp", env.AgentRegistration, "on"},
		{"Bare-Mcp", env.AgentRegistration, "providers"},
		{"Bare-Api", env.Providers, providerList},
		{"Plain-Api", env.StripeKey, ""},
		{"Bare-Api", env.StripeKey, stripeKey},
		{"Bare-Api", env.StripeWebhookSecret, stripeSecret},
		{"Bare-Api", env.StripePriceYear, "price_year"},
		{"Bare-Api", env.StripeURL, ""},
		{"Plain-App", env.StripeKey, ""},
		{"Bare-App", env.StripeKey, stripeKey},
		{"Bare-App", env.StripePriceMonth, "price_month"},
		{"Loose-App", env.OIDCIssuer, ""},
		{"Loose-Api", env.OIDCClientID, ""},
		{"Loose-App", env.MCPURL, "https://mcp.invalid"},
		{"Loose-App", env.ContentURL, "https://content.invalid"},
		{"Named-Api", env.Environment, "production"},
		{"Named-Api", env.ContentURL, "https://files.example.net"},
		{"Named-Api", env.MCPURL, "https://mcp.example.org"},
		{"Named-Mcp", env.MCPURL, "https://mcp.example.org"},
		{"Named-Content", env.HSTS, "preload"},
		{"Bare-App", env.HSTS, "host"},
		{"Bare-App", env.ContentOrigins, "wildcard"},
		{"Wild-Content", env.ContentOrigins, "wildcard"},
		{"Wild-Content", env.ContentURL, "https://files.example.net"},
		{"Named-Content", env.AppURL, "https://app.example.org"},
		{"Named-Upload", env.PutMode, "edge"},
		{"Named-Mcp", env.PutMode, "edge"},
		{"Named-App", env.PutMode, "edge"},
	}
	for _, tt := range tests {
		if got := read(t, tt.stack).variables(t)[tt.name]; got != tt.want {
			t.Errorf("%s tells %s=%q, want %q", tt.stack, tt.name, got, tt.want)
		}
	}
}

func TestNoSecretIsInAnEnvironment(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for name, value := range tpl.variables(t) {
			if strings.Contains(value, "{{resolve:") {
				t.Errorf("%s holds the value of a secret", name)
			}
		}
	})
}

func TestFunctionsRunOurBinaryAndNothingElse(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		f := tpl.only(t, "AWS::Lambda::Function") // no custom resources
		same(t, "runtime", f.Properties["Runtime"], "provided.al2023")
		same(t, "architecture", f.Properties["Architectures"], []string{d.Arch})
		same(t, "tracing", f.Properties["TracingConfig"], nil)
		same(t, "host", f.Metadata["vitrine:host"], host)
		for _, never := range []string{"AWS::Lambda::Url", "AWS::CloudFormation::CustomResource"} {
			if len(tpl.of(never)) > 0 {
				t.Errorf("there is a %s", never)
			}
		}
	})
}

func TestLogsForget(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for name, log := range tpl.of("AWS::Logs::LogGroup") {
			same(t, name, log.Properties["RetentionInDays"], 30)
			want := map[bool]string{true: "Retain", false: "Delete"}[d.Keep]
			if log.DeletionPolicy != want || log.UpdateReplacePolicy != want {
				t.Errorf("%s: deleted %s, replaced %s, want %s", name, log.DeletionPolicy, log.UpdateReplacePolicy, want)
			}
		}
		if got := tpl.text(at(t, tpl.only(t, "AWS::Lambda::Function").Properties, "LoggingConfig",
			"LogGroup")); got != "Log" {
			t.Errorf("the function logs to %q", got)
		}
	})
}

// Below /aws/vendedlogs one policy covers the right of AWS to write logs; elsewhere each group
// makes a policy longer that has room for a few dozen. Groups are kept, so each name has a part of
// the stack's id: a recreated stack could not make those of the one before it.
func TestLogsHaveNames(t *testing.T) {
	names := map[string]string{
		"Log": "/aws/lambda/", "AccessLog": "/aws/vendedlogs/apigateway/", "EdgeLog": "/aws/vendedlogs/cloudfront/",
	}
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		logs := tpl.of("AWS::Logs::LogGroup")
		for id, log := range logs {
			name := tpl.text(log.Properties["LogGroupName"])
			if !strings.HasPrefix(name, names[id]+d.stackName(host)+"-") || !strings.Contains(name, "AWS::StackId") {
				t.Errorf("%s is called %s", id, name)
			}
		}
		want := []string{"AccessLog", "Log"}
		if slices.Contains(env.Scheduled, host) || host == env.Pages {
			want = want[1:]
		} else if len(tpl.of("AWS::CloudFront::Distribution")) > 0 && d.EdgeLogs {
			want = []string{"AccessLog", "EdgeLog", "Log"}
		}
		same(t, "log groups", slices.Sorted(maps.Keys(logs)), want)
	})
}

// The service's lines are JSON with a level, which Lambda reads; Lambda's own lines about
// successful requests are off.
func TestLogsAreJSON(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		logging := at(t, tpl.only(t, "AWS::Lambda::Function").Properties, "LoggingConfig").(object)
		same(t, "format", logging["LogFormat"], "JSON")
		same(t, "what Lambda says", logging["SystemLogLevel"], "WARN")
		same(t, "what we say", logging["ApplicationLogLevel"], "INFO")
	})
}

func TestAlarms(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		alarms := tpl.of("AWS::CloudWatch::Alarm")
		same(t, "alarms", slices.Sorted(maps.Keys(alarms)), []string{"ErrorLines", "Errors", "Throttles"})
		for name, a := range alarms {
			want := any(nil)
			if d.AlarmTopic != "" {
				want = []string{d.AlarmTopic}
			}
			same(t, name+" reports to", a.Properties["AlarmActions"], want)
		}
	})
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		threshold := 1
		if host == "content" || host == env.Pages { // slow readers and files that take too long end functions
			threshold = 50
		}
		same(t, "errors", tpl.of("AWS::CloudWatch::Alarm")["Errors"].Properties["Threshold"], threshold)
	})
}

// Any client can cause a 503 of a feature that is not configured; a line of level ERROR is a
// failure of the service.
func TestErrorsAreCountedInTheLogAndNotAtTheGateway(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		filter := tpl.of("AWS::Logs::MetricFilter")["Log/ErrorLines"]
		if filter == nil {
			t.Fatal("nothing counts the lines")
		}
		same(t, "pattern", filter.Properties["FilterPattern"], `{ $.level = "ERROR" }`)
		if log := tpl.text(filter.Properties["LogGroupName"]); log != "Log" {
			t.Errorf("it counts the lines of %s", log)
		}
		metric := at(t, filter.Properties, "MetricTransformations", 0).(object)
		same(t, "value", []any{metric["MetricValue"], metric["DefaultValue"]}, []any{"1", 0})
		same(t, "metric", []any{metric["MetricNamespace"], metric["MetricName"]},
			[]any{"Vitrine/" + d.Name, host + "-error-lines"})
		alarm := tpl.of("AWS::CloudWatch::Alarm")["ErrorLines"].Properties
		same(t, "alarm", []any{alarm["Namespace"], alarm["MetricName"], alarm["Statistic"], alarm["Threshold"]},
			[]any{metric["MetricNamespace"], metric["MetricName"], "Sum", 1})
		for name, a := range tpl.of("AWS::CloudWatch::Alarm") {
			if a.Properties["Namespace"] == "AWS/ApiGateway" {
				t.Errorf("%s counts what the gateway answers", name)
			}
		}
	})
}

// Every level of the service's lines is a word that the filter compares.
func TestALineOfAFailureIsWhatTheFilterCounts(t *testing.T) {
	var text bytes.Buffer
	lambdahttp.NewLog(&text).Error("request")
	var line object
	if err := json.Unmarshal(text.Bytes(), &line); err != nil || line["level"] != "ERROR" {
		t.Errorf("%s, %v", text.String(), err)
	}
}

func TestAStackHasOneTopicForAllOfItsAlarms(t *testing.T) {
	type construct struct{ Children map[string]construct }
	var all struct{ Tree construct }
	readJSON(t, &all, "tree.json")
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		topics := 0
		for name := range all.Tree.Children[d.stackName(host)].Children {
			if strings.HasSuffix(name, "Topic") {
				topics++
			}
		}
		same(t, "topics", topics, map[bool]int{true: 1, false: 0}[d.AlarmTopic != ""])
	})
}

func TestProductionKeepsSomeConcurrencyFromReaders(t *testing.T) {
	for name, tt := range map[string]struct {
		given map[string]any
		want  float64
	}{
		"production":              {map[string]any{"environment": "production"}, contentConcurrency},
		"production with a word":  {map[string]any{"environment": "production", "concurrency-content": "none"}, 0},
		"production with another": {map[string]any{"environment": "production", "concurrency-content": "7"}, 7},
		"preview":                 {map[string]any{}, 0},
	} {
		from := domains(tt.given)
		o, err := optionsFrom(from)
		f := function{options: o, host: host{name: "content"}}
		var got float64
		if n := f.reserved(); n != nil {
			got = *n
		}
		if err != nil || got != tt.want {
			t.Errorf("%s reserves %v, want %v; %v", name, got, tt.want, err)
		}
	}
}

func TestReservedConcurrencyIsAnOption(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		want := any(nil)
		if d.Name == "Named" && host == "content" {
			want = 50
		}
		same(t, "reserved concurrency", tpl.only(t, "AWS::Lambda::Function").Properties["ReservedConcurrentExecutions"], want)
	})
}
