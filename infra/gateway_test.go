package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"vitrine/shared/adapter/web"
)

// dualStack is how a REST API and its domain are reached.
var dualStack = object{"IpAddressType": "dualstack", "Types": []string{"REGIONAL"}}

func TestContentStreams(t *testing.T) {
	for name, d := range made {
		tpl := read(t, d.stackName("content"))
		methods := tpl.of("AWS::ApiGateway::Method")
		want := []string{
			"Api/Default/ANY", "Api/Default/r/ANY", "Api/Default/r/{proxy+}/ANY", "Api/Default/{proxy+}/ANY",
		}
		if d.ownOrigins() {
			want = append(want, "Labels/Default/.vitrine/ANY", "Labels/Default/.vitrine/r/ANY",
				"Labels/Default/.vitrine/r/{proxy+}/ANY", "Labels/Default/.vitrine/{proxy+}/ANY", "Labels/Default/ANY",
				"Labels/Default/{proxy+}/ANY")
		}
		same(t, name, slices.Sorted(maps.Keys(methods)), want)
		for method, m := range methods {
			time := 240
			if strings.Contains(method, "/r/") {
				time = 10
			}
			integration := at(t, m.Properties, "Integration").(object)
			same(t, method+": transfer", integration["ResponseTransferMode"], "STREAM")
			same(t, method+": timeout", integration["TimeoutInMillis"], time*1000)
			same(t, method+": kind", integration["Type"], "AWS_PROXY")
			if uri := tpl.text(integration["Uri"]); !strings.HasSuffix(uri, "/response-streaming-invocations") {
				t.Errorf("%s calls %s", method, uri)
			}
		}
		for id, api := range tpl.of("AWS::ApiGateway::RestApi") {
			same(t, name+": endpoint of "+id, api.Properties["EndpointConfiguration"], dualStack)
			same(t, name+": compression of "+id, api.Properties["MinimumCompressionSize"], nil)
			same(t, name+": binary bodies of "+id, api.Properties["BinaryMediaTypes"], nil)
		}
		same(t, name+": the function's time", tpl.only(t, "AWS::Lambda::Function").Properties["Timeout"], 240)
	}
}

func TestTheGatewaysOfContentRefuseWithOurEnvelope(t *testing.T) {
	tpl := read(t, "Wild-Content")
	codes := map[string]string{
		"Api/Refused": "invalid_request", "Api/Failed": "internal_error", "Api/Throttled": "rate_limited_artifact",
		"Labels/Refused": "invalid_request", "Labels/Failed": "internal_error", "Labels/Throttled": "rate_limited_artifact",
	}
	for name, code := range codes {
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

// A gateway that throttles sends Retry-After, as the service's own limits do.
func TestTheGatewayOfContentSaysWhenToComeAgain(t *testing.T) {
	r := read(t, "Plain-Content").of("AWS::ApiGateway::GatewayResponse")["Api/Throttled"]
	if r == nil {
		t.Fatal("it has the answer of all refusals")
	}
	same(t, "what it answers", r.Properties["ResponseType"], "THROTTLED")
	same(t, "status", r.Properties["StatusCode"], "429")
	same(t, "header", at(t, r.Properties, "ResponseParameters", "gatewayresponse.header.Retry-After"), "'5'")
	same(t, "cache", at(t, r.Properties, "ResponseParameters", "gatewayresponse.header.Cache-Control"), "'no-store'")
}

func TestNoHostTakesTheRequestsOfTheWholeAccount(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		limit := func(rate, burst int) object {
			return object{"ThrottlingBurstLimit": burst, "ThrottlingRateLimit": rate}
		}
		want := map[string]object{
			"content": limit(500, 1000), "api": limit(200, 400), "upload": limit(100, 200), "app": limit(100, 200),
			"mcp": limit(100, 200),
		}
		if d.Name == "Named" {
			want = map[string]object{"api": limit(1000, 2000), "upload": limit(100, 200), "mcp": limit(100, 200)}
		}
		got := map[string]any{}
		for id, stage := range tpl.of("AWS::ApiGateway::Stage") {
			settings := at(t, stage.Properties, "MethodSettings", 0).(object)
			same(t, "of what", []any{settings["HttpMethod"], settings["ResourcePath"]}, []any{"*", "/*"})
			got[id] = nil
			if rate, burst := settings["ThrottlingRateLimit"], settings["ThrottlingBurstLimit"]; rate != nil {
				got[id] = object{"ThrottlingBurstLimit": burst, "ThrottlingRateLimit": rate}
			}
		}
		for id, stage := range tpl.of("AWS::ApiGatewayV2::Stage") {
			got[id] = stage.Properties["DefaultRouteSettings"]
		}
		for id, limit := range got {
			if want[host] == nil {
				same(t, "throttle of "+id, limit, nil)
			} else {
				same(t, "throttle of "+id, limit, want[host])
			}
		}
		same(t, "stages", len(got), len(tpl.gateways()))
	})
}

