import { availableParallelism } from 'node:os'
import { defineConfig, type Plugin } from 'vitest/config'
import { drawnFiles } from './testing/runner/drawn-files.ts'
import { slowestFiles } from './testing/runner/slowest-files.ts'
import { SlowestFirst } from './testing/runner/slowest-first.ts'

const conditions = ['source', 'node']

/** Modes differ in what they run, and not in how they compile: without their names they share one cache. */
const oneCache: Plugin = {
  name: 'one-cache',
  configResolved: (config) => void Object.assign(config, { mode: 'test' }),
}

/**
 * `--mode deep` is `npm run test:deep`: the same tests at the sizes that `testing/runner/size.ts` chooses for it. `--mode drawn` is
 * `npm run test:drawn`: every test and every case of the files of which `npm test` draws some.
 */
export default defineConfig(({ mode }) => ({
  plugins: [oneCache],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Where the global setup runs, which is neither a browser nor a server to Vite.
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    include:
      mode === 'drawn'
        ? [...drawnFiles]
        : ['src/**/*.test.ts', 'testing/**/*.test.ts', 'scripts/**/*.test.ts', 'contracts/**/*.test.ts'],
    globalSetup: ['testing/runner/global-setup.ts'],
    setupFiles: [
      ...(process.env['TEST_DRAWS'] === 'none' || mode === 'drawn'
        ? ['testing/runner/judge-statements.ts']
        : []),
      ...(process.env['TEST_PARTITIONED'] === '1' ? ['testing/runner/judge-partitions.ts'] : []),
      ...(process.env['COLLECT_STATEMENTS'] === undefined ? [] : ['testing/runner/statement-files.ts']),
    ],
    env: {
      TEST_SIZE: mode === 'deep' ? 'deep' : 'usual',
      TEST_DRAWS: mode === 'drawn' ? 'all' : (process.env['TEST_DRAWS'] ?? 'some'),
    },
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', slowestFiles()],
    silent: 'passed-only',
    // These end a hanging test and nothing else: a busy machine makes a test slower, not red.
    testTimeout: mode === 'deep' ? 3_600_000 : 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Its dependencies have TypeScript under the condition `source`, which Node does not load from packages.
    server: { deps: { inline: [/@modelcontextprotocol\/client/, /\/eventsource/] } },
    execArgv: ['--conditions=source'],
    // A file loads in milliseconds when its worker has loaded others before. Nothing is mocked, and what a file opens it closes.
    isolate: false,
    // A run that finds most files as they were spends half as much of the processor until its first test.
    experimental: {
      fsModuleCache: true,
      fsModuleCachePath: process.env['COMPILED_MODULES'] ?? 'node_modules/.cache/vitest',
    },
    // Files wait for blocks, leases and processes. Each worker loads everything once more, and more than two for each core take
    // longer in all.
    maxWorkers: Math.min(8, availableParallelism() * 2),
  },
}))
