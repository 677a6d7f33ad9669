package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestContentStreams(t *testing.T) {
	for name, d := range made {
		tpl := read(t, d.stackName("content"))
		methods := tpl.of("AWS::ApiGateway::Method")
		same(t, name, slices.Sorted(maps.Keys(methods)), []string{"Api/Default/ANY", "Api/Default/{proxy+}/ANY"})
		for method, m := range methods {
			integration := at(t, m.Properties, "Integration").(object)
			same(t, method+": transfer", integration["ResponseTransferMode"], "STREAM")
			same(t, method+": timeout", integration["TimeoutInMillis"], 15*60*1000)
			same(t, method+": kind", integration["Type"], "AWS_PROXY")
			if uri := tpl.text(integration["Uri"]); !strings.HasSuffix(uri, "/response-streaming-invocations") {
				t.Errorf("%s calls %s", method, uri)
			}
		}
		api := tpl.only(t, "AWS::ApiGateway::RestApi")
		same(t, name+": endpoint", api.Properties["EndpointConfiguration"], object{"Types": []string{"REGIONAL"}})
		same(t, name+": compression", api.Properties["MinimumCompressionSize"], nil)
		same(t, name+": the function's time", tpl.only(t, "AWS::Lambda::Function").Properties["Timeout"], 15*60)
	}
}

func TestTheGatewayOfContentRefusesWithOurEnvelope(t *testing.T) {
	tpl := read(t, "Plain-Content")
	for name, code := range map[string]string{"Api/Refused": "invalid_request", "Api/Failed": "internal_error"} {
		r := tpl.of("AWS::ApiGateway::GatewayResponse")[name]
		if r == nil {
			t.Fatalf("there is no %s", name)
		}
		var envelope struct {
			Error struct {
				Code, Message string
				RequestID     string `json:"request_id"`
			}
		}
		body := at(t, r.Properties, "ResponseTemplates", "application/json").(string)
		if err := json.Unmarshal([]byte(body), &envelope); err != nil {
			t.Fatal(err)
		}
		if e := envelope.Error; e.Code != code || e.Message == "" || e.RequestID != "$context.requestId" {
			t.Errorf("%s answers %s", name, body)
		}
	}
}

// Every path, method and header reaches the function, preflights too: the one route is the default one, and the gateway
// answers nothing by itself.
func TestTheGatewaysOfTheHostsPassEverything(t *testing.T) {
	for name := range made {
		for _, host := range []string{"Api", "Upload", "App"} {
			tpl := read(t, name+"-"+host)
			same(t, name+"-"+host, tpl.only(t, "AWS::ApiGatewayV2::Route").Properties["RouteKey"], "$default")
			same(t, name+"-"+host+": CORS", tpl.only(t, "AWS::ApiGatewayV2::Api").Properties["CorsConfiguration"], nil)
		}
	}
}

func TestChallengesAreMappedBack(t *testing.T) {
	want := object{"401": object{"ResponseParameters": []any{
		object{"Destination": "overwrite:header.www-authenticate", "Source": "$response.header.x-vitrine-challenge"},
	}}}
	for name := range made {
		for host, mapped := range map[string]any{"Api": want, "Upload": want, "App": nil} {
			integration := read(t, name+"-"+host).only(t, "AWS::ApiGatewayV2::Integration")
			same(t, name+"-"+host, integration.Properties["ResponseParameters"], mapped)
			same(t, name+"-"+host+": payload", integration.Properties["PayloadFormatVersion"], "2.0")
		}
	}
}

func TestAccessLogsNameRoutesAndNoPaths(t *testing.T) {
	known := []string{
		"$context.requestId", "$context.requestTimeEpoch", "$context.httpMethod", "$context.routeKey", "$context.resourcePath", "$context.status",
		"$context.responseLatency", "$context.responseLength", "$context.integrationErrorMessage", "$context.integration.error",
	}
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		kind, property := "AWS::ApiGatewayV2::Stage", "AccessLogSettings"
		if host == "content" {
			kind, property = "AWS::ApiGateway::Stage", "AccessLogSetting"
		}
		stage := tpl.only(t, kind)
		if log := tpl.text(at(t, stage.Properties, property, "DestinationArn")); log != "AccessLog.Arn" {
			t.Errorf("the gateway logs to %s", log)
		}
		var line map[string]string
		if err := json.Unmarshal([]byte(at(t, stage.Properties, property, "Format").(string)), &line); err != nil {
			t.Fatal(err)
		}
		for name, value := range line {
			if !slices.Contains(known, value) {
				t.Errorf("the log has %s = %s", name, value)
			}
		}
	})
	stage := read(t, "Plain-Content").only(t, "AWS::ApiGateway::Stage")
	same(t, "execution logs", at(t, stage.Properties, "MethodSettings", 0), object{"DataTraceEnabled": false, "HttpMethod": "*", "LoggingLevel": "OFF", "ResourcePath": "/*"})
	same(t, "tracing", stage.Properties["TracingEnabled"], false)
}

func TestAddressesOfAWSAreClosedWhereThereAreDomains(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		kind := "AWS::ApiGatewayV2::Api"
		if host == "content" {
			kind = "AWS::ApiGateway::RestApi"
		}
		same(t, "closed", tpl.only(t, kind).Properties["DisableExecuteApiEndpoint"],
			d.Name == "Named" || d.Name == "Bare" && host != "upload")
	})
}

