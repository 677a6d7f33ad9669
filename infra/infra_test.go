package main

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/fresh"
)

// synthesising names the folder into which a process of this test binary synthesises.
const synthesising = "INFRA_TEST_SYNTHESIS"

// synthesised is the folder of the synthesis that all tests read.
var synthesised string

// made are the deployments in it, without their constructs.
var made map[string]*deployment

func TestMain(m *testing.M) {
	code := 1
	if err := prepare(os.Getenv(synthesising)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else if os.Getenv(synthesising) != "" {
		code = 0
	} else {
		code = m.Run()
	}
	jsii.Close() // its folder is there even if no construct was made
	os.Exit(code)
}

// prepare synthesises into a folder, or has that done for the tests.
func prepare(folder string) (err error) {
	switch {
	case folder != "":
		return synthesise(folder)
	case os.Getenv(givenFolder) != "":
		return nil // only the tests that read that folder make sense
	}
	if synthesised, err = synthesis(); err != nil {
		return err
	}
	made = map[string]*deployment{}
	for name, given := range contexts(synthesised) {
		o, err := optionsOf(synthesised, name, given)
		if err != nil {
			return err
		}
		made[name] = &deployment{options: o}
	}
	return nil
}

// synthesis returns the folder of the synthesis. A process of its own makes it, because the CDK reads its variables
// before any code of this package runs, and only if a source has changed, because the rules take long.
func synthesis() (string, error) {
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	list := exec.Command("go", "list", "-deps", "-f",
		`{{if .Module}}{{if eq .Module.Path "vitrine"}}{{slice .ImportPath 8}}{{end}}{{end}}`, ".")
	folders, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	sources := append(strings.Fields(string(folders)), "go.mod", "go.sum", "cdk.json", "infra/infra_test.go", "docs/policies")
	key, err := fresh.Key(root, sources)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".vitrine", "infra")
	f := fresh.File{Path: filepath.Join(folder, "manifest.json"), Key: key, Lock: folder + ".lock"}
	return folder, fresh.Make(context.Background(), f, func() error {
		if err := errors.Join(os.RemoveAll(folder), os.Mkdir(folder, 0o755)); err != nil {
			return err
		}
		again := exec.Command(os.Args[0])
		again.Env = append(os.Environ(), synthesising+"="+folder, "CDK_VALIDATION=true",
			"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
		if out, err := again.CombinedOutput(); err != nil {
			return fmt.Errorf("the synthesis failed: %w: %s", err, out)
		}
		return nil
	})
}

// contexts are the deployments that the tests look at: Plain has the addresses that AWS assigns,
// and is deployed for the first time; Named has domains and every option; Bare has domains in
// another region and an external provider; Loose is deleted with its stacks and has no sign-in.
// Adopted uses tables and a bucket that a restore made.
// Artifacts have origins of their own in Bare and in Wild, where CloudFront stands in front of them.
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
		"noncurrent-days":         "30",
		"copy-bucket":             copyBucket,
		"copy-key":                copyKey,
		"copy-account":            "444455556666",
		"exports":                 "daily",
		"rings-region":            "eu-central-1",
		"rings-key":               ringsKey,
		"cache":                   "33554432",
		"settings":                filepath.Join(folder, "settings.json"),
		"policy":                  "../docs/policies/company.json",
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

		"copy-bucket":  copyBucket,
		"copy-key":     copyKey,
		"rings-region": "eu-central-1",

		"cache":           "0",
		"bundles":         "no",
		"content-origins": "wildcard",
	}
	wild := map[string]any{
		"certificate":               certificate,
		"zone":                      "Z1/example.org",
		"zone-content":              "Z2/example.net",
		"identity":                  "none",
		"content-origins":           "wildcard",
		"certificate-wildcard":      wildCertificate,
		"wildcard-edge":             "yes",
		"certificate-wildcard-edge": wildCertificate + "-edge",
	}
	for host, name := range domainNames {
		named["domain-"+host], bare["domain-"+host], wild["domain-"+host] = name, name, name
	}
	return map[string]map[string]any{
		"Plain": {},
		"Named": named,
		"Bare":  bare,
		"Wild":  wild,
		"Loose": {
			"keep": "no", "arch": "x86_64", "edge-logs": "no", "settings": filepath.Join(folder, "settings.json"),
			"identity": "none", "narrow-writes": "no",
		},
		"Adopted": {
			"table-core":   "Adopted-restore-1-core",
			"table-events": "Adopted-restore-1-events",
			"table-hot":    "Adopted-restore-1-hot",
			"bucket":       "adopted-objects",
			"identity":     "none",
			"copy-bucket":  copyBucket,
			"copy-key":     copyKey,
			"exports":      "daily",
		},
	}
}

const (
	certificate   = "arn:aws:acm:us-east-1:111122223333:certificate/one"
	euCertificate = "arn:aws:acm:eu-west-1:111122223333:certificate/two"

	wildCertificate = "arn:aws:acm:us-east-1:111122223333:certificate/wild"

	poolSecret   = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:ClientSecret-AbC123"
	clientSecret = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:their-client-AbC123"
	stripeKey    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-key-AbC123"
	stripeSecret = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-webhook-AbC123"
	copyBucket   = "arn:aws:s3:::vitrine-copy"
	copyKey      = "arn:aws:kms:eu-central-1:444455556666:key/mrk-0123456789abcdef0123456789abcdef"
	ringsKey     = "arn:aws:kms:eu-central-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
	providerList = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:providers-AbC123"
)

var domainNames = map[string]string{
	"api": "api.example.org", "upload": "upload.example.org", "content": "files.example.net", "app": "app.example.org",
	"mcp": "mcp.example.org",
}

// optionsOf are the options of a deployment of the tests.
func optionsOf(folder, name string, given map[string]any) (options, error) {
	all := map[string]any{
		"name":     name,
		"dist":     filepath.Join(folder, "dist-"+name),
		"settings": filepath.Join(folder, "none.json"),
	}
	maps.Copy(all, given)
	return readOptions(func(key string) any { return all[key] })
}

// synthesise makes all deployments in one app, checks them against the rules, and describes each in a folder below. The
// CDK reports failures by panics.
func synthesise(folder string) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	context, err := cdkContext()
	if err != nil {
		return err
	}
	known := settings{
		"Loose-Api":  {"Url": "https://known.example"},
		"Loose-Data": {"ContentRing": "arn:of:content", "RingsVersion": "7c0ffee"},
		"Named-Data": {"Issuer": "https://pool.example", "ClientId": "client-of-pool", "ClientSecret": poolSecret},
	}
	if err := writeJSON(filepath.Join(folder, "settings.json"), known); err != nil {
		return err
	}
	app := awscdk.NewApp(&awscdk.AppProps{Context: &context, Outdir: jsii.String(folder)})
	var built []*deployment
	for name, given := range contexts(folder) {
		o, err := optionsOf(folder, name, given)
		if err == nil {
			err = writeZips(o)
		}
		if err != nil {
			return err
		}
		d, err := build(app, o)
		if err != nil {
			return err
		}
		built = append(built, d)
	}
	checkRules(app)
	app.Synth(nil)
	for _, d := range built {
		described := filepath.Join(folder, d.Name)
		if err := errors.Join(os.Mkdir(described, 0o755), d.describe(described)); err != nil {
			return err
		}
	}
	return nil
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
		if err := writeZip(o.built(host), o.Arch, host); err != nil {
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
