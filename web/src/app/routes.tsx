import { lazy, Suspense, type ComponentType } from 'react';
import { createBrowserRouter, Navigate, type RouteObject } from 'react-router';
import { Loading } from '../components/basics';
import { RouteFailure } from './RouteFailure';

type PageModule = { default: ComponentType };

function page(load: () => Promise<PageModule>) {
  const Component = lazy(load);
  return <Suspense fallback={<Loading />}><Component /></Suspense>;
}

export const routes: RouteObject[] = [
  { path: '/sign-in', element: page(() => import('../pages/SignIn')), errorElement: <RouteFailure /> },
  { path: '/invite/:token', element: page(() => import('../pages/Invite')), errorElement: <RouteFailure /> },
  {
    path: '/',
    element: page(() => import('./Frame')),
    errorElement: <RouteFailure />,
    children: [
      {
        errorElement: <RouteFailure />,
        children: [
          { index: true, element: <Navigate replace to="/dashboard" /> },
          { path: 'dashboard', element: page(() => import('../pages/Dashboard')) },
          { path: 'accounts', element: page(() => import('../pages/Accounts')) },
          { path: 'accounts/:id', element: page(() => import('../pages/AccountPage')) },
          { path: 'tasks', element: page(() => import('../pages/Tasks')) },
          { path: 'expansion', element: <Navigate replace to="/expansion/board" /> },
          { path: 'expansion/board', element: page(() => import('../pages/expansion/Board')) },
          { path: 'expansion/affinity', element: page(() => import('../pages/expansion/Affinity')) },
          { path: 'expansion/whitespace', element: page(() => import('../pages/expansion/Whitespace')) },
          { path: 'runs', element: page(() => import('../pages/Runs')) },
          { path: 'runs/:id', element: page(() => import('../pages/RunPage')) },
          { path: 'settings', element: <Navigate replace to="/settings/connectors" /> },
          { path: 'settings/connectors', element: page(() => import('../pages/Connectors')) },
          { path: 'settings/connectors/:provider', element: page(() => import('../pages/ConnectorPage')) },
          { path: 'settings/imports', element: page(() => import('../pages/expansion/Imports')) },
          { path: 'settings/integrations', element: page(() => import('../pages/Integrations')) },
          { path: 'settings/scoring', element: page(() => import('../pages/Scoring')) },
          { path: 'settings/datasets', element: page(() => import('../pages/Datasets')) },
          { path: 'settings/members', element: page(() => import('../pages/Members')) },
          { path: 'settings/organization', element: page(() => import('../pages/OrganizationPage')) },
          { path: 'settings/governance-log', element: page(() => import('../pages/GovernanceLog')) },
          { path: '*', element: page(() => import('../pages/NotFound')) },
        ],
      },
    ],
  },
];

export const createRouter = () => createBrowserRouter(routes);
