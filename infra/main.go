// Command infra describes a deployment of Vitrine on AWS. The stack Data keeps everything that must survive, and each
// host has a stack of its own, so that sam local can serve it. The CDK command line runs this program; options.go lists
// its context. With -check it only checks the context in its further arguments.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	var err error
	stderr := os.Stderr
	if len(os.Args) > 1 && os.Args[1] == "-check" {
		var warnings []string
		warnings, err = checkOnly(os.Args[2:])
		warn(warnings)
	} else {
		err = run()
		// Two goroutines of jsii wait for its Node process, and one of them often logs "waitid: no child processes".
		// That is no failure, so it goes to /dev/null.
		os.Stderr, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		jsii.Close()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		os.Exit(1)
	}
}

func warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
}

// run synthesises the app. The CDK panics when a template is wrong. run turns that into an error, because a panic that
// ends the process leaves temporary folders of jsii behind.
func run() (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	// These are set here, although the CDK command line sets them too, because sam local needs them also where that
	// does not run.
	app := awscdk.NewApp(&awscdk.AppProps{Context: &map[string]any{
		"aws:cdk:enable-asset-metadata": true, "aws:cdk:enable-path-metadata": true,
	}})
	context := lookup(func(name string) any { return app.Node().TryGetContext(jsii.String(name)) })
	o, err := readOptions(context.orEnvironment(os.Getenv))
	if err != nil {
		return err
	}
	warn(o.Warnings)
	made, err := build(app, o)
	if err != nil {
		return err
	}
	checkRules(app)
	folder := *app.Synth(nil).Directory()
	return made.describe(folder)
}

// deployment holds the stacks that one set of options makes.
type deployment struct {
	options
	data      *data
	pages     *function
	hosts     []*function
	scheduled []*function
}

// functions returns all functions of a deployment. Each comes after those that its stack refers to.
func (d *deployment) functions() []*function {
	return slices.Concat([]*function{d.pages}, d.hosts, d.scheduled)
}

// build adds the stacks of a deployment to an app.
func build(app awscdk.App, o options) (*deployment, error) {
	if err := errors.Join(o.findCode(), o.addPolicy()); err != nil {
		return nil, err
	}
	d := &deployment{options: o, data: newData(app, o)}
	d.pages = newFunction(app, o, d.data, pagesHost)
	for _, h := range hosts {
		f := newFunction(app, o, d.data, h)
		if f.name == "content" {
			f.pages = d.pages
		}
		front[h.name](f)
		f.reconcile()
		d.hosts = append(d.hosts, f)
	}
	for _, h := range scheduledHosts {
		f := newFunction(app, o, d.data, h)
		f.schedule()
		d.scheduled = append(d.scheduled, f)
	}
	return d, nil
}

// front maps each host to what puts a gateway in front of its function.
var front = map[string]func(*function){
	"api": httpFront, "upload": uploadFront, "content": streamingFront, "app": signingFront, "mcp": signingFront,
}
