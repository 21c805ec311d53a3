import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vite';

// mockApi answers /api from generated data, for work on the pages without a server. It lives outside src, so it
// cannot reach the product.
function mockApi(): Plugin {
  return {
    name: 'revarch-mock-api',
    apply: 'serve',
    async configureServer(server) {
      const { handle } = (await import('./dev/mock.mjs')) as typeof import('./dev/mock.mjs');
      server.middlewares.use((req, res, next) => void handle(req, res, next));
    },
  };
}

const mock = process.env.REVARCH_WEB_MOCK === '1';

export default defineConfig({
  plugins: [react(), ...(mock ? [mockApi()] : [])],
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: 'dist',
    manifest: true,
    assetsInlineLimit: 0, // a data: URL would need a wider content security policy
    target: 'es2022',
    sourcemap: false,
  },
  server: {
    port: 5173,
    proxy: mock ? undefined : { '/api': { target: process.env.REVARCH_DEV_API ?? 'http://127.0.0.1:8080' } },
  },
  test: {
    environment: 'jsdom',
    setupFiles: ['src/test/setup.ts'],
    include: ['src/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    css: false,
  },
});
