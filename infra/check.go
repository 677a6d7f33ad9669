package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// checkOnly checks the options of a synthesis, given as -c NAME=VALUE or in cdk.json, without starting the CDK.
// scripts/deploy calls it first, so that a mistake is found before anything is built. It returns warnings about what it
// cannot check.
func checkOnly(args []string) (warnings []string, err error) {
	c, err := givenContext("cdk.json", args)
	if err != nil {
		return nil, err
	}
	o, err := readOptions(c.orEnvironment(os.Getenv))
	if err != nil {
		return nil, err
	}
	return o.checkCovered(context.Background(), os.Getenv("CDK_DEFAULT_ACCOUNT"))
}

// givenContext reads the context as the CDK command line does: -c takes precedence over the file.
func givenContext(file string, args []string) (lookup, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var given struct{ Context map[string]any }
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	if given.Context == nil {
		given.Context = map[string]any{}
	}
	for i := 0; i < len(args); i += 2 {
		if args[i] != "-c" || i+1 == len(args) {
			return nil, fmt.Errorf("%s is no option: give -c NAME=VALUE", args[i])
		}
		name, value, both := strings.Cut(args[i+1], "=")
		if !both {
			return nil, fmt.Errorf("-c is followed by NAME=VALUE, not %q", args[i+1])
		}
		given.Context[name] = value
	}
	return func(name string) any { return given.Context[name] }, nil
}
