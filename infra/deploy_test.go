package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The stand-ins for AWS and the CDK that scripts/deploy meets record their calls; the CDK "deploys" by giving every
// stack an output, as CloudFormation would.

const awsStandIn = `#!/usr/bin/env bash
echo "aws $*" >>"$CALLS"
case "$1 $2" in
  "sts get-caller-identity") [ "$CREDENTIALS" = yes ] && echo 111122223333 ;;
  "configure get") echo "$CONFIGURED_REGION" ;;
  "ssm get-parameter") [ "$BOOTSTRAPPED" = yes ] ;;
  "apigateway get-account") echo "$LOG_WRITER" ;;
  "sns get-topic-attributes") echo "{\"Statement\":[{\"Principal\":{\"Service\":\"$PUBLISHER\"}}]}" ;;
  "cloudformation describe-stacks")
    if [ -n "$OUTAGE" ]; then echo "An error occurred (Throttling): Rate exceeded" >&2; exit 254; fi
    if [ ! -e "deployed/$4" ]; then echo "Stack with id $4 does not exist" >&2; exit 254; fi
    pool=
    [ "$POOL" != yes ] || pool=',{"OutputKey":"UserPool","OutputValue":"pool"},{"OutputKey":"ClientId","OutputValue":"client"},{"OutputKey":"ClientSecret","OutputValue":"secret"}'
    echo "[{\"OutputKey\":\"Url\",\"OutputValue\":\"https://$4.example\"},{\"OutputKey\":\"CoreTable\",\"OutputValue\":\"core\"},{\"OutputKey\":\"Bucket\",\"OutputValue\":\"objects\"},{\"OutputKey\":\"SealRing\",\"OutputValue\":\"seal\"}$pool]" ;;
  "cognito-idp describe-user-pool-client") echo made-by-cognito ;;
  "secretsmanager describe-secret") # two versions, as after a rotation
    n=$(ls "secret-$4" 2>/dev/null | wc -l)
    printf '{\n  "old-%s": [\n "AWSPREVIOUS"\n ],\n "version-%s-of-%s": ["AWSCURRENT", "OURS"]\n}\n' "$4" "$n$ROTATED" "$4" ;;
  "secretsmanager get-secret-value") cat "secret-$4" 2>/dev/null || echo placeholder ;;
  "secretsmanager put-secret-value") [ "$6" = file:///dev/stdin ] && cat >"secret-$4" ;;
esac
`

const cdkStandIn = `#!/usr/bin/env bash
echo "cdk $*" >>"$CALLS"
[ "$FAILS" != yes ] || exit 1
mkdir -p deployed && case $2 in
  --all) cp settings.json told.json && touch deployed/V-{Data,Api,Upload,Content,App,Mcp} ;;
  *) touch "deployed/$2" ;;
esac
exec scripts/synth
`

// The stand-in of scripts/synth prints what the settings file has.
const synthStandIn = `#!/usr/bin/env bash
echo "synth $*" >>"$CALLS"
mkdir -p cdk.out
node -e '
  const fs = require("fs"), file = "settings.json", known = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file)) : {};
  const hosts = {api: "V-Api", upload: "V-Upload", content: "V-Content", app: "V-App", mcp: "V-Mcp"}, told = {};
  for (const h in hosts) told[h] = (known[hosts[h]] || {}).Url || "https://" + h + ".invalid";
  fs.writeFileSync("cdk.out/deployment.json", JSON.stringify({
    name: "V", settings: file, final: process.env.FINAL === "yes", origins: process.env.ORIGINS, adopted: process.env.ADOPTED ? { Core: process.env.ADOPTED } : {}, hosts, told, stacks: ["V-Data", ...Object.values(hosts)] }));
'
`

const buildStandIn = "#!/usr/bin/env bash\necho \"build $*\" >>\"$CALLS\"\n"

const releaseStandIn = "#!/usr/bin/env bash\necho \"release $*\" >>\"$CALLS\"\n[ \"$RELEASED\" != no ]\n"

// The stand-in of the program that checks options is made where the real one is built.
const goStandIn = `#!/usr/bin/env bash
echo "go $*" >>"$CALLS"
[ "$1 $2" != "run ./infra/adopted" ] || [ -z "$LACKS" ] || exit 1
[ "$1 $2" = "build -o" ] || exit 0
mkdir -p "$(dirname "$3")" && cat >"$3" <<'END'
#!/usr/bin/env bash
echo "check in $AWS_REGION of $CDK_DEFAULT_ACCOUNT: $*" >>"$CALLS"
[ -z "$REFUSES" ] || { echo "$REFUSES" >&2; exit 1; }
END
chmod +x "$3"
`

