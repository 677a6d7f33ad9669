package folder

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// gitFolder contains remotes with their passwords, and the whole history.
const gitFolder = ".git"

// noise are names that are never published, at any depth.
var noise = []string{
	gitFolder, ".svn", ".hg", ".idea", ".vscode", "node_modules", "__pycache__", ".venv", ".ds_store", "thumbs.db",
	ownIgnore,
}

func isNoise(name string) bool { return slices.Contains(noise, strings.ToLower(name)) }

// secretFolders are folders for credentials, in lower case: the last parts of their paths.
var secretFolders = split(
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".oci", ".password-store", ".zsh_sessions", ".config/gcloud",
	".config/vitrine",
)

// secretFiles are patterns of files that usually contain credentials, in lower case: the last parts of their paths. A
// name that is harmless elsewhere is listed with its folder.
var secretFiles = split(
	// environments
	".env", ".env.*", "*.env", ".envrc", ".envrc.*", "local.settings.json",
	// private keys and stores of keys
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.bcfks", "*.kdbx", "*.kdb", "*.ppk",
	"*.keyring", "*.keychain", "*.keychain-db", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
	"ssh_host_*_key", "*private*.asc", "*secret*.asc", "*-sec.asc", "secring.*", "key3.db", "key4.db",
	// credentials by name
	"credentials.json", "credentials.yml", "credentials.yaml", "credentials.toml", "credentials.ini",
	"credentials.xml", "credentials.csv", "credentials.db", "credentials.cfg", "credentials.conf",
	"credentials.properties", "credentials.tfrc.json", ".credentials", ".credentials.json",
	"*_credentials.csv", "*_accesskeys.csv", "rootkey.csv", "secrets.yml", "secrets.yaml", "secrets.json",
	"secrets.toml",
	// clouds and their tools
	"service-account*.json", "service_account*.json", "serviceaccount*.json", "gha-creds-*.json",
	"client_secret*.json", "*firebase-adminsdk*.json", "application_default_credentials.json",
	"access_tokens.db", "accesstokens.json", ".boto", ".s3cfg", ".passwd-s3fs", ".rclone.conf", "rclone.conf",
	".mc/config.json", ".config/doctl/config.yaml", ".fly/config.yml", ".databrickscfg", ".snowsql/config",
	"*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", ".terraformrc", "terraform.rc", ".vault-token",
	"*.kubeconfig", "kubeconfig", ".docker/config.json", ".dockercfg", ".dockerconfigjson",
	".config/containers/auth.json",
	// code hosts and package registries
	".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", "github cli/hosts.yml",
	".config/glab-cli/config.yml", ".config/hub", ".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials",
	".cargo/credentials.*", ".gem/credentials", ".bundle/config", ".composer/auth.json",
	".config/composer/auth.json", ".m2/settings.xml", "settings-security.xml", ".gradle/gradle.properties",
	".nuget/nuget.config", ".codex/auth.json",
	// passwords of databases and services
	".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".htpasswd", "*.htpasswd",
	".htdigest", ".smbcredentials", ".msmtprc", ".fetchmailrc", "wp-config.php",
	// histories of shells and the like
	".*_history", ".*-history", ".histfile", ".history", ".rhistory", ".dbshell", "fish_history",
	"consolehost_history.txt",
)

func split(paths ...string) (patterns [][]string) {
	for _, p := range paths {
		patterns = append(patterns, strings.Split(p, "/"))
	}
	return patterns
}

// parts splits a path of the system into its parts, in lower case, because some file systems ignore case.
func parts(p string) []string { return strings.Split(strings.ToLower(filepath.ToSlash(p)), "/") }

// secretFolder returns the path up to its folder for credentials, "" without one.
func secretFolder(parts []string) string {
	for end := range parts {
		for _, pattern := range secretFolders {
			if endsIn(parts[:end+1], pattern) {
				return path.Join(pattern...)
			}
		}
	}
	return ""
}

// isSecretFile reports whether a path looks like a file of credentials, or an editor's copy of one.
func isSecretFile(parts []string) bool {
	last := len(parts) - 1
	for _, name := range originals(parts[last]) {
		named := append(slices.Clone(parts[:last]), name)
		if slices.ContainsFunc(secretFiles, func(pattern []string) bool { return endsIn(named, pattern) }) {
			return true
		}
	}
	return false
}

// endsIn reports whether the last parts of a path match the parts of a pattern.
func endsIn(parts, pattern []string) bool {
	if len(parts) < len(pattern) {
		return false
	}
	for i, part := range parts[len(parts)-len(pattern):] {
		if ok, err := path.Match(pattern[i], part); !ok || err != nil {
			return false
		}
	}
	return true
}

// originals returns a name and the names of the files that it may be a backup copy of.
func originals(name string) []string {
	names := []string{name}
	if inner, ok := strings.CutPrefix(name, "#"); ok && strings.HasSuffix(inner, "#") && len(inner) > 1 { // Emacs
		names = append(names, strings.TrimSuffix(inner, "#"))
	}
	if inner, ok := strings.CutPrefix(name, ".#"); ok {
		names = append(names, inner)
	}
	for _, end := range []string{".swp", ".swo", ".swn"} { // Vim adds a dot to names without one
		if inner, ok := strings.CutSuffix(name, end); ok {
			names = append(names, inner, strings.TrimPrefix(inner, "."))
		}
	}
	for _, end := range []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".copy"} {
		if inner, ok := strings.CutSuffix(name, end); ok {
			names = append(names, inner)
		}
	}
	return names
}
