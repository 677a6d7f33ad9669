package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
)

// checkCovered asks ACM whether the certificates of the artifacts' origins are issued for them. It returns a warning
// for each that it cannot read. account is the one that is deployed to.
func (o options) checkCovered(ctx context.Context, account string) (warnings []string, err error) {
	for _, host := range wildcards {
		d, on := o.Domains[host]
		if !on {
			continue
		}
		warning, err := d.checkCovered(ctx, "certificate-"+host, account)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings, nil
}

// checkCovered asks ACM for the certificate that an option names.
func (d domain) checkCovered(ctx context.Context, option, account string) (warning string, err error) {
	if owner := strings.Split(d.Certificate, ":")[4]; owner != account {
		return fmt.Sprintf("%s belongs to the account %s, so that nobody can see here whether it covers %s", option, owner,
			d.Name), nil
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(d.region()))
	if err != nil {
		return "", err
	}
	found, err := acm.NewFromConfig(cfg).DescribeCertificate(ctx,
		&acm.DescribeCertificateInput{CertificateArn: &d.Certificate})
	if absent := new(types.ResourceNotFoundException); errors.As(err, &absent) {
		return "", fmt.Errorf("%s (%s) does not exist: request a certificate for %s", option, d.Certificate, d.Name)
	}
	if err != nil {
		return fmt.Sprintf("%s cannot be read, which takes the right acm:DescribeCertificate, so that nobody can see "+
			"whether it covers %s: %v", option, d.Name, err), nil
	}
	c := found.Certificate
	switch names := c.SubjectAlternativeNames; {
	case !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, d.Name) }):
		return "", fmt.Errorf("%s covers %s, but not %s: request one that does", option,
			strings.Join(names, ", "), d.Name)
	case c.Status != types.CertificateStatusIssued:
		return "", fmt.Errorf("%s is %s, but has to be ISSUED before it can serve %s", option, c.Status, d.Name)
	}
	return "", nil
}
