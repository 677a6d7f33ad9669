package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"vitrine/shared/platform/address"
)

// addresses are the origins of all hosts, which every host is told.
//
// With domains they are known beforehand. Without, AWS makes them up in the first deployment, and no template can name
// the address of a host whose own template names this one's. So the outputs of the stacks are the source: scripts/deploy
// reads them into the settings file before each deployment, and deploys once more when the addresses turn out to be
// others than the functions were told. Until then these stand in.
type addresses = address.Origins

// unknown stands for an address that nobody knows yet; the reserved domain answers to nobody.
func unknown(host string) string { return "https://" + host + ".invalid" }

func findAddresses(o options, known settings) addresses {
	if o.named() {
		at := func(host string) string { return "https://" + o.Domains[host].Name }
		return addresses{
			API:     at("api"),
			Upload:  at("upload"),
			Content: at("content"),
			App:     at("app"),
			MCP:     at("api"),
		}
	}
	at := func(host string) string {
		if url := known[o.stackName(host)]["Url"]; url != "" {
			return url
		}
		return unknown(host)
	}
	return addresses{
		API:     at("api"),
		Upload:  at("upload"),
		Content: at("content"),
		App:     at("app"),
		MCP:     at("api"),
	}
}

// settings are the outputs of the stacks by stack and name: addresses, tables, the bucket, rings, functions. RingsVersion of
// the stack Data is scripts/deploy's own: it stands for the versions that the rings have.
type settings map[string]map[string]string

// readSettings reads a settings file; without one nothing is known.
func readSettings(file string) (settings, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var s settings
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("the settings file %s cannot be read: %w", file, err)
	}
	return s, nil
}
