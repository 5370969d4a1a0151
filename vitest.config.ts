import { defineConfig } from 'vitest/config'

const conditions = ['source', 'node', 'import', 'module', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['src/**/*.test.ts', 'testing/**/*.test.ts', 'scripts/**/*.test.ts', 'contracts/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    execArgv: ['--conditions=source'],
  },
})
