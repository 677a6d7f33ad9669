// Package leftout says by their names which files of a folder are not published, and which of the others opens first.
package leftout

import (
	"path"
	"slices"
	"strings"
)

const (
	// Git contains remotes with their passwords, and the whole history.
	Git = ".git"
	// Ignore lists files that are not published either.
	Ignore = ".artifactignore"
)

// Noise are names of files and folders that are never published, at any depth, in lower case.
var Noise = []string{
	Git, ".svn", ".hg", ".idea", ".vscode", "node_modules", "__pycache__", ".venv", ".ds_store", "thumbs.db", Ignore,
}

// SecretFolders are folders for credentials, in lower case: the last parts of their paths.
var SecretFolders = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".oci", ".password-store", ".zsh_sessions", ".config/gcloud",
	".config/vitrine",
}

// SecretFiles are patterns of files that usually contain credentials, in lower case: the last parts of their paths, in
// which * is any text. A name that is harmless elsewhere is listed with its folder.
var SecretFiles = []string{
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
}

// Backups are the ends that editors give to the names of copies, so that a copy is judged as its original is. Vim's
// begin with a dot, too.
var Backups = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".copy", ".swp", ".swo", ".swn"}

// Entrypoints are the names of files that open first, by preference.
var Entrypoints = []string{"index.html", "index.md", "README.md", "index.htm"}

var secretFolders, secretFiles = split(SecretFolders), split(SecretFiles)

func split(paths []string) (patterns [][]string) {
	for _, p := range paths {
		patterns = append(patterns, strings.Split(p, "/"))
	}
	return patterns
}

// IsNoise reports whether a name is one of Noise.
func IsNoise(name string) bool { return slices.Contains(Noise, strings.ToLower(name)) }

// SecretFolder returns the folder for credentials that is on a path, "" without one. The parts of the path are in lower
// case.
func SecretFolder(parts []string) string {
	for end := range parts {
		for _, pattern := range secretFolders {
			if endsIn(parts[:end+1], pattern) {
				return path.Join(pattern...)
			}
		}
	}
	return ""
}

// IsSecretFile reports whether a path looks like a file of credentials, or an editor's copy of one. Its parts are in
// lower case.
func IsSecretFile(parts []string) bool {
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
	for _, end := range Backups {
		if inner, ok := strings.CutSuffix(name, end); ok {
			names = append(names, inner, strings.TrimPrefix(inner, "."))
		}
	}
	return names
}
