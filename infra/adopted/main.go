// Command adopted compares tables and a bucket that a deployment is to adopt with those that it makes itself, because
// CloudFormation changes only what it made. It prints the commands that set what is missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func main() {
	folder := flag.String("synthesis", "cdk.out", "`FOLDER` that scripts/synth wrote")
	flag.Parse()
	if err := run(context.Background(), *folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run takes account, region and endpoints from the environment, as the AWS command line does.
func run(ctx context.Context, folder string) error {
	s, err := read(folder)
	if err != nil {
		return err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	found, err := compare(ctx, s, dynamodb.NewFromConfig(cfg), s3.NewFromConfig(cfg))
	if err != nil {
		return err
	}
	for _, problem := range found {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(found) > 0 {
		return errors.New("what is to be adopted lacks what a deployment has: run the commands above, then deploy again")
	}
	return nil
}

// compare returns what each adopted table, and the adopted bucket, lacks.
func compare(ctx context.Context, s synthesis, from tables, objects *s3.Client) (found []string, err error) {
	for _, construct := range []string{"Core", "Events", "Hot"} {
		name := s.Adopted[construct]
		if name == "" {
			continue
		}
		own, err := s.own(construct)
		if err != nil {
			return nil, err
		}
		t, err := describe(ctx, from, name)
		if err != nil {
			return nil, err
		}
		found = append(found, problems("table "+name, t.aspects(name, own))...)
	}
	bucket := s.Adopted["Objects"]
	if bucket == "" {
		return found, nil
	}
	own, err := s.own("Objects")
	if err != nil {
		return nil, err
	}
	all, err := bucketAspects(ctx, objects, bucket, own)
	return append(found, problems("bucket "+bucket, all)...), err
}