func TestDomains(t *testing.T) {
	served := map[string]string{"api": domainNames["api"], "upload": "upload-origin.example.org", "content": domainNames["content"], "app": domainNames["app"]}
	for host, name := range served {
		tpl := read(t, made["Named"].stackName(host))
		kind, mapping := "AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping"
		if host == "content" {
			kind, mapping = "AWS::ApiGateway::DomainName", "AWS::ApiGateway::BasePathMapping"
		}
		same(t, host, tpl.only(t, kind).Properties["DomainName"], name)
		tpl.only(t, mapping)
		found := false
		for _, r := range tpl.of("AWS::Route53::RecordSet") {
			found = found || r.Properties["Name"] == name+"."
		}
		if !found {
			t.Errorf("%s has no record", name)
		}
		bare := read(t, made["Bare"].stackName(host))
		if id := map[bool]string{false: "RecordTarget", true: "EdgeRecordTarget"}[host == "upload"]; bare.Outputs[id].Value == nil {
			t.Errorf("nobody is told what the record of %s has to point at", host)
		}
		if n := len(bare.of("AWS::Route53::RecordSet")); n > 0 {
			t.Errorf("%s has %d records in no zone", host, n)
		}
	}
}

func TestTheUploadEdgePassesFilesToS3(t *testing.T) {
	tpl := read(t, "Named-Upload")
	config := at(t, tpl.only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig")
	same(t, "aliases", at(t, config, "Aliases"), []string{domainNames["upload"]})
	origins := map[string]object{}
	for _, o := range at(t, config, "Origins").([]any) {
		origins[o.(object)["Id"].(string)] = o.(object)
	}
	paths := map[string]string{}
	behaviours := append(slices.Clone(at(t, config, "CacheBehaviors").([]any)), at(t, config, "DefaultCacheBehavior"))
	for _, b := range behaviours {
		behaviour := b.(object)
		path, _ := behaviour["PathPattern"].(string)
		origin := origins[behaviour["TargetOriginId"].(string)]
		paths[path] = tpl.text(origin["DomainName"])
		passes(t, path, behaviour)
		if strings.Contains(paths[path], "Objects") && (origin["OriginAccessControlId"] != nil || at(t, origin, "S3OriginConfig") == nil) {
			t.Errorf("%s signs anew", path)
		}
	}
	same(t, "paths", paths, map[string]string{"/o/*": "Objects.RegionalDomainName", "/d/*": "Objects.RegionalDomainName", "": "upload-origin.example.org"})
	if len(read(t, "Plain-Upload").of("AWS::CloudFront::Distribution")) > 0 {
		t.Error("there is an edge without a domain")
	}
	bare := read(t, "Bare-Upload")
	origin := at(t, bare.only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig", "Origins", 0, "DomainName")
	if got := bare.text(origin); got != "Api.execute-api.AWS::Region.AWS::URLSuffix" {
		t.Errorf("without a domain of its own the gateway is at %s", got)
	}
}

// passes checks that a behaviour changes nothing: no cache, no compression, every header but Host, all methods.
func passes(t *testing.T, path string, behaviour object) {
	t.Helper()
	same(t, path+": compression", behaviour["Compress"], false)
	same(t, path+": cache policy", behaviour["CachePolicyId"], "4135ea2d-6df8-44a3-9df3-4b5a84be39ad")                  // Managed-CachingDisabled
	same(t, path+": origin request policy", behaviour["OriginRequestPolicyId"], "b689b0a8-53d0-40ab-baf2-68738e2966ac") // Managed-AllViewerExceptHostHeader
	same(t, path+": viewers", behaviour["ViewerProtocolPolicy"], "https-only")
	if methods := at(t, behaviour, "AllowedMethods").([]any); !slices.Contains(methods, any("PUT")) || !slices.Contains(methods, any("DELETE")) {
		t.Errorf("%s admits %v", path, methods)
	}
}

func TestEdgesKeepNoRefusal(t *testing.T) {
	for _, stack := range []string{"Named-Upload", "Plain-Content"} {
		for _, e := range at(t, read(t, stack).only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig", "CustomErrorResponses").([]any) {
			same(t, stack, e.(object)["ErrorCachingMinTTL"], 0)
		}
	}
}

func TestContentWithoutADomainHasAnOriginWithoutAPath(t *testing.T) {
	tpl := read(t, "Plain-Content")
	config := at(t, tpl.only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig")
	passes(t, "content", at(t, config, "DefaultCacheBehavior").(object))
	if path := tpl.text(at(t, config, "Origins", 0, "OriginPath")); !strings.Contains(path, "ApiDeploymentStagelive") {
		t.Errorf("the origin path is %s", path)
	}
	if url := tpl.text(tpl.Outputs["Url"].Value); url != "https://Edge.DomainName" {
		t.Errorf("the address is %s", url)
	}
}

func TestEveryStackTellsItsSettings(t *testing.T) {
	for name, d := range made {
		data := read(t, d.stackName("data"))
		for _, want := range []string{"CoreTable", "EventsTable", "HotTable", "Bucket", "Key", "ContentRing", "LinksRing", "PepperRing", "SealRing", "AssertionRing"} {
			if data.Outputs[want].Value == nil {
				t.Errorf("%s: the data stack does not tell %s", name, want)
			}
		}
		for _, host := range hostNames {
			for _, want := range []string{"Url", "FunctionName", "LogGroup"} {
				if read(t, d.stackName(host)).Outputs[want].Value == nil {
					t.Errorf("%s: the %s stack does not tell %s", name, host, want)
				}
			}
		}
	}
}
