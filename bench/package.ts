import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measureBusyCores } from './machine.ts'
import { root } from './processes.ts'
import type { Bench, Run } from './run.ts'

/** Megabytes of the package with its production dependencies, without optional binaries. */
const promisedMb = 120
/** Dependencies that the report names. */
const heaviest = 15

type Locked = { dev?: boolean; devOptional?: boolean; optional?: boolean }

export const packageBench: Bench = {
  name: 'package',
  about: 'bytes of the packed package and of its production dependencies',
  measure: async (run) => {
    const busy = measureBusyCores()
    const own = await unpackedBytes(run)
    const dependencies = productionDependencies()
    for (const { path, bytes } of dependencies.slice(0, heaviest))
      run.report(`${inMb(bytes).toFixed(1).padStart(5)} MB ${path}`)
    const others = dependencies.reduce((sum, { bytes }) => sum + bytes, 0)
    const mb = (bytes: number) => ({ value: inMb(bytes), unit: 'MB' as const })
    const coresBusy = busy()
    return [
      {
        name: `installed package with ${dependencies.length} production dependencies`,
        measured: mb(own + others),
        promise: { max: promisedMb },
        coresBusy,
      },
      { name: 'the package alone, unpacked', measured: mb(own), coresBusy },
    ]
  },
}

const inMb = (bytes: number) => bytes / 1e6

/** The size of the files that `npm pack` packs; the smallest size packs what is there, without building it. */
async function unpackedBytes(run: Run): Promise<number> {
  const args = run.amount(1, 1, 0) === 1 ? [] : ['--ignore-scripts']
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', ...args], { cwd: root })
  // Scripts that build may write before it.
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as { unpackedSize: number }[]
  return packed!.unpackedSize
}

/** What the lock file has installed for the package, the heaviest first. */
function productionDependencies(): { path: string; bytes: number }[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, optional }]) => path && !dev && !devOptional && !optional)
    .map(([path]) => join(root, path))
    .filter((path) => existsSync(path))
    .map((path) => ({ path: path.slice(root.length), bytes: bytesOf(path) }))
    .sort((a, b) => b.bytes - a.bytes)
}

/** Bytes of all files of a package, without those of the packages in it. */
function bytesOf(directory: string): number {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? bytesOf(path) : lstatSync(path).size
    })
    .reduce((sum, each) => sum + each, 0)
}