// Every path, method and header reaches the function, preflights too: the default route is the only
// one, and the gateway answers no request by itself.
func TestTheGatewaysOfTheHostsPassEverything(t *testing.T) {
	for name := range made {
		for _, host := range []string{"Api", "Upload", "App", "Mcp"} {
			tpl := read(t, name+"-"+host)
			same(t, name+"-"+host, tpl.only(t, "AWS::ApiGatewayV2::Route").Properties["RouteKey"], "$default")
			same(t, name+"-"+host+": CORS", tpl.only(t, "AWS::ApiGatewayV2::Api").Properties["CorsConfiguration"], nil)
		}
	}
}

func TestChallengesAreMappedBack(t *testing.T) {
	back := object{"ResponseParameters": []any{
		object{"Destination": "overwrite:header.www-authenticate", "Source": "$response.header.x-vitrine-challenge"},
	}}
	want := object{"401": back}
	for name := range made {
		for host, mapped := range map[string]any{
			"Api":    want,
			"Upload": want,
			"App":    nil,
			"Mcp":    object{"401": back, "403": back},
		} {
			integration := read(t, name+"-"+host).only(t, "AWS::ApiGatewayV2::Integration")
			same(t, name+"-"+host, integration.Properties["ResponseParameters"], mapped)
			same(t, name+"-"+host+": payload", integration.Properties["PayloadFormatVersion"], "2.0")
		}
	}
}

func TestAccessLogsHaveNoPaths(t *testing.T) {
	known := []string{
		"$context.requestId", "$context.integration.requestId", "$context.requestTimeEpoch", "$context.httpMethod",
		"$context.status", "$context.responseLatency", "$context.responseLength", "$context.integrationErrorMessage",
		"$context.integration.error",
	}
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for name, value := range accessLogOf(t, host, tpl) {
			if !slices.Contains(known, value) {
				t.Errorf("the log has %s = %s", name, value)
			}
		}
	})
	stage := read(t, "Named-Content").only(t, "AWS::ApiGateway::Stage")
	same(t, "execution logs", at(t, stage.Properties, "MethodSettings", 0),
		object{"DataTraceEnabled": false, "HttpMethod": "*", "LoggingLevel": "OFF", "ResourcePath": "/*"})
	same(t, "tracing", stage.Properties["TracingEnabled"], false)
}

// The lines of a gateway and of the function behind it have the same ids under the same names.
func TestALineOfTheGatewayLeadsToThatOfTheFunction(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		line := accessLogOf(t, host, tpl)
		same(t, "the function's id", line["requestId"], "$context.integration.requestId")
		same(t, "the gateway's id", line[web.GatewayRequestIDField], "$context.requestId")
		if line["request_id"] != "" {
			t.Error("request_id is the name that the function's lines have for an id that the gateway does not know")
		}
	})
}

