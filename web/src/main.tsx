import '@mantine/core/styles.css';
import './app.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { Providers } from './app/providers';
import { createRouter } from './app/routes';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
const router = createRouter();
createRoot(root).render(
  <StrictMode>
    <Providers><RouterProvider router={router} /></Providers>
  </StrictMode>,
);