// account is a sandbox in which scripts/deploy runs.
type account struct{ *sandbox }

func newAccount(t *testing.T) account {
	t.Helper()
	return account{newSandbox(t, "deploy", map[string]string{
		"bin/aws":               awsStandIn,
		"bin/go":                goStandIn,
		"node_modules/.bin/cdk": cdkStandIn,
		"scripts/synth":         synthStandIn,
		"scripts/build":         buildStandIn,
		"scripts/release":       releaseStandIn,
	}, "CREDENTIALS=yes", "BOOTSTRAPPED=yes", "CONFIGURED_REGION=eu-west-1", "LOG_WRITER=None", "OUTAGE=", "FAILS=",
		"POOL=", "RELEASED=", "ROTATED=", "REFUSES=", "ORIGINS=", "ADOPTED=", "LACKS=")}
}

// deploy runs the script with changes to its environment and returns its calls.
func (a account) deploy(t *testing.T, env []string, args ...string) (stdout, stderr, calls string, ok bool) {
	t.Helper()
	return a.run(t, env, "", args...)
}

func TestDeployRefusesInOneSentenceBeforeItDoesAnything(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"a word that is no option", nil, []string{"--force"}, "--force is no option"},
		{"an option without its value", nil, []string{"-c"}, "-c needs NAME=VALUE"},
		{"nobody to ask", nil, nil, "pass --yes"},
		{"no credentials", []string{"CREDENTIALS=no"}, []string{"--yes"}, "AWS does not accept your credentials"},
		{"no region", []string{"CONFIGURED_REGION="}, []string{"--yes"}, "No region is chosen"},
		{"an option that cannot be", []string{"REFUSES=it is elsewhere"}, []string{"--yes"}, "it is elsewhere"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, stderr, calls, ok := newAccount(t).deploy(t, tt.env, tt.args...)
			if ok || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("got %v with %q, want one sentence with %q", ok, stderr, tt.want)
			}
			if strings.Contains(calls, "\nbuild ") || strings.Contains(calls, "cdk deploy") {
				t.Errorf("it did\n%s", calls)
			}
		})
	}
}

func TestDeployChecksTheOptionsForTheRegionThatItDeploysTo(t *testing.T) {
	t.Parallel()
	for want, given := range map[string][]string{
		"eu-west-1 of 111122223333: -check -c keep=no":                     {"--yes", "-c", "keep=no"},
		"us-west-2 of 111122223333: -check -c keep=no -c region=us-west-2": {"--yes", "-c", "keep=no", "-c", "region=us-west-2"},
	} {
		_, stderr, calls, ok := newAccount(t).deploy(t, []string{"FINAL=yes"}, given...)
		check, build := strings.Index(calls, "check in "+want+"\n"), strings.Index(calls, "build -arch")
		if !ok || check < 0 || check > build {
			t.Errorf("want %q before anything is built: %s\n%s", want, stderr, calls)
		}
	}
}

// The command that bootstraps comes with what scripts/synth installs.
func TestWithoutABootstrapStackTheWayToOneIsNamedWhenItCanBeGone(t *testing.T) {
	t.Parallel()
	_, stderr, calls, ok := newAccount(t).deploy(t, []string{"BOOTSTRAPPED=no"}, "--yes")
	if ok || !strings.Contains(stderr,
		"run node_modules/.bin/cdk bootstrap --app cdk.out aws://111122223333/eu-west-1 once") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("got %v with %q", ok, stderr)
	}
	synth, check := strings.Index(calls, "synth"), strings.Index(calls, "aws ssm get-parameter")
	if synth < 0 || check < synth || strings.Contains(calls, "cdk deploy") {
		t.Errorf("it did\n%s", calls)
	}
}

func TestAFirstDeploymentWithoutDomainsIsFollowedByASecond(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	stdout, stderr, calls, ok := a.deploy(t, nil, "--yes", "-c", "arch=x86_64")
	if !ok {
		t.Fatal(stderr)
	}
	const rest = " --no-notices --require-approval never -c arch=x86_64"
	if n, first := strings.Count(calls, "cdk deploy --all"+rest), strings.Index(calls, "cdk deploy V-Data"+rest); n != 2 ||
		first < 0 || first > strings.Index(calls, "--all") {
		t.Errorf("%d deployments after Data, want 2:\n%s", n, calls)
	}
	for _, want := range []string{"build -arch amd64", "go run ./infra/quota -table core"} {
		if !strings.Contains(calls, want) {
			t.Errorf("it did not %s:\n%s", want, calls)
		}
	}
	for _, want := range []string{"content  https://V-Content.example", "scripts/smoke https://V-Api.example"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q does not say %q", stdout, want)
		}
	}
	if err := os.Remove(filepath.Join(a.folder, "settings.json")); err != nil { // another machine deploys next
		t.Fatal(err)
	}
	_, _, again, _ := a.deploy(t, nil, "--yes")
	if n := strings.Count(strings.TrimPrefix(again, calls), "cdk deploy --all"); n != 1 {
		t.Errorf("%d deployments the next time, want 1", n)
	}
}

