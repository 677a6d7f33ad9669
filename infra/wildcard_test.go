package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The deployments in which each artifact has an origin of its own: with and without CloudFront in front of them.
const fronted, direct = "Wild-Content", "Bare-Content"

func TestOriginsOfArtifactsHaveADomainOfTheirOwn(t *testing.T) {
	for stack, certificate := range map[string]string{fronted: wildCertificate, direct: euCertificate} {
		tpl := read(t, stack)
		d := tpl.of("AWS::ApiGateway::DomainName")["LabelsDomain"]
		if d == nil {
			t.Fatalf("%s has no domain for them", stack)
		}
		same(t, stack+": name", d.Properties["DomainName"], "*.files.example.net")
		same(t, stack+": certificate", d.Properties["RegionalCertificateArn"], certificate)
		same(t, stack+": TLS", d.Properties["SecurityPolicy"], "TLS_1_2")
		for id, m := range tpl.of("AWS::ApiGateway::BasePathMapping") {
			domain, api := tpl.text(m.Properties["DomainName"]), tpl.text(m.Properties["RestApiId"])
			if domain+" "+api != "Domain Api" && domain+" "+api != "LabelsDomain Labels" {
				t.Errorf("%s: %s maps %s to %s", stack, id, domain, api)
			}
			same(t, stack+": path of "+id, m.Properties["BasePath"], nil)
		}
		same(t, stack+": mappings", len(tpl.of("AWS::ApiGateway::BasePathMapping")), 2)
	}
	for name, d := range made {
		apis := slices.Sorted(maps.Keys(read(t, d.stackName("content")).of("AWS::ApiGateway::RestApi")))
		same(t, name, apis, map[bool][]string{false: {"Api"}, true: {"Api", "Labels"}}[d.ownOrigins()])
	}
}

// No path of an artifact meets a route of the shared host.
func TestPathsOfArtifactsAreContents(t *testing.T) {
	for _, stack := range []string{fronted, direct} {
		leads := map[string]string{}
		for _, w := range read(t, stack).ways(t) {
			if w.api == "Labels" {
				leads[w.path] = w.function
			}
		}
		same(t, stack, leads, map[string]string{
			"/":                    "ContentFunction.Arn",
			"/{proxy+}":            "ContentFunction.Arn",
			"/.vitrine":            "ContentFunction.Arn",
			"/.vitrine/{proxy+}":   "ContentFunction.Arn",
			"/.vitrine/r":          "RenderFunction.Arn",
			"/.vitrine/r/{proxy+}": "RenderFunction.Arn",
		})
	}
}

func TestTheEdgeOfArtifactsKeepsTheirHost(t *testing.T) {
	tpl := read(t, fronted)
	config := at(t, tpl.only(t, "AWS::CloudFront::Distribution").Properties, "DistributionConfig")
	same(t, "aliases", at(t, config, "Aliases"), []string{"*.files.example.net"})
	same(t, "certificate", at(t, config, "ViewerCertificate", "AcmCertificateArn"), wildCertificate+"-edge")
	same(t, "behaviors of paths", config.(object)["CacheBehaviors"], nil)
	behavior := at(t, config, "DefaultCacheBehavior").(object)
	forwards(t, "artifacts", behavior)
	// Managed-AllViewer
	same(t, "origin request policy", behavior["OriginRequestPolicyId"], "216adef6-5c7f-47e4-b989-5492eafa07d3")
	origin := at(t, config, "Origins", 0).(object)
	same(t, "origin", tpl.text(origin["DomainName"]), "LabelsDomain.RegionalDomainName")
	same(t, "path of the origin", origin["OriginPath"], nil)
	same(t, "to the origin", at(t, origin, "CustomOriginConfig", "OriginProtocolPolicy"), "https-only")
	same(t, "patience", at(t, origin, "CustomOriginConfig", "OriginReadTimeout"), 60)
	if n := len(read(t, direct).of("AWS::CloudFront::Distribution")); n > 0 {
		t.Errorf("without wildcard-edge there are %d distributions", n)
	}
}

func TestTheWildcardHasARecord(t *testing.T) {
	tpl, found := read(t, fronted), map[string]string{}
	for _, r := range tpl.of("AWS::Route53::RecordSet") {
		same(t, "zone", r.Properties["HostedZoneId"], "Z2")
		found[r.Properties["Name"].(string)] = tpl.text(at(t, r.Properties, "AliasTarget", "DNSName"))
	}
	same(t, "records", found, map[string]string{
		"files.example.net.": "Domain.RegionalDomainName", "*.files.example.net.": "Edge.DomainName",
	})
	for stack, want := range map[string]string{fronted: "Edge.DomainName", direct: "LabelsDomain.RegionalDomainName"} {
		target := read(t, stack).Outputs["LabelsRecordTarget"].Value
		same(t, stack+": what the record points at", read(t, stack).text(target), want)
	}
	// CloudFormation makes the records of another ID before it deletes these, which a zone refuses.
	if tpl.of("AWS::Route53::RecordSet")["LabelsRecordA"] == nil {
		t.Error("CloudFront cannot be added later, nor taken away")
	}
}

