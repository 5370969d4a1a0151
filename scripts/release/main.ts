import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { packRelease } from './pack.ts'
import { prepareRelease } from './prepare.ts'

const help = `Makes a release, in two steps; neither publishes anything.

npm run release -- prepare VERSION   writes the version, the heading of its changes, the sums of its migrations and generated files
npm run release -- pack              packs the tagged version into release/: the package, its bill of materials, licences and sums
`

const root = fileURLToPath(new URL('../..', import.meta.url))
const say = (text: string) => process.stdout.write(`${text}\n`)
const [action, version, ...rest] = process.argv.slice(2)

function run(): number {
  if (action === 'prepare' && version !== undefined && rest.length === 0) {
    const date = new Date().toISOString().slice(0, 10)
    for (const path of prepareRelease({ root, version, date })) say(`  wrote ${path}`)
    say('  npm run generate')
    execFileSync('npm', ['run', '-s', 'generate'], { cwd: root, stdio: 'inherit' })
    say(
      `Read the changes, then: git commit -am "release: prepare ${version}" && git tag -s v${version} && npm run release -- pack`,
    )
    return 0
  }
  if (action === 'pack' && version === undefined) {
    for (const path of packRelease(root, (text) => say(`  ${text}`))) say(`  ${path}`)
    say(
      'Publish from a job of CI whose identity the registry trusts: npm publish release/bezant-*.tgz --provenance --access public',
    )
    return 0
  }
  const isAsked = action === '--help' || process.argv.includes('--help')
  if (!isAsked)
    say(
      action === undefined
        ? 'release needs an action'
        : `release knows no "${process.argv.slice(2).join(' ')}"`,
    )
  say(help)
  return isAsked ? 0 : 2
}

try {
  process.exitCode = run()
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`)
  process.exitCode = 1
}