func TestTheCLIIsThereBeforeTheFunctionsThatOfferIt(t *testing.T) {
	t.Parallel()
	_, stderr, calls, ok := newAccount(t).deploy(t, nil, "--yes")
	put := strings.Index(calls, "release -bucket objects\n")
	if !ok || put < strings.Index(calls, "cdk deploy V-Data") || put > strings.Index(calls, "cdk deploy --all") ||
		strings.Count(calls, "\nrelease ") != 1 {
		t.Errorf("%s after\n%s", stderr, calls)
	}
	_, stderr, calls, ok = newAccount(t).deploy(t, []string{"RELEASED=no"}, "--yes")
	if ok || strings.Contains(calls, "cdk deploy --all") || !strings.Contains(stderr, "into the bucket objects") {
		t.Errorf("%v with %q after\n%s", ok, stderr, calls)
	}
}

func TestWithDomainsOneDeploymentIsEnough(t *testing.T) {
	t.Parallel()
	_, stderr, calls, ok := newAccount(t).deploy(t, []string{"FINAL=yes"}, "--yes")
	if n := strings.Count(calls, "cdk deploy --all"); !ok || n != 1 {
		t.Errorf("%d deployments, want 1: %s", n, stderr)
	}
}

func TestDeployNamesTheOriginsOfArtifactsToTheSmokeTest(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]string{
		"":                  "scripts/smoke https://V-Api.example\n",
		"files.example.net": "scripts/smoke https://V-Api.example files.example.net\n",
	} {
		stdout, stderr, _, ok := newAccount(t).deploy(t, []string{"FINAL=yes", "ORIGINS=" + domain}, "--yes")
		if !ok || !strings.HasSuffix(stdout, want) {
			t.Errorf("%q does not end with %q: %s", stdout, want, stderr)
		}
		if named := strings.Contains(stdout, "origins  https://*."+domain+"\n"); named != (domain != "") {
			t.Errorf("%q", stdout)
		}
	}
}

func TestTheSecretOfTheClientIsCopiedOnce(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	_, stderr, calls, ok := a.deploy(t, []string{"FINAL=yes", "POOL=yes"}, "--yes")
	if n := strings.Count(calls, "cdk deploy --all"); !ok || n != 1 {
		t.Errorf("%d deployments, want 1: %s", n, stderr)
	}
	if put, all := strings.Index(calls, "put-secret-value"), strings.Index(calls, "cdk deploy --all"); put < 0 ||
		put > all {
		t.Errorf("functions start before the secret is there:\n%s", calls)
	}
	known, err := readSettings(filepath.Join(a.folder, "settings.json"))
	told, err2 := readSettings(filepath.Join(a.folder, "told.json"))
	if version := known["V-Data"]["RingsVersion"]; err != nil || err2 != nil || version == "" ||
		told["V-Data"]["RingsVersion"] != version {
		t.Errorf("functions are told version %q, and it is %q; %v, %v", told["V-Data"]["RingsVersion"], version, err, err2)
	}
	if told["V-Data"]["ClientId"] != "client" {
		t.Error("functions are not told of a client that has just been made")
	}
	copied, err := os.ReadFile(filepath.Join(a.folder, "secret-secret"))
	if err != nil || string(copied) != "made-by-cognito" {
		t.Errorf("functions read %q, %v", copied, err)
	}
	if strings.Contains(calls+stderr, "made-by-cognito") {
		t.Error("the secret is an argument of a command, or printed")
	}
	_, _, again, ok := a.deploy(t, []string{"FINAL=yes", "POOL=yes"}, "--yes")
	again = strings.TrimPrefix(again, calls)
	if n := strings.Count(again, "cdk deploy --all"); !ok || n != 1 || strings.Contains(again, "put-secret-value") {
		t.Errorf("the next time there are %d deployments:\n%s", n, again)
	}
}

