package main

import (
	"archive/zip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"vitrine/shared/platform/policy"
)

// ownerPolicy is the policy of a deployment, with what the stacks take from it.
type ownerPolicy struct{ policy.Policy }

// readPolicy reads the file that the context names.
func readPolicy(c lookup, o options) (ownerPolicy, error) {
	file := c.text("policy", "")
	if file == "" {
		return ownerPolicy{policy.Default(o.Billing.on())}, nil
	}
	d := policy.Deployment{Billing: o.Billing.on()}
	for _, host := range append(slices.Clone(hostNames), "origin") {
		if name := o.Domains[host].Name; name != "" {
			d.Hosts = append(d.Hosts, name)
		}
	}
	if o.Identity.Domain.Name != "" {
		d.Hosts = append(d.Hosts, o.Identity.Domain.Name)
	}
	p, err := policy.Load(file, d)
	if err != nil {
		return ownerPolicy{}, fmt.Errorf("the context policy: %w", err)
	}
	if p.SignIn.Operators && !o.Identity.namesOperators() {
		err = fmt.Errorf(
			`%s: sign_in: "operators": the identity provider names no operators; give oidc-operator-claim and `+
				"oidc-operator-value, or use identity=cognito", file)
	}
	return ownerPolicy{p}, err
}

// namesOperators reports whether the provider of people can say who operates the deployment.
func (i identity) namesOperators() bool {
	return i.By == cognitoIdentity || i.By == oidcIdentity && i.OperatorClaim != ""
}

// file is the name of the policy in the zip of each function; empty without one. It changes with the policy, so that a
// template shows which policy holds and a deployment restarts every function.
func (p ownerPolicy) file() string {
	if p.File == nil {
		return ""
	}
	sum := sha256.Sum256(p.File)
	return fmt.Sprintf("policy-%x.json", sum[:6])
}

// addPolicy adds the policy to the zips of all functions.
func (o options) addPolicy() error {
	if o.Policy.File == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(o.code(functionNames[0])), 0o755); err != nil {
		return err
	}
	for _, name := range functionNames {
		if err := o.addPolicyTo(name); err != nil {
			return fmt.Errorf("the policy cannot be added to the function %s: %w", name, err)
		}
	}
	return nil
}

// addPolicyTo copies what was built for a function and adds the policy. The same files give the same bytes.
func (o options) addPolicyTo(name string) (err error) {
	built, err := zip.OpenReader(o.built(name))
	if err != nil {
		return err
	}
	defer built.Close()
	out, err := os.Create(o.code(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	for _, f := range built.File {
		if err := z.Copy(f); err != nil {
			return err
		}
	}
	header := &zip.FileHeader{
		Name:     o.Policy.file(),
		Method:   zip.Deflate,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	header.SetMode(0o644)
	w, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	if _, err := w.Write(o.Policy.File); err != nil {
		return err
	}
	return z.Close()
}

// signUp reports whether people make their accounts in the pool themselves. Their address is judged when they arrive.
func (p ownerPolicy) signUp() bool { return p.SignIn.Anybody() || len(p.SignIn.Domains) > 0 }

// plainName is the form of names that need no quotes in the header of an e-mail.
var plainName = regexp.MustCompile(`^[A-Za-z0-9]+( [A-Za-z0-9]+)*$`)

// sender returns the sender of the pool's e-mail with the name of the deployment.
func (p ownerPolicy) sender(address string) string {
	if plainName.MatchString(p.Brand.Name) {
		return p.Brand.Name + " <" + address + ">"
	}
	return (&mail.Address{Name: p.Brand.Name, Address: address}).String()
}
