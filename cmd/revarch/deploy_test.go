package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"revarch/config"
)

const repository = "../.."

// compose is what the tests read of docker-compose.yml.
type compose struct {
	Services map[string]struct {
		Image       string
		Build       *struct{ Context, Target string }
		Command     []string
		Entrypoint  []string
		Environment map[string]string
		EnvFile     []string `yaml:"env_file"`
		Volumes     []string
		Secrets     []string
		Networks    []string
		Restart     string
		NetworkMode string `yaml:"network_mode"`
		Healthcheck *struct {
			Test    []string
			Disable bool
		}
		DependsOn map[string]struct{ Condition string } `yaml:"depends_on"`
	}
	Networks map[string]any
	Volumes  map[string]any
	Secrets  map[string]struct{ File string }
}

func readCompose(t *testing.T) compose {
	t.Helper()
	var c compose
	require.NoError(t, yaml.Unmarshal([]byte(readRepository(t, "docker-compose.yml")), &c))
	return c
}

func readRepository(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(repository, name))
	require.NoError(t, err)
	return string(body)
}

// knownVariables are the names that config reads: those that a configuration with everything set renders.
func knownVariables(t *testing.T) []string {
	t.Helper()
	fill := func(v reflect.Value) {
		for _, field := range v.Fields() {
			switch f := field; f.Kind() {
			case reflect.String:
				f.SetString("x")
			case reflect.Float64:
				f.SetFloat(1)
			case reflect.Slice:
				f.Set(reflect.ValueOf([]string{"x"}))
			}
		}
	}
	var c config.Config
	var p config.Provider
	fill(reflect.ValueOf(&c).Elem())
	fill(reflect.ValueOf(&p).Elem())
	c.Providers = map[string]config.Provider{}
	for _, code := range config.ProviderCodes {
		c.Providers[code] = p
	}
	var names []string
	for _, kv := range c.Env() {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	require.Contains(t, names, "REVARCH_CRM_A_TOKEN_URL")
	return names
}

func TestComposeFile(t *testing.T) {
	t.Parallel()
	c := readCompose(t)

	t.Run("the services of production are there", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"postgres", "temporal-schema", "temporal", "temporal-ui", "migrate", "serve", "worker"} {
			require.Contains(t, c.Services, name)
		}
	})

	t.Run("every image is pinned by a version", func(t *testing.T) {
		t.Parallel()
		pinned := regexp.MustCompile(`^[a-z/-]+:(\d+\.\d+[\w.-]*|\$\{REVARCH_VERSION:-local\})$`)
		for name, s := range c.Services {
			require.Regexp(t, pinned, s.Image, name)
		}
	})

	t.Run("whatever is waited for exists and can end the wait", func(t *testing.T) {
		t.Parallel()
		for name, s := range c.Services {
			for dep, how := range s.DependsOn {
				on, ok := c.Services[dep]
				require.True(t, ok, "%s waits for %s", name, dep)
				switch how.Condition {
				case "service_healthy":
					require.True(t, on.Healthcheck != nil && !on.Healthcheck.Disable && len(on.Healthcheck.Test) > 0, "%s has no health check", dep)
				case "service_completed_successfully":
					require.Regexp(t, `^on-failure`, on.Restart, "%s never ends", dep)
				default:
					require.Fail(t, "unknown condition", "%s of %s", how.Condition, name)
				}
			}
		}
	})

	t.Run("volumes, secrets, networks and files exist", func(t *testing.T) {
		t.Parallel()
		for name, s := range c.Services {
			for _, v := range s.Volumes {
				source, target, ok := strings.Cut(strings.ReplaceAll(v, ":-", "-"), ":")
				require.True(t, ok && strings.HasPrefix(target, "/"), "%s of %s", v, name)
				if file, ok := strings.CutPrefix(source, "./"); ok {
					require.FileExists(t, filepath.Join(repository, file))
				} else if !strings.HasPrefix(source, "$") {
					require.Contains(t, c.Volumes, source)
				}
			}
			for _, secret := range s.Secrets {
				require.Contains(t, c.Secrets, secret)
			}
			for _, network := range s.Networks {
				require.Contains(t, c.Networks, network)
			}
			require.True(t, len(s.Networks) > 0 || s.NetworkMode == "none", name)
			for _, file := range s.EnvFile {
				require.FileExists(t, filepath.Join(repository, file+".example"))
			}
		}
	})

	t.Run("every variable is one that config reads", func(t *testing.T) {
		t.Parallel()
		known := knownVariables(t)
		for name, s := range c.Services {
			for variable := range s.Environment {
				if strings.HasPrefix(variable, "REVARCH_") {
					require.Contains(t, known, variable, name)
				}
			}
		}
		set := regexp.MustCompile(`(?m)^#?(REVARCH_\w+)=`).FindAllStringSubmatch(readRepository(t, "deploy/revarch.env.example"), -1)
		require.NotEmpty(t, set)
		for _, m := range set {
			require.Contains(t, known, m[1])
		}
	})

	t.Run("every command of ours is one that the binary has", func(t *testing.T) {
		t.Parallel()
		checked := 0
		for name, s := range c.Services {
			if s.Build == nil {
				continue
			}
			args := s.Command
			if len(s.Entrypoint) > 1 {
				args = append(slices.Clone(s.Entrypoint[1:]), args...)
			}
			cmd, rest, err := root().Find(args)
			require.NoError(t, err, name)
			require.NotEqual(t, root().Name(), cmd.Name(), name)
			require.Empty(t, slices.DeleteFunc(rest, func(a string) bool { return a == "--help" }), name)
			require.Contains(t, readRepository(t, "Dockerfile"), " AS "+s.Build.Target+"\n", name)
			checked++
		}
		require.GreaterOrEqual(t, checked, 4)
	})

	t.Run("what serve and worker need is set somewhere", func(t *testing.T) {
		t.Parallel()
		example := readRepository(t, "deploy/revarch.env.example")
		for name, needs := range map[string][]string{
			"serve":   {"REVARCH_DATABASE_URL", "REVARCH_TEMPORAL_ADDRESS", "REVARCH_KEYSET", "REVARCH_LISTEN", "REVARCH_PUBLIC_URL"},
			"worker":  {"REVARCH_DATABASE_WORKER_URL", "REVARCH_TEMPORAL_ADDRESS", "REVARCH_KEYSET"},
			"migrate": {"REVARCH_DATABASE_OWNER_URL"},
			"backup":  {"REVARCH_DATABASE_OWNER_URL", "REVARCH_KEYSET"},
		} {
			for _, variable := range needs {
				_, here := c.Services[name].Environment[variable]
				require.True(t, here || strings.Contains(example, "\n"+variable+"="), "%s needs %s", name, variable)
			}
		}
	})
}

func TestImageGetsEveryPackage(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}", "./cmd/revarch")
	cmd.Dir = repository
	out, err := cmd.Output()
	require.NoError(t, err)
	folders := map[string]bool{}
	for path := range strings.FieldsSeq(string(out)) {
		if rest, ok := strings.CutPrefix(path, "revarch/"); ok {
			top, _, _ := strings.Cut(rest, "/")
			folders[top] = true
		}
	}
	require.Greater(t, len(folders), 10)
	allowed := strings.Fields(readRepository(t, ".dockerignore"))
	for folder := range maps.Keys(folders) {
		require.Contains(t, allowed, "!"+folder)
	}
}