// accessLogOf is the format of the log of a host's gateway.
func accessLogOf(t *testing.T, host string, tpl *template) (line map[string]string) {
	t.Helper()
	kind, property := "AWS::ApiGatewayV2::Stage", "AccessLogSettings"
	if host == "content" {
		kind, property = "AWS::ApiGateway::Stage", "AccessLogSetting"
	}
	for id, stage := range tpl.of(kind) {
		if log := tpl.text(at(t, stage.Properties, property, "DestinationArn")); log != "AccessLog.Arn" {
			t.Errorf("%s logs to %s", id, log)
		}
		before := line
		if err := json.Unmarshal([]byte(at(t, stage.Properties, property, "Format").(string)), &line); err != nil {
			t.Fatal(err)
		}
		if before != nil {
			same(t, "line of "+id, line, before)
		}
	}
	return line
}

func TestEveryAddressIsReachedByIPv6(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for _, r := range tpl.of("AWS::ApiGatewayV2::Api") {
			same(t, "gateway", r.Properties["IpAddressType"], "dualstack")
		}
		for _, r := range tpl.of("AWS::ApiGatewayV2::DomainName") {
			same(t, "domain", at(t, r.Properties, "DomainNameConfigurations", 0, "IpAddressType"), "dualstack")
		}
		for _, r := range tpl.of("AWS::ApiGateway::DomainName") {
			same(t, "domain", r.Properties["EndpointConfiguration"], dualStack)
		}
		for _, r := range tpl.of("AWS::CloudFront::Distribution") {
			same(t, "edge", at(t, r.Properties, "DistributionConfig", "IPV6Enabled"), true)
		}
		kinds := map[string][]string{}
		for _, r := range tpl.of("AWS::Route53::RecordSet") {
			name := r.Properties["Name"].(string)
			kinds[name] = append(kinds[name], r.Properties["Type"].(string))
		}
		for name, of := range kinds {
			slices.Sort(of)
			same(t, "records of "+name, of, []string{"A", "AAAA"})
		}
	})
}

func TestAddressesOfAWSAreClosedWhereThereAreDomains(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for id, api := range tpl.gateways() {
			same(t, id+" is closed", api.Properties["DisableExecuteApiEndpoint"],
				d.hasDomains() && (d.Name == "Named" || host != "upload"))
		}
	})
}

func TestDomains(t *testing.T) {
	served := map[string]string{
		"api":     domainNames["api"],
		"upload":  "upload-origin.example.org",
		"content": domainNames["content"],
		"app":     domainNames["app"],
		"mcp":     domainNames["mcp"],
	}
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
		if id := map[bool]string{false: "RecordTarget",
			true: "EdgeRecordTarget"}[host == "upload"]; bare.Outputs[id].Value == nil {
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
		if strings.Contains(paths[path], "Objects") &&
			(origin["OriginAccessControlId"] != nil || at(t, origin, "S3OriginConfig") == nil) {
			t.Errorf("%s signs anew", path)
		}
	}
	same(t, "paths", paths, map[string]string{
		"/o/*":   "Objects.RegionalDomainName",
		"/d/*":   "Objects.RegionalDomainName",
		"/cli/*": "Objects.RegionalDomainName",
		"":       "upload-origin.example.org",
	})
	if len(read(t, "Plain-Upload").of("AWS::CloudFront::Distribution")) > 0 {
		t.Error("there is an edge without a domain")
	}
	bare := read(t, "Bare-Upload")
	origin := at(t, bare.only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig", "Origins", 0,
		"DomainName")
	if got := bare.text(origin); got != "Api.execute-api.AWS::Region.AWS::URLSuffix" {
		t.Errorf("without a domain of its own the gateway is at %s", got)
	}
}

// passes checks that a behaviour changes no request: no cache, no compression, every header but
// Host, all methods.
func passes(t *testing.T, path string, behaviour object) {
	t.Helper()
	forwards(t, path, behaviour)
	// Managed-AllViewerExceptHostHeader
	same(t, path+": origin request policy", behaviour["OriginRequestPolicyId"], "b689b0a8-53d0-40ab-baf2-68738e2966ac")
}

