import { spawn } from 'node:child_process'

/**
 * `npm run check`: format, lint, types, house rules and freshness of generated files. Needs no service and takes seconds.
 * Every step runs, so that one run shows all findings.
 */
const source = [process.execPath, '--conditions=source', '--import', 'tsx']
const steps: Record<string, string[]> = {
  'format and lint': ['npx', '--no-install', 'biome', 'check', '--error-on-warnings', '.'],
  types: ['npx', '--no-install', 'tsc', '--noEmit', '-p', '.'],
  'types of client/web': ['npx', '--no-install', 'tsc', '--noEmit', '-p', 'client/web'],
  'types of console': [
    'npx',
    '--no-install',
    'svelte-check',
    '--workspace',
    'console',
    '--tsconfig',
    './tsconfig.json',
    '--fail-on-warnings',
    '--output',
    'human',
  ],
  tidy: [...source, 'scripts/tidy.ts'],
  'generated documents': [...source, 'scripts/generate.ts', '--check'],
  'OpenAPI document': ['npx', '--no-install', 'redocly', 'lint', 'openapi.json'],
  'generated contracts': [...source, 'scripts/generate-contracts.ts', '--check'],
}

if (process.argv.includes('--help')) {
  process.stdout.write(`npm run check: ${Object.keys(steps).join(', ')}.\n`)
  process.exit(0)
}

/** Without this, the linter of the OpenAPI document asks the registry for its newest version. */
const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const outcomes = await Promise.all(Object.entries(steps).map(([name, command]) => run(name, command)))
process.exit(outcomes.every(Boolean) ? 0 : 1)

function run(name: string, [program, ...args]: string[]): Promise<boolean> {
  const startedMs = performance.now()
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`)
      if (code !== 0) process.stdout.write(`${Buffer.concat(output).toString('utf8').trimEnd()}\n`)
      resolve(code === 0)
    })
  })
}
