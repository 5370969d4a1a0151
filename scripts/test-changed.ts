import { execFileSync, spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const help = `Runs the tests that a change can affect: those that import a changed file, directly or not, and, when the program
or the test kit changed, those that start the program as a process.

npm run test:changed -- [options]

  --base REVISION   compare with this revision instead of the last commit, such as main
  --list            name the changed files without running anything
  --help            this text
`

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: 'HEAD' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}

const changed = [
  ...filesOf(['diff', '--name-only', '--diff-filter=d', '--relative', values.base]),
  ...filesOf(['ls-files', '--others', '--exclude-standard']),
]
process.stdout.write(`${changed.length} changed files\n${changed.map((file) => `  ${file}\n`).join('')}`)
if (changed.length === 0 || values.list) process.exit(0)

/** Files that every test depends on without importing them. */
const everywhere = changed.some((file) =>
  /^(migrations\/|vitest\.config\.ts$|package(-lock)?\.json$)/.test(file),
)
const processes = changed.some((file) => /^(src|testing)\//.test(file))
  ? ['testing/processes/programs.ts']
  : []
const args = everywhere ? ['run'] : ['related', '--run', ...changed, ...processes]
const env = { ...process.env, TEST_DRAWS: 'all' }
const { status } = spawnSync('npx', ['--no-install', 'vitest', ...args], { stdio: 'inherit', env })
process.exit(status ?? 1)

function filesOf(args: readonly string[]): string[] {
  try {
    const listed = execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    return listed.split('\n').filter(Boolean)
  } catch (error) {
    process.stderr.write(`git cannot compare with ${values.base}: ${String((error as Error).message)}\n`)
    process.exit(2)
  }
}
