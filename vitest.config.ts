import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const conditions = ['source', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Where the global setup runs, which is neither a browser nor a server to Vite.
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    include: ['src/**/*.test.ts', 'testing/**/*.test.ts', 'scripts/**/*.test.ts', 'contracts/**/*.test.ts'],
    globalSetup: ['testing/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Machines of a gate are shared: what fails there is tried once more, and both outcomes are shown.
    retry: process.env['CI'] ? 1 : 0,
    pool: 'forks',
    execArgv: ['--conditions=source'],
    // A worker runs local nodes and shares one PostgreSQL with the others: more workers than cores only wait.
    maxWorkers: Math.max(1, Math.min(4, availableParallelism() - 1)),
  },
})