// forwards checks what passes does, without regard to headers.
func forwards(t *testing.T, path string, behaviour object) {
	t.Helper()
	same(t, path+": compression", behaviour["Compress"], false)
	// Managed-CachingDisabled
	same(t, path+": cache policy", behaviour["CachePolicyId"], "4135ea2d-6df8-44a3-9df3-4b5a84be39ad")
	same(t, path+": viewers", behaviour["ViewerProtocolPolicy"], "https-only")
	if methods := at(t, behaviour, "AllowedMethods").([]any); !slices.Contains(methods, any("PUT")) ||
		!slices.Contains(methods, any("DELETE")) {
		t.Errorf("%s admits %v", path, methods)
	}
}

func TestEdgesKeepNoRefusal(t *testing.T) {
	for _, stack := range []string{"Named-Upload", "Plain-Content", "Wild-Content"} {
		for _, e := range at(t, read(t, stack).only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig",
			"CustomErrorResponses").([]any) {
			same(t, stack, e.(object)["ErrorCachingMinTTL"], 0)
		}
	}
}

// Paths, queries, cookies and referrers of requests hold signed URLs, and addresses are personal
// data.
func TestEdgesLogWhatIsNoSecret(t *testing.T) {
	for _, stack := range []string{"Named-Upload", "Plain-Content", "Wild-Content"} {
		tpl := read(t, stack)
		delivery := tpl.only(t, "AWS::Logs::Delivery")
		same(t, stack+": fields", delivery.Properties["RecordFields"], []string{
			"date", "time", "x-edge-location", "x-edge-request-id", "cs-method", "cache-behavior-path-pattern", "sc-status",
			"sc-bytes", "cs-bytes", "time-taken", "time-to-first-byte", "x-edge-result-type",
			"x-edge-detailed-result-type", "cs-protocol-version", "ssl-protocol",
		})
		source := tpl.only(t, "AWS::Logs::DeliverySource")
		same(t, stack+": of what", source.Properties["LogType"], "ACCESS_LOGS")
		arn := tpl.text(source.Properties["ResourceArn"])
		same(t, stack+": of which", arn, "arn:AWS::Partition:cloudfront::AWS::AccountId:distribution/Edge")
		same(t, stack+": from", delivery.Properties["DeliverySourceName"], source.Properties["Name"])
		destination := tpl.only(t, "AWS::Logs::DeliveryDestination")
		arn = tpl.text(destination.Properties["DestinationResourceArn"])
		same(t, stack+": where to", arn, "arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:EdgeLog")
		same(t, stack+": form", destination.Properties["OutputFormat"], "json")
		if to := tpl.text(delivery.Properties["DeliveryDestinationArn"]); to != "EdgeLogDestination.Arn" {
			t.Errorf("%s delivers to %s", stack, to)
		}
	}
}

// AWS keeps the logs of distributions in one region, and refuses to make their deliveries anywhere
// else.
func TestEdgesLogInTheOneRegionThatHasTheirLogs(t *testing.T) {
	tpl := read(t, "Plain-Content")
	here := object{"Fn::Equals": []any{object{"Ref": "AWS::Region"}, "us-east-1"}}
	for _, kind := range []string{"AWS::Logs::Delivery", "AWS::Logs::DeliverySource", "AWS::Logs::DeliveryDestination"} {
		same(t, kind, tpl.Conditions[tpl.only(t, kind).Condition], here)
	}
	same(t, "log group", tpl.Conditions[tpl.of("AWS::Logs::LogGroup")["EdgeLog"].Condition], here)
	for _, without := range []string{"Plain-Upload", "Named-Content", "Loose-Content"} {
		if n := len(read(t, without).of("AWS::Logs::Delivery")); n > 0 {
			t.Errorf("%s has %d deliveries", without, n)
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
		for _, want := range []string{"CoreTable", "EventsTable", "HotTable", "Bucket", "Key", "ContentRing", "LinksRing",
			"PepperRing", "SealRing", "AssertionRing"} {
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
