package main

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// checkingRules marks a process that runs for TestTheRulesHold.
const checkingRules = "INFRA_TEST_RULES"

// synthesised is the folder of the synthesis that all tests read.
var synthesised string

// made are the deployments in it.
var made map[string]*deployment

func TestMain(m *testing.M) {
	rules := os.Getenv(checkingRules) != ""
	if err := settle(rules); err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "vitrine-infra-")
	if err != nil {
		panic(err)
	}
	code := 1
	if os.Getenv(givenFolder) != "" {
		code = m.Run() // only the tests that read that folder make sense
	} else if made, err = synthesise(folder, rules); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else if synthesised = folder; rules {
		code = breaches(folder)
	} else {
		code = m.Run()
	}
	jsii.Close()
	os.RemoveAll(folder)
	os.Exit(code)
}

// settle restarts the process with the variables of the CDK's kernel, which are read before any
// code of this package runs.
func settle(rules bool) error {
	const quiet = "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"
	if os.Getenv(quiet) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	jsii.Close()                                                       // the folder of a kernel is there already
	validation := map[bool]string{true: "true", false: "false"}[rules] // it takes most of the time of a synthesis
	return syscall.Exec(self, os.Args, append(os.Environ(), "CDK_VALIDATION="+validation, quiet+"=20"))
}

// contexts are the deployments that the tests look at: Plain has the addresses that AWS assigns,
// and is deployed for the first time; Named has domains and every option; Bare has domains in
// another region and an external provider; Loose is deleted with its stacks and has no sign-in.
func contexts(folder string) map[string]map[string]any {
	named := map[string]any{
		"environment":             "production",
		"domain-origin":           "upload-origin.example.org",
		"certificate":             certificate,
		"hsts":                    "preload",
		"throttle-api":            "1000/2000",
		"throttle-app":            "none",
		"throttle-content":        "none",
		"zone":                    "Z1/example.org",
		"zone-content":            "Z2/example.net",
		"concurrency-content":     "50",
		"alarm-topic":             "arn:aws:sns:us-east-1:111122223333:alarms",
		"gateway-log-role":        "existing",
		"domain-identity":         "id.example.org",
		"identity-email-from":     "vitrine@example.org",
		"identity-email-identity": "example.org",
		"table-read-units":        "9000",
		"table-write-units":       "3000",
		"budget-usd":              "250",
		"cache":                   "33554432",
		"settings":                filepath.Join(folder, "settings.json"),
	}
	bare := map[string]any{
		"region":              "eu-west-1",
		"certificate":         euCertificate,
		"certificate-upload":  certificate,
		"identity":            "oidc",
		"oidc-issuer":         "https://id.example.com/tenant",
		"oidc-client-id":      "vitrine-at-id",
		"oidc-client-secret":  clientSecret,
		"oidc-logout":         "rp_initiated",
		"oidc-operator-claim": "roles",
		"oidc-operator-value": "vitrine-admin",
		"agent-providers":     providerList,

		"stripe-key":            stripeKey,
		"stripe-webhook-secret": stripeSecret,
		"stripe-price-month":    "price_month",
		"stripe-price-year":     "price_year",

		"cache":   "0",
		"bundles": "no",
	}
	for host, name := range domainNames {
		named["domain-"+host], bare["domain-"+host] = name, name
	}
	return map[string]map[string]any{
		"Plain": {}, "Named": named, "Bare": bare,
		"Loose": {
			"keep": "no", "arch": "x86_64", "edge-logs": "no", "settings": filepath.Join(folder, "settings.json"),
			"identity": "none", "narrow-writes": "no",
		},
	}
}

const (
	certificate   = "arn:aws:acm:us-east-1:111122223333:certificate/one"
	euCertificate = "arn:aws:acm:eu-west-1:111122223333:certificate/two"
	poolSecret    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:ClientSecret-AbC123"
	clientSecret  = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:their-client-AbC123"
	stripeKey     = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-key-AbC123"
	stripeSecret  = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-webhook-AbC123"
	providerList  = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:providers-AbC123"
)

var domainNames = map[string]string{
	"api": "api.example.org", "upload": "upload.example.org", "content": "files.example.net", "app": "app.example.org",
	"mcp": "mcp.example.org",
}

// synthesise makes all deployments in one app. The CDK reports failures by panics.
func synthesise(folder string, rules bool) (made map[string]*deployment, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	context, err := cdkContext()
	if err != nil {
		return nil, err
	}
	known := settings{
		"Loose-Api":  {"Url": "https://known.example"},
		"Loose-Data": {"ContentRing": "arn:of:content", "RingsVersion": "7c0ffee"},
		"Named-Data": {"Issuer": "https://pool.example", "ClientId": "client-of-pool", "ClientSecret": poolSecret},
	}
	if err := writeJSON(filepath.Join(folder, "settings.json"), known); err != nil {
		return nil, err
	}
	app := awscdk.NewApp(&awscdk.AppProps{Context: &context, Outdir: jsii.String(folder)})
	made = map[string]*deployment{}
	for name, given := range contexts(folder) {
		all := map[string]any{
			"name":     name,
			"dist":     filepath.Join(folder, "dist-"+name),
			"settings": filepath.Join(folder, "none.json"),
		}
		maps.Copy(all, given)
		o, err := readOptions(func(key string) any { return all[key] })
		if err == nil {
			err = writeZips(o)
		}
		if err == nil {
			made[name], err = build(app, o)
		}
		if err != nil {
			return nil, err
		}
	}
	if rules {
		checkRules(app)
	}
	app.Synth(nil)
	return made, nil
}

// cdkContext returns what the CDK command line would pass on.
func cdkContext() (map[string]any, error) {
	text, err := os.ReadFile("../cdk.json")
	if err != nil {
		return nil, err
	}
	var file struct{ Context map[string]any }
	err = json.Unmarshal(text, &file)
	if err != nil || file.Context == nil {
		return nil, errors.Join(errors.New("cdk.json has no context"), err)
	}
	file.Context["aws:cdk:enable-asset-metadata"], file.Context["aws:cdk:enable-path-metadata"] = true, true
	return file.Context, nil
}

// writeZips writes functions that only have an ELF header for the architecture.
func writeZips(o options) error {
	if err := os.MkdirAll(o.Dist, 0o755); err != nil {
		return err
	}
	for _, host := range functionNames {
		if err := writeZip(o.code(host), o.Arch, host); err != nil {
			return err
		}
	}
	return nil
}

func writeZip(file, arch, host string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	header := &zip.FileHeader{Name: "bootstrap", Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(0o755)
	z := zip.NewWriter(out)
	w, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	binary.LittleEndian.PutUint16(elf[16:], 2) // an executable
	binary.LittleEndian.PutUint16(elf[18:], uint16(architectures[arch].machine))
	binary.LittleEndian.PutUint32(elf[20:], 1)
	binary.LittleEndian.PutUint16(elf[52:], 64)
	_, err = w.Write(append(elf, host...))
	return errors.Join(err, z.Close())
}