func TestScriptsAreToldTheDomainOfTheOrigins(t *testing.T) {
	for name, want := range map[string]string{"Wild": "files.example.net", "Named": ""} {
		var got description
		readJSON(t, &got, name, "deployment.json")
		same(t, name, got.Origins, want)
	}
}

// The account's right to write logs is there before a stage needs it.
func TestTheStageOfArtifactsFollowsThatOfTheSharedHost(t *testing.T) {
	tpl := read(t, fronted)
	stages := tpl.of("AWS::ApiGateway::Stage")
	if after := tpl.after(stages["Labels/DeploymentStage.live"]); !slices.Contains(after, "Api/DeploymentStage.live") {
		t.Errorf("it follows %v", after)
	}
	if after := tpl.after(stages["Api/DeploymentStage.live"]); !slices.Contains(after, "Api/Account") {
		t.Errorf("that of the shared host follows %v", after)
	}
}

// CloudFormation takes a template of at most 1 MB with 500 resources, and Lambda a policy of at most 20 KB on a
// function.
func TestStacksLeaveRoomBelowTheBoundsOfAWS(t *testing.T) {
	for name, d := range made {
		for _, host := range append(slices.Clone(functionNames), "data") {
			tpl := read(t, d.stackName(host))
			info, err := os.Stat(filepath.Join(synthesised, tpl.name+".template.json"))
			if err != nil || info.Size() > 500_000 || len(tpl.Resources) > 250 {
				t.Errorf("%s has %d bytes and %d resources, %v", tpl.name, info.Size(), len(tpl.Resources), err)
			}
		}
		admitted := map[string]int{}
		for _, p := range read(t, d.stackName("content")).of("AWS::Lambda::Permission") {
			admitted[read(t, d.stackName("content")).text(p.Properties["FunctionName"])]++
		}
		for function, n := range admitted {
			if n > 20 { // of some 400 bytes each
				t.Errorf("%s: %d statements admit to %s", name, n, function)
			}
		}
	}
}

var badWildcards = []mistake{
	{"a strange word", domains(map[string]any{"content-origins": "own"}), "content-origins is shared or wildcard"},
	{"no domains", map[string]any{"content-origins": "wildcard"}, "needs a domain for every host"},
	{"no zone", ownOrigins(map[string]any{"zone-app": "Z1/example.org"}), "lacks zone-content"},
	{"a strange edge", ownOrigins(map[string]any{"wildcard-edge": "maybe"}), "wildcard-edge is yes or no"},
	{"a strange suffix", ownOrigins(map[string]any{"content-public-suffix": "listed"}),
		"content-public-suffix is yes or no"},
	{"no ARN", ownOrigins(map[string]any{"certificate-wildcard": "*.files.example.net"}),
		"certificate-wildcard is the ARN"},
	{"another region", ownOrigins(map[string]any{"region": "us-east-1", "certificate-wildcard": euCertificate}),
		"certificate-wildcard has to be in us-east-1"},
	{"an edge elsewhere", ownOrigins(map[string]any{
		"region": "eu-west-1", "certificate": euCertificate, "certificate-upload": certificate, "wildcard-edge": "yes",
	}), "certificate-wildcard-edge has to be in us-east-1"},
	{"content beside api", ownOrigins(map[string]any{"domain-content": "files.example.org", "domain-app": "app.test"}),
		"one site to browsers with domain-api"},
	{"content beside the sign-in pages", ownOrigins(map[string]any{"domain-identity": "id.example.net"}),
		"domain-identity"},
}

// ownOrigins returns the context of a preview whose artifacts have origins of their own, changed for a test.
func ownOrigins(change map[string]any) map[string]any {
	all := domains(map[string]any{"content-origins": "wildcard"})
	maps.Copy(all, change)
	return all
}

func TestDeployersAreToldWhatKeepsCookiesApart(t *testing.T) {
	for name, tt := range map[string]struct {
		change map[string]any
		warned bool
	}{
		"a name that nobody listed":     {nil, true},
		"a name that is listed":         {map[string]any{"domain-content": "github.io"}, false},
		"a name below a listed one":     {map[string]any{"domain-content": "files.github.io"}, true},
		"a name that is listed of late": {map[string]any{"content-public-suffix": "yes"}, false},
		"one origin for all":            {map[string]any{"content-origins": "shared"}, false},
	} {
		o, err := optionsFrom(ownOrigins(tt.change))
		warned := len(o.Warnings) == 1 && strings.Contains(o.Warnings[0], "Public Suffix List")
		if err != nil || warned != tt.warned || len(o.Warnings) > 1 {
			t.Errorf("%s: %q, %v", name, o.Warnings, err)
		}
	}
}

func TestRecordsOfContentAreMadeByHandWhereThatIsSaid(t *testing.T) {
	o, err := optionsFrom(ownOrigins(map[string]any{"zone-app": "Z1/example.org", "zone-content": "none"}))
	if err != nil || o.Domains[wildcard].ZoneID != "" || o.Domains["app"].ZoneID != "Z1" {
		t.Errorf("%+v, %v", o.Domains, err)
	}
}