func TestADeploymentAfterARotationTellsTheFunctionsSo(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	version := func(env ...string) string {
		t.Helper()
		if _, stderr, _, ok := a.deploy(t, append(env, "FINAL=yes"), "--yes"); !ok {
			t.Fatal(stderr)
		}
		known, err := readSettings(filepath.Join(a.folder, "settings.json"))
		if err != nil {
			t.Fatal(err)
		}
		return known["V-Data"]["RingsVersion"]
	}
	first := version()
	if again := version(); len(first) != 12 || again != first {
		t.Errorf("without a rotation %q became %q", first, again)
	}
	if rotated := version("ROTATED=yes"); rotated == first || len(rotated) != 12 {
		t.Errorf("after a rotation it is %q still", rotated)
	}
}

func TestWhatIsAdoptedIsComparedBeforeAnythingIsDeployed(t *testing.T) {
	t.Parallel()
	_, stderr, calls, ok := newAccount(t).deploy(t, []string{"FINAL=yes", "ADOPTED=core-of-yesterday"}, "--yes")
	compared := strings.Index(calls, "go run ./infra/adopted\n")
	if !ok || compared < 0 || compared > strings.Index(calls, "cdk deploy") {
		t.Errorf("%v: %s\n%s", ok, stderr, calls)
	}
	_, stderr, calls, ok = newAccount(t).deploy(t, []string{"ADOPTED=core-of-yesterday", "LACKS=yes"}, "--yes")
	if ok || !strings.Contains(stderr, "Nothing was deployed") || strings.Contains(calls, "cdk deploy") {
		t.Errorf("what lacks something: %v, %s\n%s", ok, stderr, calls)
	}
	_, stderr, calls, ok = newAccount(t).deploy(t, []string{"FINAL=yes"}, "--yes")
	if !ok || strings.Contains(calls, "infra/adopted") {
		t.Errorf("without anything to adopt: %v, %s\n%s", ok, stderr, calls)
	}
}

func TestAnOutageDoesNotReplaceAddresses(t *testing.T) {
	t.Parallel()
	_, stderr, calls, ok := newAccount(t).deploy(t, []string{"OUTAGE=yes"}, "--yes")
	if ok || !strings.Contains(stderr, "CloudFormation does not tell") || strings.Contains(calls, "cdk deploy") {
		t.Errorf("got %v with %q after\n%s", ok, stderr, calls)
	}
}

func TestAFailedDeploymentSetsNoQuota(t *testing.T) {
	t.Parallel()
	_, stderr, calls, ok := newAccount(t).deploy(t, []string{"FAILS=yes"}, "--yes")
	if ok || !strings.Contains(stderr, "The deployment failed") || strings.Contains(calls, "infra/quota") {
		t.Errorf("got %v with %q after\n%s", ok, stderr, calls)
	}
}

func TestTheAccountsRightToWriteGatewayLogsStaysWhoseItIs(t *testing.T) {
	t.Parallel()
	for writer, left := range map[string]bool{
		"None": false,
		"":     false,
		"arn:aws:iam::111122223333:role/V-Content-ApiCloudWatchRole": false,
		"arn:aws:iam::111122223333:role/theirs":                      true,
	} {
		_, _, calls, _ := newAccount(t).deploy(t, []string{"LOG_WRITER=" + writer, "FAILS=yes"}, "--yes")
		if got := strings.Contains(calls, "-c gateway-log-role=existing"); got != left {
			t.Errorf("with the writer %q: left alone %v, want %v", writer, got, left)
		}
	}
}

func TestABudgetThatMayNotPublishIsSaid(t *testing.T) {
	t.Parallel()
	options := []string{"--yes", "-c", "budget-usd=100", "-c", "alarm-topic=arn:aws:sns:eu-west-1:111122223333:alarms"}
	for publisher, said := range map[string]bool{"cloudwatch.amazonaws.com": true, "budgets.amazonaws.com": false} {
		_, stderr, calls, _ := newAccount(t).deploy(t, []string{"PUBLISHER=" + publisher, "FAILS=yes"}, options...)
		if got := strings.Contains(stderr,
			"AWS Budgets may not publish to arn:aws:sns:eu-west-1:111122223333:alarms"); got != said {
			t.Errorf("where %s may publish: said %v, want %v: %s\n%s", publisher, got, said, stderr, calls)
		}
	}
	_, stderr, calls, _ := newAccount(t).deploy(t, []string{"FAILS=yes"}, "--yes")
	if strings.Contains(stderr, "Budgets") || strings.Contains(calls, "aws sns") {
		t.Errorf("without a budget: %s\n%s", stderr, calls)
	}
}
