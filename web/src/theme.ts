import { createTheme, type CSSVariablesResolver } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  colors: {
    accent: ['#f1f0fb', '#e0def5', '#c4c0ee', '#a9a3e6', '#958ede', '#7b72d2', '#645abf', '#5148ab', '#443c94', '#383179'],
    dark: ['#d6d9e0', '#b6bac4', '#9a9fac', '#6b7080', '#3c404b', '#2f333d', '#262a32', '#1b1e25', '#15181d', '#0f1115'],
  },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.25rem', xl: '1.5rem' },
  defaultRadius: 'sm',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.4' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm' } },
    Drawer: { styles: { title: { fontWeight: 600 } }, defaultProps: { overlayProps: { backgroundOpacity: 0.35 }, transitionProps: { duration: 120 } } },
    Modal: { styles: { title: { fontWeight: 600 } }, defaultProps: { overlayProps: { backgroundOpacity: 0.35 }, transitionProps: { duration: 120 }, centered: true } },
    Tooltip: { defaultProps: { openDelay: 200, multiline: true, maw: 320, events: { hover: true, focus: true, touch: true } } },
  },
});

// Mantine's own secondary and error colours miss AA contrast on white; these reach it in both themes.
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#565c68',
    '--mantine-color-placeholder': '#6a707c',
    '--mantine-color-error': '#b42318',
    '--mantine-color-anchor': '#4a4199',
    '--mantine-color-default-border': '#d3d6dd',
  },
  dark: {
    '--mantine-color-dimmed': '#a4a9b6',
    '--mantine-color-placeholder': '#979cab',
    '--mantine-color-error': '#ff8f86',
    '--mantine-color-anchor': '#a9a3e6',
    '--mantine-color-default-border': '#3c404b',
  },
});
