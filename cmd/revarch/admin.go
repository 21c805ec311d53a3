package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"revarch/auth"
	"revarch/config"
	"revarch/models"
	"revarch/services/identity"
)

func adminCommand() *cobra.Command {
	c := &cobra.Command{Use: "admin", Short: "Create organizations, members and keys; verify logs; rotate keys"}
	c.AddCommand(createOrgCommand(), createUserCommand(), createKeyCommand(), verifyLogCommand(), rotateKeysCommand())
	return c
}

// withApp runs an operator's command with the services, as the API's role.
func withApp(cmd *cobra.Command, fn func(context.Context, *app) error) error {
	cfg, err := config.Load(config.Need{Database: true, Keyset: true})
	if err != nil {
		return err
	}
	logTo("warn")
	a, err := newApp(cmd.Context(), cfg, cfg.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer a.close()
	return fn(cmd.Context(), a)
}

func createOrgCommand() *cobra.Command {
	var name, email, userName, password string
	var system bool
	c := &cobra.Command{Use: "create-org", Short: "Create an organization with its first admin", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd, func(ctx context.Context, a *app) error {
			role := auth.Admin
			if system {
				role = auth.Operator
			}
			o, _, err := a.identity.CreateOrg(ctx, name, system, email, userName, password, role)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), o.ID)
			}
			return err
		})
	}}
	f := c.Flags()
	f.StringVar(&name, "name", "", "organization's name")
	f.StringVar(&email, "email", "", "first admin's e-mail")
	f.StringVar(&userName, "user-name", "", "first admin's name")
	f.StringVar(&password, "password", "", "first admin's password, unless the e-mail is known")
	f.BoolVar(&system, "system", false, "the platform's own organization, whose members are operators")
	_ = c.MarkFlagRequired("name")
	_ = c.MarkFlagRequired("email")
	return c
}

func createUserCommand() *cobra.Command {
	var org, email, role string
	c := &cobra.Command{Use: "invite", Short: "Make an invitation link for a member", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd, func(ctx context.Context, a *app) error {
			id, err := uuid.Parse(org)
			if err != nil {
				return fmt.Errorf("--org must be an organization id: %w", err)
			}
			_, token, err := a.identity.Invite(ctx, auth.Engine(id), email, auth.Role(role))
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), baseURL(a.cfg)+"/invite/"+token)
			}
			return err
		})
	}}
	f := c.Flags()
	f.StringVar(&org, "org", "", "organization id")
	f.StringVar(&email, "email", "", "e-mail of the invited person")
	f.StringVar(&role, "role", "viewer", "viewer, rep, manager or admin")
	_ = c.MarkFlagRequired("org")
	_ = c.MarkFlagRequired("email")
	return c
}

func createKeyCommand() *cobra.Command {
	var org, name string
	var scopes []string
	c := &cobra.Command{Use: "create-key", Short: "Create an API key and print it once", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd, func(ctx context.Context, a *app) error {
			id, err := uuid.Parse(org)
			if err != nil {
				return fmt.Errorf("--org must be an organization id: %w", err)
			}
			in := identity.NewKeyInput{Name: name}
			for _, s := range scopes {
				in.Scopes = append(in.Scopes, auth.Scope(s))
			}
			_, secret, err := a.identity.CreateKey(ctx, auth.Engine(id), in)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), secret)
			}
			return err
		})
	}}
	f := c.Flags()
	f.StringVar(&org, "org", "", "organization id")
	f.StringVar(&name, "name", "", "what the key is for")
	f.StringSliceVar(&scopes, "scopes", []string{"read"}, "read, write_safe, write_destructive, admin")
	_ = c.MarkFlagRequired("org")
	_ = c.MarkFlagRequired("name")
	return c
}

func verifyLogCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify-log", Short: "Check the governance log's hash chain of every organization", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, a *app) error {
				bad := 0
				_, _, err := a.orgNamed(ctx, func(o models.Org) bool {
					v, err := a.log.Verify(ctx, o.ID)
					switch {
					case err != nil:
						fmt.Fprintf(cmd.OutOrStdout(), "%s  not checked: %v\n", o.ID, err)
						bad++
					case !v.OK:
						fmt.Fprintf(cmd.OutOrStdout(), "%s  BROKEN at entry %d\n", o.ID, v.BadSeq)
						bad++
					default:
						fmt.Fprintf(cmd.OutOrStdout(), "%s  ok, %d entries\n", o.ID, v.Entries)
					}
					return false
				})
				if err == nil && bad > 0 {
					err = fmt.Errorf("%d log(s) do not check", bad)
				}
				return err
			})
		},
	}
}

func rotateKeysCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rotate-keys", Short: "Make a new encryption key and seal every stored grant with it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, a *app) error {
				if err := a.vault.Rotate(); err != nil {
					return err
				}
				n, err := a.connections.Reseal(ctx)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "sealed %d grant(s) anew\n", n)
				return a.vault.DropOldKeys()
			})
		},
	}
}
