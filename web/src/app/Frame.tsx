import { ActionIcon, AppShell, Burger, Tooltip, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDisclosure, useHotkeys, useLocalStorage } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Link, NavLink, Outlet, useLocation } from 'react-router';
import { api } from '../api/client';
import { Loading } from '../components/basics';
import { Dropdown } from '../components/Dropdown';
import { Icon } from '../components/icons';
import { Mark } from '../components/Mark';
import { useToasts } from '../components/toasts';
import { navigationOf, type NavItem } from './nav';
import { RunningJobs } from './RunningJobs';
import { RequireSession, useMe } from './session';

const Finder = lazy(() => import('./Finder'));

export default function Frame() {
  return <RequireSession><Shell /></RequireSession>;
}

function Shell() {
  const [phoneNav, phone] = useDisclosure(false);
  const [finder, find] = useDisclosure(false);
  const [narrow, setNarrow] = useLocalStorage({ key: 'revarch-nav-narrow', defaultValue: false });
  const location = useLocation();
  const items = navigationOf(useMe().role);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useHotkeys([['mod+K', find.open]], []);

  const closePhone = phone.close;
  useEffect(() => {
    closePhone();
    if (first.current) {
      first.current = false;
      return;
    }
    main.current?.focus({ preventScroll: true }); // a new page starts at its beginning for the keyboard too
    window.scrollTo(0, 0);
  }, [location.pathname, closePhone]);

  return (
    <AppShell header={{ height: 48 }} navbar={{ width: narrow ? 52 : 212, breakpoint: 'sm', collapsed: { mobile: !phoneNav } }} padding="md" transitionDuration={0}>
      <a className="skip" href="#main">Skip to content</a>
      <AppShell.Header>
        <div className="top">
          <Burger opened={phoneNav} onClick={phone.toggle} hiddenFrom="sm" size="sm" aria-label={phoneNav ? 'Close navigation' : 'Open navigation'} />
          <Link to="/dashboard" className="brand" aria-label="RevArch, Command Center"><Mark /><span className="hide-phone">RevArch</span></Link>
          <span style={{ flex: 1 }} />
          <button type="button" className="search" onClick={find.open} aria-label="Search" aria-keyshortcuts="Control+K">
            <Icon name="search" /><span>Search</span>
          </button>
          <RunningJobs />
          <SchemeSwitch />
          <Person />
        </div>
      </AppShell.Header>
      <AppShell.Navbar component="nav" aria-label="Main">
        <div className="nav">
          {items.filter((n) => !n.section).map((n) => <NavEntry key={n.to} item={n} narrow={narrow} />)}
          {narrow ? <hr style={{ width: '100%', border: 0, borderTop: '1px solid var(--line)' }} /> : <h2>Settings</h2>}
          {items.filter((n) => n.section).map((n) => <NavEntry key={n.to} item={n} narrow={narrow} />)}
          <span style={{ flex: 1 }} />
          <button type="button" className="item hide-phone" onClick={() => setNarrow(!narrow)} aria-label={narrow ? 'Expand navigation' : 'Collapse navigation'}>
            <Icon name="collapse" />{!narrow && 'Collapse'}
          </button>
        </div>
      </AppShell.Navbar>
      <AppShell.Main ref={main} id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Suspense fallback={<Loading />}><Outlet /></Suspense>
      </AppShell.Main>
      {finder && <Suspense fallback={null}><Finder close={find.close} /></Suspense>}
    </AppShell>
  );
}

function NavEntry({ item, narrow }: { item: NavItem; narrow: boolean }) {
  const link = (
    <NavLink to={item.to} aria-label={item.label}>
      <Icon name={item.icon} />{!narrow && <span>{item.label}</span>}
    </NavLink>
  );
  return narrow ? <Tooltip label={item.label} position="right">{link}</Tooltip> : link;
}


function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const label = dark ? 'Use light theme' : 'Use dark theme';
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
        <Icon name={dark ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  );
}

function Person() {
  const me = useMe();
  const toasts = useToasts();
  const signOut = useMutation({
    mutationFn: () => api.post('/api/auth/logout'),
    onSuccess: () => {
      // A fresh page: nothing of the session stays in memory, and the next person does not land where this one was.
      window.location.assign('/sign-in');
    },
    onError: (error) => toasts.bad('You are still signed in', error),
  });
  const change = useMutation({
    mutationFn: (organization_id: string) => api.post('/api/auth/switch', { organization_id }),
    onSuccess: () => {
      // Nothing of one organization may linger on the screens of another, so everything is read again.
      window.location.assign('/dashboard');
    },
    onError: (error) => toasts.bad('The organization was not switched', error),
  });
  const others = me.organizations.filter((o) => o.id !== me.organization.id);
  return (
    <Dropdown
      label="Account"
      target={(toggle) => (
        <UnstyledButton onClick={toggle} aria-label={`${me.organization.name}, ${me.user.name}: account menu`} className="row" style={{ flexWrap: 'nowrap', padding: 6, minHeight: 34 }}>
          <Icon name="user" /><span className="hide-phone nowrap" style={{ fontSize: '0.8125rem' }}>{me.organization.name}</span><Icon name="down" size={12} />
        </UnstyledButton>
      )}
    >
      {() => (
        <>
          <div className="who"><strong>{me.user.name}</strong><span className="dim">{me.user.email}</span></div>
          {others.map((o) => <button key={o.id} type="button" className="option" onClick={() => change.mutate(o.id)}>Switch to {o.name}</button>)}
          <button type="button" className="option" onClick={() => signOut.mutate()}>Sign out</button>
        </>
      )}
    </Dropdown>
  );
}
